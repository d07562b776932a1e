//! The bytes of a pcapng file (draft-ietf-opsawg-pcapng): only the blocks needed for a capture.
//! Written in the machine's byte order, as declared in the file. Not for: files.

/// Packets begin with their IP header (LINKTYPE_RAW).
const LINK_TYPE_RAW: u16 = 101;
const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const INTERFACE_STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;
const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
/// Unknown length: no reader needs to skip a section.
const SECTION_BYTES_UNKNOWN: u64 = u64::MAX;
/// Time stamps count 10^-9 s.
const NANOSECONDS: u8 = 9;
/// Type, both lengths and the fixed fields of an Enhanced Packet Block.
const PACKET_BLOCK_BYTES: usize = 32;

const OPTION_END: u16 = 0;
const OPTION_COMMENT: u16 = 1;
const OPTION_USER_APPLICATION: u16 = 4;
const OPTION_INTERFACE_NAME: u16 = 2;
const OPTION_INTERFACE_DESCRIPTION: u16 = 3;
const OPTION_INTERFACE_TIME_RESOLUTION: u16 = 9;
const OPTION_PACKET_FLAGS: u16 = 2;
const OPTION_START_TIME: u16 = 2;
const OPTION_END_TIME: u16 = 3;
const OPTION_RECEIVED_COUNT: u16 = 4;
const OPTION_DROPPED_COUNT: u16 = 5;

/// A packet's direction at an interface, from the host's view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PacketDirection {
    /// The host received the packet.
    Inbound = 1,
    /// The host sent the packet.
    Outbound = 2,
}

/// A packet on an interface.
#[derive(Debug, Clone, Copy)]
pub struct PacketBlock<'a> {
    /// Number of the interface, by the order of descriptions.
    pub interface: u32,
    /// Wall time since 1970, in ns.
    pub unix_ns: u64,
    /// Direction of the packet.
    pub direction: PacketDirection,
    /// The packet's bytes from the IP header on.
    pub packet: &'a [u8],
    /// Remark on the packet, if any.
    pub comment: Option<&'static str>,
}

/// The totals of an interface until the capture's end.
#[derive(Debug, Clone, Copy)]
pub struct StatisticsBlock<'a> {
    /// Number of the interface.
    pub interface: u32,
    /// Start, wall time since 1970.
    pub start_unix_ns: u64,
    /// End, wall time since 1970.
    pub end_unix_ns: u64,
    /// Number of passing packets, captured or not.
    pub received_count: u64,
    /// Number of packets missing in the file.
    pub not_captured_count: u64,
    /// Remark on the interface, if any.
    pub comment: Option<&'a str>,
}

impl PacketBlock<'_> {
    /// Returns the maximum number of bytes appended by `write`.
    pub fn bytes_bound(&self) -> usize {
        // Options: flags, a comment with its padding, and their end.
        let comment_bytes = self.comment.map_or(0, |comment| comment.len() + 8);
        PACKET_BLOCK_BYTES + self.packet.len() + 4 + 8 + comment_bytes + 4
    }

    /// Appends the Enhanced Packet Block.
    pub fn write(&self, out: &mut Vec<u8>) {
        block(out, ENHANCED_PACKET, |out| {
            let length = self.packet.len() as u32;
            put_u32(out, self.interface);
            put_time(out, self.unix_ns);
            put_u32(out, length);
            put_u32(out, length);
            out.extend_from_slice(self.packet);
            pad(out, self.packet.len());
            option(
                out,
                OPTION_PACKET_FLAGS,
                &(self.direction as u32).to_ne_bytes(),
            );
            comment(out, self.comment);
            option(out, OPTION_END, &[]);
        });
    }
}

