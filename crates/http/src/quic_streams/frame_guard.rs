//! Ends a stream with a too long head or other frame kept whole in memory. The HTTP/3 library
//! judges a frame only after reading the whole frame, for any declared length. Also detects a
//! stream ended within a frame (RFC 9114 section 7.1). The library takes such a stream for a whole
//! message when the end comes later than the last bytes. The total of frames without body data has
//! a limit, too.
//!
//! Pure. Not for: the meaning of frames; bodies may be of any length, because each piece is passed
//! on.

use crate::control_stream::Varint;

/// Frame type (RFC 9114 section 7.2.1).
const DATA: u64 = 0x00;
/// Permitted excess of a frame over the largest head. QPACK does not make a head longer than the
/// size of the fields, a size with 32 extra bytes for each field (RFC 9114 section 4.2.2).
const SLACK_BYTES: u64 = 1_024;

/// Maximum number of bytes without body data on a stream, beside the largest head: interim heads,
/// trailers, empty DATA, and frames of unknown types. Without a limit a peer could send these for
/// ever.
const OTHER_FRAMES_MAX_BYTES: u64 = 1 << 20;

/// A guard following the frames of a request stream.
#[derive(Debug, Clone)]
pub(super) struct FrameGuard {
    /// Maximum length of every frame but DATA.
    most_bytes: u64,
    /// Number of bytes still permitted in frames without body data.
    left_bytes: u64,
    state: State,
}

#[derive(Debug, Clone)]
enum State {
    Type(Varint),
    Length(u64, Varint),
    /// Inside a frame, with this number of bytes left.
    Inside(u64),
}

impl Default for FrameGuard {
    /// Makes a guard permitting frames of any length.
    fn default() -> Self {
        Self {
            most_bytes: u64::MAX,
            left_bytes: u64::MAX,
            state: State::Type(Varint::default()),
        }
    }
}

impl FrameGuard {
    /// Makes a guard for heads of at most `most_bytes`.
    pub fn with_head_limit(most_bytes: u32) -> Self {
        Self {
            most_bytes: u64::from(most_bytes) + SLACK_BYTES,
            left_bytes: u64::from(most_bytes) + OTHER_FRAMES_MAX_BYTES,
            ..Self::default()
        }
    }

    /// Follows the next bytes; returns true when the stream may go on.
    pub fn allows(&mut self, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            self.state = match &mut self.state {
                State::Type(varint) => match varint.take(&mut bytes) {
                    None => return true,
                    Some(frame_type) => State::Length(frame_type, Varint::default()),
                },
                State::Length(frame_type, varint) => match varint.take(&mut bytes) {
                    None => return true,
                    Some(length) if *frame_type == DATA && length > 0 => {
                        State::from_remaining(length)
                    }
                    Some(length) if length > self.most_bytes => return false,
                    // A frame of no bytes takes two.
                    Some(length) => match self.left_bytes.checked_sub(length + 2) {
                        None => return false,
                        Some(left_bytes) => {
                            self.left_bytes = left_bytes;
                            State::from_remaining(length)
                        }
                    },
                },
                State::Inside(left) => {
                    let taken = (*left).min(bytes.len() as u64);
                    bytes = &bytes[taken as usize..];
                    State::from_remaining(*left - taken)
                }
            };
        }
        true
    }

    /// Returns true when the stream may end here.
    pub fn is_between_frames(&self) -> bool {
        matches!(&self.state, State::Type(varint) if !varint.has_begun())
    }
}

impl State {
    fn from_remaining(left: u64) -> Self {
        if left == 0 {
            Self::Type(Varint::default())
        } else {
            Self::Inside(left)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(frame_type: u64, length: u32, sent: usize) -> Vec<u8> {
        let mut frame = vec![frame_type as u8];
        frame.extend_from_slice(&(length | 0x8000_0000).to_be_bytes());
        frame.resize(frame.len() + sent, 0xff);
        frame
    }

    fn allows(bytes: &[u8], piece: usize) -> bool {
        let mut guard = FrameGuard::with_head_limit(10_000);
        bytes.chunks(piece).all(|piece| guard.allows(piece))
    }

    #[test]
    fn only_frames_that_are_kept_whole_have_a_largest_length() {
        let head = frame(0x01, 10_000, 10_000);
        let data = frame(DATA, 500_000, 500_000);
        let long = frame(0x01, 20_000, 0);
        let unknown = frame(0x21, 20_000, 0);
        for piece in [1, 7, 4_096, usize::MAX] {
            assert!(allows(&[&head[..], &data, &data, &head].concat(), piece));
            assert!(!allows(&long, piece));
            assert!(!allows(&[&head[..], &data, &long].concat(), piece));
            assert!(!allows(&[&data[..], &unknown].concat(), piece));
        }
    }

    #[test]
    fn frames_beside_the_body_have_an_end() {
        let empty = frame(0x21, 0, 0);
        let small = frame(0x21, 98, 98);
        let data = frame(DATA, 500_000, 500_000);
        for (frame, most_count) in [
            (frame(DATA, 0, 0), 529_288),
            (empty, 529_288),
            (small, 10_585),
        ] {
            for (count, is_allowed) in [(most_count, true), (most_count + 1, false)] {
                let frames = [frame.repeat(count), data.clone()].concat();
                assert_eq!(allows(&frames, 4_096), is_allowed, "{count}");
            }
        }
    }

    #[test]
    fn a_stream_ends_between_frames_only() {
        let whole = [frame(0x01, 300, 300), frame(DATA, 0, 0), frame(0x21, 5, 5)].concat();
        let ends = [0, 305, 310, 320];
        assert_eq!(whole.len(), 320);
        for piece in [1, 7, 64] {
            for count in 0..=whole.len() {
                let mut guard = FrameGuard::default();
                assert!(
                    whole[..count]
                        .chunks(piece)
                        .all(|piece| guard.allows(piece))
                );
                assert_eq!(guard.is_between_frames(), ends.contains(&count), "{count}");
            }
        }
    }
}
