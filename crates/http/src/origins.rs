//! The ORIGIN frame of HTTP/3 (RFC 9412; its contents are RFC 8336's): which origins a server says
//! its connection may be used for.
//!
//! For: writing the frame, and reading it off the server's control stream while the h3 crate, which
//! knows no such frame and passes it over, reads the same bytes.
//! Not for: whether a certificate covers an origin; a frame proves nothing without one (RFC 8336
//! section 2.4).

use bytes::{BufMut, Bytes, BytesMut};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// Stream type of the control stream (RFC 9114 section 6.2.1).
const CONTROL_STREAM: u64 = 0x00;
/// Frame type (RFC 9412 section 2).
const ORIGIN_FRAME: u64 = 0x0c;
/// Origins a client remembers of a connection, and the longest frame it reads: a server has no say
/// in how much memory that takes.
const ORIGINS_MAX_COUNT: usize = 1_024;
const FRAME_MAX_BYTES: u64 = 64 << 10;

/// The frame; `None` of no origins, for an empty frame means something (RFC 8336 section 2.3).
/// Origins too long for their 16-bit length are left out.
pub fn origin_frame<'a>(origins: impl IntoIterator<Item = &'a str>) -> Option<Bytes> {
    let mut payload = BytesMut::new();
    for origin in origins {
        if let Ok(length) = u16::try_from(origin.len()) {
            payload.put_u16(length);
            payload.put_slice(origin.as_bytes());
        }
    }
    if payload.is_empty() {
        return None;
    }
    let mut frame = BytesMut::with_capacity(payload.len() + 9);
    put_varint(&mut frame, ORIGIN_FRAME);
    put_varint(&mut frame, payload.len() as u64);
    frame.put_slice(&payload);
    Some(frame.freeze())
}

/// `https://host`, the port only when it is not 443 (RFC 6454 section 6.2).
pub fn https_origin(host: &str, port: u16) -> String {
    let host = host.to_ascii_lowercase();
    if port == 443 {
        format!("https://{host}")
    } else {
        format!("https://{host}:{port}")
    }
}

/// What a connection's server said of its origins so far.
#[derive(Debug, Clone, Default)]
pub struct Origins(Arc<Mutex<Option<BTreeSet<String>>>>);

impl Origins {
    /// Whether the connection may be used for it, by what was said; `None` without an ORIGIN frame.
    /// What such a frame does not name is forbidden (RFC 8336 section 2.4), but for what the
    /// connection was opened for: that belongs to the set without being named (section 2.3).
    pub fn allow(&self, origin: &str) -> Option<bool> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.as_ref().map(|set| set.contains(origin))
    }

    /// Whether an ORIGIN frame named it.
    pub fn contain(&self, origin: &str) -> bool {
        self.allow(origin) == Some(true)
    }

    /// Whether there was an ORIGIN frame.
    pub fn are_known(&self) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.is_some()
    }

    /// No longer: the server answered 421 (RFC 8336 section 2.3).
    pub fn remove(&self, origin: &str) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(set) = known.as_mut() {
            set.remove(origin);
        }
    }

    fn add(&self, payload: &[u8]) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let set = known.get_or_insert_default();
        let mut rest = payload;
        while let Some((length, tail)) = rest.split_first_chunk::<2>() {
            let length = usize::from(u16::from_be_bytes(*length));
            let Some((entry, tail)) = tail.split_at_checked(length) else {
                return;
            };
            rest = tail;
            // What is no ASCII text is no origin and is passed over (RFC 8336 section 2.1).
            let text = std::str::from_utf8(entry)
                .ok()
                .filter(|text| text.is_ascii());
            if let Some(text) = text.filter(|_| set.len() < ORIGINS_MAX_COUNT) {
                set.insert(text.to_ascii_lowercase());
            }
        }
    }
}

/// Reads one unidirectional stream of a server as it arrives.
#[derive(Debug)]
pub struct OriginReader {
    origins: Origins,
    state: State,
}

#[derive(Debug)]
enum State {
    StreamType(Varint),
    FrameType(Varint),
    FrameLength(u64, Varint),
    /// Bytes of a frame that is of no interest.
    Passing(u64),
    /// Bytes of an ORIGIN frame: how many there will be, and those here.
    Gathering(u64, Vec<u8>),
    /// Not the control stream, or nothing to be made of it.
    Done,
}

impl OriginReader {
    /// For a stream nothing was read of yet.
    pub fn new(origins: Origins) -> Self {
        Self {
            origins,
            state: State::StreamType(Varint::default()),
        }
    }

    /// The next bytes.
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
                let frame_type = *frame_type;
                varint.take(bytes).map(|length| {
                    if (frame_type, length) == (ORIGIN_FRAME, 0) {
                        self.origins.add(&[]);
                    }
                    frame(frame_type, length)
                })
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
                    self.origins.add(gathered);
                    State::FrameType(Varint::default())
                })
            }
            State::Done => None,
        };
        if let Some(next) = next {
            self.state = next;
        }
    }
}