impl StatisticsBlock<'_> {
    /// Appends the Interface Statistics Block.
    pub fn write(&self, out: &mut Vec<u8>) {
        block(out, INTERFACE_STATISTICS, |out| {
            put_u32(out, self.interface);
            put_time(out, self.end_unix_ns);
            option(out, OPTION_START_TIME, &time(self.start_unix_ns));
            option(out, OPTION_END_TIME, &time(self.end_unix_ns));
            option(
                out,
                OPTION_RECEIVED_COUNT,
                &self.received_count.to_ne_bytes(),
            );
            option(
                out,
                OPTION_DROPPED_COUNT,
                &self.not_captured_count.to_ne_bytes(),
            );
            comment(out, self.comment);
            option(out, OPTION_END, &[]);
        });
    }
}

/// Appends the Section Header Block at the beginning of every file.
pub fn write_section_header(out: &mut Vec<u8>, application: &str, remark: &str) {
    block(out, SECTION_HEADER, |out| {
        put_u32(out, BYTE_ORDER_MAGIC);
        put_u16(out, 1);
        put_u16(out, 0);
        out.extend_from_slice(&SECTION_BYTES_UNKNOWN.to_ne_bytes());
        option(out, OPTION_USER_APPLICATION, application.as_bytes());
        comment(out, Some(remark));
        option(out, OPTION_END, &[]);
    });
}

/// Appends the Interface Description Block of the next interface.
pub fn write_interface(out: &mut Vec<u8>, name: &str, description: &str) {
    block(out, INTERFACE_DESCRIPTION, |out| {
        put_u16(out, LINK_TYPE_RAW);
        put_u16(out, 0);
        // Packets are never cut.
        put_u32(out, 0);
        option(out, OPTION_INTERFACE_NAME, name.as_bytes());
        option(out, OPTION_INTERFACE_DESCRIPTION, description.as_bytes());
        option(out, OPTION_INTERFACE_TIME_RESOLUTION, &[NANOSECONDS]);
        option(out, OPTION_END, &[]);
    });
}

/// Appends a block of this type with the content appended by `body`.
fn block(out: &mut Vec<u8>, kind: u32, body: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    put_u32(out, kind);
    put_u32(out, 0);
    body(out);
    let length = (out.len() - start + 4) as u32;
    put_u32(out, length);
    out[start + 4..start + 8].copy_from_slice(&length.to_ne_bytes());
}

fn option(out: &mut Vec<u8>, code: u16, value: &[u8]) {
    put_u16(out, code);
    put_u16(out, value.len() as u16);
    out.extend_from_slice(value);
    pad(out, value.len());
}

fn comment(out: &mut Vec<u8>, text: Option<&str>) {
    if let Some(text) = text {
        option(out, OPTION_COMMENT, text.as_bytes());
    }
}

/// Fills a field of `length` bytes up to whole 32-bit words.
fn pad(out: &mut Vec<u8>, length: usize) {
    let missing = length.next_multiple_of(4) - length;
    out.extend_from_slice(&[0; 3][..missing]);
}

fn put_time(out: &mut Vec<u8>, unix_ns: u64) {
    out.extend_from_slice(&time(unix_ns));
}

/// Encodes a time: the high word comes first, in any byte order.
fn time(unix_ns: u64) -> [u8; 8] {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&((unix_ns >> 32) as u32).to_ne_bytes());
    bytes[4..].copy_from_slice(&(unix_ns as u32).to_ne_bytes());
    bytes
}

fn put_u32(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_ne_bytes());
}

