//! HTTP/2 frames as bytes (RFC 9113 section 4.1 and 6): the nine-octet header, and the small frames
//! sent by a client. Not for: the meaning of a frame to a connection.

/// The octets before every payload.
pub const HEADER_BYTES: usize = 9;
/// The first bytes of a connection (RFC 9113 section 3.4).
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The frame types (RFC 9113 section 6).
pub const DATA: u8 = 0x0;
pub const HEADERS: u8 = 0x1;
pub const RST_STREAM: u8 = 0x3;
pub const SETTINGS: u8 = 0x4;
pub const PUSH_PROMISE: u8 = 0x5;
pub const PING: u8 = 0x6;
pub const GOAWAY: u8 = 0x7;
pub const WINDOW_UPDATE: u8 = 0x8;
pub const CONTINUATION: u8 = 0x9;

/// The frame flags: `ACK` of SETTINGS and PING, `END_STREAM` of DATA and HEADERS.
pub const ACK: u8 = 0x1;
pub const END_STREAM: u8 = 0x1;
pub const END_HEADERS: u8 = 0x4;
pub const PADDED: u8 = 0x8;
pub const PRIORITY: u8 = 0x20;

/// The identifiers of settings (RFC 9113 section 6.5.2).
pub const SETTINGS_HEADER_TABLE_SIZE: u16 = 0x1;
pub const SETTINGS_ENABLE_PUSH: u16 = 0x2;
pub const SETTINGS_MAX_CONCURRENT_STREAMS: u16 = 0x3;
pub const SETTINGS_INITIAL_WINDOW_SIZE: u16 = 0x4;
pub const SETTINGS_MAX_FRAME_SIZE: u16 = 0x5;

/// The error codes (RFC 9113 section 7).
pub const REFUSED_STREAM: u32 = 0x7;
pub const CANCEL: u32 = 0x8;

/// The largest frame payload: the default of a peer, and the limit of this client.
pub const MAX_FRAME_BYTES: usize = 16_384;

/// The nine octets before a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameHeader {
    /// The length of the payload, in octets.
    pub length: usize,
    /// The type of the frame (RFC 9113 section 6).
    pub kind: u8,
    /// The flags, with a meaning by frame type.
    pub flags: u8,
    /// The stream number; 0 is the connection.
    pub stream: u32,
}

impl FrameHeader {
    /// Reads a frame header; `None` while incomplete.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; HEADER_BYTES] = bytes.get(..HEADER_BYTES)?.try_into().ok()?;
        let [a, b, c, kind, flags, stream @ ..] = *bytes;
        Some(Self {
            length: u32::from_be_bytes([0, a, b, c]) as usize,
            kind,
            flags,
            stream: u32::from_be_bytes(stream) & 0x7fff_ffff,
        })
    }

    /// Writes the frame header.
    pub fn write(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&(self.length as u32).to_be_bytes()[1..]);
        out.extend_from_slice(&[self.kind, self.flags]);
        out.extend_from_slice(&self.stream.to_be_bytes());
    }

    /// Returns true when the flag is set.
    pub fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

fn small(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    let length = payload.len();
    FrameHeader {
        length,
        kind,
        flags,
        stream,
    }
    .write(out);
    out.extend_from_slice(payload);
}

/// Writes SETTINGS with these values.
pub fn write_settings(out: &mut Vec<u8>, settings: &[(u16, u32)]) {
    let mut payload = Vec::with_capacity(settings.len() * 6);
    for (name, value) in settings {
        payload.extend_from_slice(&name.to_be_bytes());
        payload.extend_from_slice(&value.to_be_bytes());
    }
    small(out, SETTINGS, 0, 0, &payload);
}

/// Writes the acknowledgement of the peer's settings.
pub fn write_settings_ack(out: &mut Vec<u8>) {
    small(out, SETTINGS, ACK, 0, &[]);
}

/// Writes the answer to a PING.
pub fn write_ping_ack(out: &mut Vec<u8>, payload: &[u8]) {
    small(out, PING, ACK, 0, payload);
}

/// Writes a WINDOW_UPDATE: the peer may send `increment` more octets.
pub fn write_window_update(out: &mut Vec<u8>, stream: u32, increment: u32) {
    small(out, WINDOW_UPDATE, 0, stream, &increment.to_be_bytes());
}

/// Writes RST_STREAM to give up a stream.
pub fn write_reset(out: &mut Vec<u8>, stream: u32, code: u32) {
    small(out, RST_STREAM, 0, stream, &code.to_be_bytes());
}

/// Returns a payload without the padding; `None` if the padding is longer than the payload.
pub fn strip_padding(header: FrameHeader, payload: &[u8]) -> Option<&[u8]> {
    if !header.has(PADDED) {
        return Some(payload);
    }
    let (padding, rest) = payload.split_first()?;
    rest.get(..rest.len().checked_sub(usize::from(*padding))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_reads_back() {
        let header = FrameHeader {
            length: 0x01_02_03,
            kind: HEADERS,
            flags: END_HEADERS | PADDED,
            stream: 0x7fff_ffff,
        };
        let mut bytes = Vec::new();
        header.write(&mut bytes);
        assert_eq!(bytes.len(), HEADER_BYTES);
        assert_eq!(FrameHeader::read(&bytes), Some(header));
        assert_eq!(FrameHeader::read(&bytes[..8]), None);
        assert!(header.has(PADDED) && !header.has(END_STREAM));
        // The reserved bit is ignored when received (RFC 9113 section 4.1).
        bytes[5] |= 0x80;
        assert_eq!(FrameHeader::read(&bytes), Some(header));
    }

    #[test]
    fn padding_is_taken_off_and_never_more_than_there_is() {
        let header = |flags| FrameHeader {
            length: 0,
            kind: DATA,
            flags,
            stream: 1,
        };
        assert_eq!(strip_padding(header(0), b"abc"), Some(&b"abc"[..]));
        assert_eq!(strip_padding(header(PADDED), b"\x01ab\0"), Some(&b"ab"[..]));
        assert_eq!(strip_padding(header(PADDED), b"\x02ab"), Some(&b""[..]));
        assert_eq!(strip_padding(header(PADDED), b"\x03ab"), None);
        assert_eq!(strip_padding(header(PADDED), b""), None);
    }

    #[test]
    fn settings_are_six_octets_each() {
        let mut out = Vec::new();
        write_settings(
            &mut out,
            &[(SETTINGS_ENABLE_PUSH, 0), (SETTINGS_INITIAL_WINDOW_SIZE, 9)],
        );
        assert_eq!(FrameHeader::read(&out).unwrap().length, 12);
        assert_eq!(&out[9..], &[0, 2, 0, 0, 0, 0, 0, 4, 0, 0, 0, 9]);
    }
}
