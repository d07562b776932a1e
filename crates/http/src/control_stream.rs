//! Frames of HTTP/3's control streams (RFC 9114 section 6.2.1) unknown to the h3 crate. They are
//! read from the same bytes, ignored by the crate, and written between the crate's own frames.
//!
//! Not for: the meaning of these frames; each [`ControlFrames`] interprets its own type.

mod varint;
mod writer;

pub(crate) use varint::{Varint, put_varint, take_varint};
pub(crate) use writer::ControlWriter;

use std::fmt::Debug;
use std::sync::Arc;

/// Stream type of the control stream (RFC 9114 section 6.2.1).
const CONTROL_STREAM: u64 = 0x00;
/// Length of the longest frame read; the peer therefore cannot use up memory.
const FRAME_MAX_BYTES: u64 = 64 << 10;

/// A receiver of the frames of one type.
pub trait ControlFrames: Debug + Send + Sync {
    /// Returns the frame type of interest.
    fn frame_type(&self) -> u64;
    /// Takes the payload of a frame.
    fn take(&self, payload: &[u8]);
}

/// Encodes a whole frame.
pub(crate) fn frame(frame_type: u64, payload: &[u8]) -> bytes::Bytes {
    let mut frame = bytes::BytesMut::with_capacity(payload.len() + 16);
    put_varint(&mut frame, frame_type);
    put_varint(&mut frame, payload.len() as u64);
    frame.extend_from_slice(payload);
    frame.freeze()
}

/// A reader of a peer's unidirectional stream, fed with bytes on arrival.
#[derive(Debug)]
pub struct ControlReader {
    wanted_by: Arc<dyn ControlFrames>,
    state: State,
}

#[derive(Debug)]
enum State {
    StreamType(Varint),
    FrameType(Varint),
    FrameLength(u64, Varint),
    /// Skipping a frame of another type: the number of bytes left.
    Passing(u64),
    /// Collecting a wanted frame: the total length, and the bytes received.
    Gathering(u64, Vec<u8>),
    /// The stream is not the control stream.
    Done,
}

impl ControlReader {
    /// Makes a reader for an unread stream.
    pub fn new(wanted_by: Arc<dyn ControlFrames>) -> Self {
        Self {
            wanted_by,
            state: State::StreamType(Varint::default()),
        }
    }

    /// Reads the next bytes of the stream.
    pub fn feed(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() && !matches!(self.state, State::Done) {
            self.step(&mut bytes);
        }
    }

    fn step(&mut self, bytes: &mut &[u8]) {
        let next = match &mut self.state {
            State::StreamType(varint) => varint.take(bytes).map(|stream_type| {
                if stream_type == CONTROL_STREAM {
                    State::FrameType(Varint::default())
                } else {
                    State::Done
                }
            }),
            State::FrameType(varint) => {
                let frame_type = varint.take(bytes);
                frame_type.map(|frame_type| State::FrameLength(frame_type, Varint::default()))
            }
            State::FrameLength(frame_type, varint) => {
                let is_wanted = *frame_type == self.wanted_by.frame_type();
                let length = varint.take(bytes);
                length.map(|length| self.next_state(is_wanted, length))
            }
            State::Passing(left) => {
                let count = bytes
                    .len()
                    .min(usize::try_from(*left).unwrap_or(usize::MAX));
                *bytes = &bytes[count..];
                *left -= count as u64;
                (*left == 0).then(|| State::FrameType(Varint::default()))
            }
            State::Gathering(length, gathered) => {
                let missing = usize::try_from(*length).unwrap_or(usize::MAX) - gathered.len();
                let (taken, rest) = bytes.split_at(missing.min(bytes.len()));
                gathered.extend_from_slice(taken);
                *bytes = rest;
                let is_whole = gathered.len() as u64 == *length;
                is_whole.then(|| {
                    self.wanted_by.take(gathered);
                    State::FrameType(Varint::default())
                })
            }
            State::Done => None,
        };
        if let Some(next) = next {
            self.state = next;
        }
    }

    /// Returns the state after a frame's head.
    fn next_state(&self, is_wanted: bool, length: u64) -> State {
        match (is_wanted, length) {
            (true, 1..=FRAME_MAX_BYTES) => State::Gathering(length, Vec::new()),
            (_, 0) => {
                if is_wanted {
                    self.wanted_by.take(&[]);
                }
                State::FrameType(Varint::default())
            }
            _ => State::Passing(length),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    const WANTED: u64 = 0x000f_0700;

    #[derive(Debug, Default)]
    struct ReceivedFrames(Mutex<Vec<Vec<u8>>>);

    impl ControlFrames for ReceivedFrames {
        fn frame_type(&self) -> u64 {
            WANTED
        }

        fn take(&self, payload: &[u8]) {
            self.0.lock().unwrap().push(payload.to_vec());
        }
    }

    fn read(bytes: &[u8], piece: usize) -> Vec<Vec<u8>> {
        let taken = Arc::<ReceivedFrames>::default();
        let mut reader = ControlReader::new(Arc::clone(&taken) as Arc<dyn ControlFrames>);
        bytes.chunks(piece).for_each(|chunk| reader.feed(chunk));
        taken.0.lock().unwrap().clone()
    }

    /// Control stream: stream type, SETTINGS with one setting, three wanted frames among others.
    fn control_stream() -> Vec<u8> {
        let wanted = |payload: &[u8]| frame(WANTED, payload);
        [
            &[0x00][..],
            &[0x04, 0x03, 0x06, 0x50, 0x00],
            &wanted(b"one"),
            &[0x07, 0x01, 0x00],
            &wanted(b""),
            &wanted(&[7; 300]),
        ]
        .concat()
    }

    #[test]
    fn frames_are_read_however_the_bytes_arrive() {
        for piece in [1, 2, 3, 7, 1_000] {
            let expected = [b"one".to_vec(), Vec::new(), vec![7; 300]];
            assert_eq!(read(&control_stream(), piece), expected, "{piece}");
        }
    }

    #[test]
    fn other_streams_and_endless_frames_teach_nothing() {
        let mut other = control_stream();
        other[0] = 0x02;
        assert_eq!(read(&other, 5), [] as [Vec<u8>; 0]);
        let head = [
            &[0x00][..],
            &frame(WANTED, b"")[..4],
            &[0xbf, 0xff, 0xff, 0xff],
        ]
        .concat();
        assert_eq!(read(&[head, vec![0; 100]].concat(), 9), [] as [Vec<u8>; 0]);
    }
}