fn put_u16(out: &mut Vec<u8>, value: u16) {
    out.extend_from_slice(&value.to_ne_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes as they are on a little-endian machine, the only kind these tests spell out.
    fn assert_block(written: &[u8], words: &[&[u8]]) {
        if cfg!(target_endian = "little") {
            assert_eq!(written, words.concat());
        }
        assert_eq!(written.len() % 4, 0);
        let length = (written.len() as u32).to_ne_bytes();
        assert_eq!(
            (&written[4..8], &written[written.len() - 4..]),
            (&length[..], &length[..])
        );
    }

    #[test]
    fn the_section_header() {
        let mut out = Vec::new();
        write_section_header(&mut out, "lab", "four");
        assert_block(
            &out,
            &[
                &[0x0a, 0x0d, 0x0d, 0x0a, 48, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a],
                &[1, 0, 0, 0],
                &[0xff; 8],
                &[4, 0, 3, 0, b'l', b'a', b'b', 0],
                &[1, 0, 4, 0, b'f', b'o', b'u', b'r'],
                &[0, 0, 0, 0],
                &[48, 0, 0, 0],
            ],
        );
    }

    #[test]
    fn an_interface() {
        let mut out = Vec::new();
        write_interface(&mut out, "a", "bc");
        assert_block(
            &out,
            &[
                &[1, 0, 0, 0, 48, 0, 0, 0, 101, 0, 0, 0, 0, 0, 0, 0],
                &[2, 0, 1, 0, b'a', 0, 0, 0],
                &[3, 0, 2, 0, b'b', b'c', 0, 0],
                &[9, 0, 1, 0, 9, 0, 0, 0],
                &[0, 0, 0, 0],
                &[48, 0, 0, 0],
            ],
        );
    }

    #[test]
    fn a_packet_without_and_with_a_remark() {
        let mut out = Vec::new();
        let block = PacketBlock {
            interface: 1,
            unix_ns: 0x0102_0304_0506_0708,
            direction: PacketDirection::Inbound,
            packet: &[0x45, 1, 2, 3, 4],
            comment: None,
        };
        block.write(&mut out);
        assert_block(
            &out,
            &[
                &[6, 0, 0, 0, 52, 0, 0, 0, 1, 0, 0, 0],
                &[4, 3, 2, 1, 8, 7, 6, 5],
                &[5, 0, 0, 0, 5, 0, 0, 0],
                &[0x45, 1, 2, 3, 4, 0, 0, 0],
                &[2, 0, 4, 0, 1, 0, 0, 0],
                &[0, 0, 0, 0],
                &[52, 0, 0, 0],
            ],
        );
        assert!(out.len() <= block.bytes_bound());
        out.clear();
        let block = PacketBlock {
            direction: PacketDirection::Outbound,
            comment: Some("dropped: loss"),
            ..block
        };
        block.write(&mut out);
        assert_block(
            &out,
            &[
                &[6, 0, 0, 0, 72, 0, 0, 0, 1, 0, 0, 0],
                &[4, 3, 2, 1, 8, 7, 6, 5],
                &[5, 0, 0, 0, 5, 0, 0, 0],
                &[0x45, 1, 2, 3, 4, 0, 0, 0],
                &[2, 0, 4, 0, 2, 0, 0, 0],
                &[1, 0, 13, 0],
                b"dropped: loss\0\0\0",
                &[0, 0, 0, 0],
                &[72, 0, 0, 0],
            ],
        );
        assert!(out.len() <= block.bytes_bound());
    }

    #[test]
    fn statistics() {
        let mut out = Vec::new();
        StatisticsBlock {
            interface: 0,
            start_unix_ns: 1 << 32,
            end_unix_ns: 2 << 32,
            received_count: 7,
            not_captured_count: 3,
            comment: None,
        }
        .write(&mut out);
        assert_block(
            &out,
            &[
                &[5, 0, 0, 0, 76, 0, 0, 0, 0, 0, 0, 0],
                &[2, 0, 0, 0, 0, 0, 0, 0],
                &[2, 0, 8, 0, 1, 0, 0, 0, 0, 0, 0, 0],
                &[3, 0, 8, 0, 2, 0, 0, 0, 0, 0, 0, 0],
                &[4, 0, 8, 0, 7, 0, 0, 0, 0, 0, 0, 0],
                &[5, 0, 8, 0, 3, 0, 0, 0, 0, 0, 0, 0],
                &[0, 0, 0, 0],
                &[76, 0, 0, 0],
            ],
        );
    }
}
