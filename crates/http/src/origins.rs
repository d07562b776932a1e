//! The ORIGIN frame of HTTP/3 (RFC 9412; the content is RFC 8336's): the origins a server permits
//! on a connection.
//!
//! For: writing the frame, and keeping the origins of received frames. Not for: reading the frame
//! off the control stream; checking a certificate for an origin. Without a certificate a frame
//! proves nothing (RFC 8336 section 2.4).

use crate::control_stream::{ControlFrames, frame};
use bytes::{BufMut, Bytes, BytesMut};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// Frame type (RFC 9412 section 2).
const ORIGIN_FRAME: u64 = 0x0c;
/// Maximum number of origins remembered for a connection; the server therefore cannot use up
/// memory.
const ORIGINS_MAX_COUNT: usize = 1_024;

/// Encodes the frame; `None` without origins, because an empty frame has a meaning (RFC 8336
/// section 2.3). Leaves out origins too long for their 16-bit length.
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
    Some(frame(ORIGIN_FRAME, &payload))
}

/// Returns `https://host`, with the port only when the port is not 443 (RFC 6454 section 6.2).
pub fn https_origin(host: &str, port: u16) -> String {
    let host = host.to_ascii_lowercase();
    if port == 443 {
        format!("https://{host}")
    } else {
        format!("https://{host}:{port}")
    }
}

/// The origins named by a connection's server to date.
#[derive(Debug, Clone, Default)]
pub struct Origins(Arc<Mutex<Option<BTreeSet<String>>>>);

impl Origins {
    /// Returns true when the ORIGIN frames permit the origin on this connection; `None` without an
    /// ORIGIN frame. Origins missing in the frames are forbidden (RFC 8336 section 2.4). The only
    /// exception is the connection's initial origin: the set always contains the initial origin
    /// (section 2.3).
    pub fn allow(&self, origin: &str) -> Option<bool> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.as_ref().map(|set| set.contains(origin))
    }

    /// Returns true when an ORIGIN frame named the origin.
    pub fn contain(&self, origin: &str) -> bool {
        self.allow(origin) == Some(true)
    }

    /// Returns true when there was an ORIGIN frame.
    pub fn are_known(&self) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.is_some()
    }

    /// Removes an origin after a 421 answer from the server (RFC 8336 section 2.3).
    pub fn remove(&self, origin: &str) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(set) = known.as_mut() {
            set.remove(origin);
        }
    }
}

impl ControlFrames for Origins {
    fn frame_type(&self) -> u64 {
        ORIGIN_FRAME
    }

    fn take(&self, payload: &[u8]) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control_stream::ControlReader;

    const ORIGINS: [&str; 2] = ["https://dns.resolab.test", "https://a.test:8443"];

    /// Control stream: stream type, SETTINGS with one setting, ORIGIN, GOAWAY, ORIGIN.
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
        let mut reader = ControlReader::new(Arc::new(origins.clone()));
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
    fn an_entry_that_is_cut_short_names_nothing() {
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