/// What follows a frame's head.
fn frame(frame_type: u64, length: u64) -> State {
    match (frame_type, length) {
        (ORIGIN_FRAME, 1..=FRAME_MAX_BYTES) => State::Gathering(length, Vec::new()),
        (_, 0) => State::FrameType(Varint::default()),
        _ => State::Passing(length),
    }
}

/// A variable-length integer (RFC 9000 section 16) that arrives in pieces.
#[derive(Debug, Default)]
struct Varint {
    value: u64,
    missing: Option<u8>,
}

impl Varint {
    /// Its value once it is whole; its bytes are taken off the front.
    fn take(&mut self, bytes: &mut &[u8]) -> Option<u64> {
        while let Some((&byte, rest)) = bytes.split_first() {
            *bytes = rest;
            let missing = match self.missing {
                None => {
                    self.value = u64::from(byte & 0x3f);
                    (1_u8 << (byte >> 6)) - 1
                }
                Some(missing) => {
                    self.value = self.value << 8 | u64::from(byte);
                    missing - 1
                }
            };
            self.missing = Some(missing);
            if missing == 0 {
                return Some(self.value);
            }
        }
        None
    }
}

fn put_varint(buffer: &mut BytesMut, value: u64) {
    match value {
        0..=0x3f => buffer.put_u8(value as u8),
        0x40..=0x3fff => buffer.put_u16(value as u16 | 0x4000),
        _ => buffer.put_u32(value as u32 | 0x8000_0000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORIGINS: [&str; 2] = ["https://dns.resolab.test", "https://a.test:8443"];

    /// Control stream: its type, SETTINGS with one setting, ORIGIN, GOAWAY, ORIGIN.
    fn control_stream() -> Vec<u8> {
        let frame = |origins: &[&str]| origin_frame(origins.iter().copied()).unwrap();
        let settings = [0x04, 0x03, 0x06, 0x50, 0x00];
        [
            &[0x00][..],
            &settings,
            &frame(&ORIGINS),
            &[0x07, 0x01, 0x00],
            &frame(&["https://B.test"]),
        ]
        .concat()
    }

    fn read(bytes: &[u8], piece: usize) -> Origins {
        let origins = Origins::default();
        let mut reader = OriginReader::new(origins.clone());
        bytes.chunks(piece).for_each(|chunk| reader.feed(chunk));
        origins
    }

    #[test]
    fn the_frame_is_as_the_standard_says() {
        let frame = origin_frame(["https://a.test"]).unwrap();
        assert_eq!(&frame[..4], [0x0c, 16, 0, 14]);
        assert_eq!(&frame[4..], b"https://a.test");
        assert_eq!(origin_frame([]), None);
        let many = vec!["https://a.test"; 5];
        assert_eq!(&origin_frame(many).unwrap()[..3], [0x0c, 0x40, 80]);
    }

    #[test]
    fn origins_are_read_however_the_bytes_arrive() {
        for piece in [1, 2, 3, 7, 1_000] {
            let origins = read(&control_stream(), piece);
            for origin in ORIGINS.into_iter().chain(["https://b.test"]) {
                assert!(origins.contain(origin), "{origin} in pieces of {piece}");
            }
            assert!(!origins.contain("https://a.test"));
            origins.remove("https://b.test");
            assert!(!origins.contain("https://b.test"));
        }
    }

    #[test]
    fn other_streams_and_endless_frames_teach_nothing() {
        let mut other = control_stream();
        other[0] = 0x02;
        assert!(!read(&other, 5).are_known());
        let endless = [&[0x00, 0x0c, 0xbf, 0xff, 0xff, 0xff][..], &[0; 100]].concat();
        assert!(!read(&endless, 9).are_known());
        let cut = [0x00, 0x0c, 0x04, 0x00, 0x09, b'h', b't'];
        assert!(read(&cut, 1).are_known());
    }

    #[test]
    fn an_empty_frame_names_no_origin_and_so_forbids_all_others() {
        let stream = [0x00, 0x04, 0x00, 0x0c, 0x00];
        for piece in [1, 2, 5] {
            let origins = read(&stream, piece);
            assert_eq!(origins.allow("https://a.test"), Some(false));
        }
        assert_eq!(read(&stream[..3], 1).allow("https://a.test"), None);
        assert_eq!(read(&control_stream(), 9).allow(ORIGINS[0]), Some(true));
    }

    #[test]
    fn the_port_is_written_when_it_is_not_the_usual() {
        assert_eq!(https_origin("A.test", 443), "https://a.test");
        assert_eq!(https_origin("a.test", 8443), "https://a.test:8443");
    }
}
