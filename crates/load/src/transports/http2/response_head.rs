//! Reads from the header block of a DoH response: the status, and if the body is a DNS message.
//! Blocks without a change to the table are remembered with their meaning until the table changes.
//! The answers of a server have similar headers, hence most blocks cost only a look-up. Not for:
//! other fields.

use super::request_block::DNS_MESSAGE;
use loona_hpack::Decoder;
use rustc_hash::FxHashMap;

/// The size of the client's table (RFC 9113 section 6.5.2: the default, never changed).
const TABLE_BYTES: usize = 4_096;
/// The limit of remembered blocks. The blocks of a server with more variation are decoded each
/// time.
const REMEMBERED_MAX: usize = 256;

/// The fields of a response header needed by DoH.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResponseHead {
    /// The HTTP status; 0 when missing.
    pub status: u16,
    /// True when the content is a DNS message (RFC 8484 section 6).
    pub is_dns_message: bool,
}

/// The decoder for the header blocks of a connection.
pub struct ResponseHeads {
    decoder: Decoder<'static>,
    remembered: FxHashMap<Box<[u8]>, ResponseHead>,
}

impl Default for ResponseHeads {
    fn default() -> Self {
        let mut decoder = Decoder::new();
        decoder.set_max_allowed_table_size(TABLE_BYTES);
        Self {
            decoder,
            remembered: FxHashMap::default(),
        }
    }
}

impl ResponseHeads {
    /// Reads a whole block; an error ends the connection, because the table is lost.
    pub fn read(&mut self, block: &[u8]) -> Result<ResponseHead, String> {
        if let Some(head) = self.remembered.get(block) {
            return Ok(*head);
        }
        let mut head = ResponseHead {
            status: 0,
            is_dns_message: false,
        };
        self.decoder
            .decode_with_cb(block, |name, value| match &name[..] {
                b":status" => head.status = read_status(&value),
                b"content-type" => head.is_dns_message = is_dns_message(&value),
                _ => {}
            })
            .map_err(|error| error.to_string())?;
        if changes_table(block) {
            self.remembered.clear();
        } else if self.remembered.len() < REMEMBERED_MAX {
            self.remembered.insert(block.into(), head);
        }
        Ok(head)
    }
}

fn read_status(value: &[u8]) -> u16 {
    // RFC 9110 section 15: three digits.
    let is_status = value.len() == 3 && value.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(value).ok().filter(|_| is_status);
    text.and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// Returns true for the media type of DNS messages, ignoring parameters.
pub fn is_dns_message(value: &[u8]) -> bool {
    let end = value.iter().position(|octet| *octet == b';');
    value[..end.unwrap_or(value.len())]
        .trim_ascii()
        .eq_ignore_ascii_case(DNS_MESSAGE)
}

/// Returns true when a valid block changes the table (RFC 7541 section 6).
fn changes_table(block: &[u8]) -> bool {
    let mut rest = block;
    while let Some(first) = rest.first() {
        if first & 0x80 != 0 {
            take_integer(&mut rest, 7);
        } else if first & 0x60 != 0 {
            // An insertion or a size update.
            return true;
        } else {
            if take_integer(&mut rest, 4) == 0 {
                skip_string(&mut rest);
            }
            skip_string(&mut rest);
        }
    }
    false
}

fn skip_string(rest: &mut &[u8]) {
    let length = take_integer(rest, 7);
    *rest = rest.get(length..).unwrap_or_default();
}

fn take_integer(rest: &mut &[u8], prefix_bits: u8) -> usize {
    let most = (1usize << prefix_bits) - 1;
    let mut next = || {
        let (first, others) = rest.split_first().unwrap_or((&0, &[]));
        *rest = others;
        usize::from(*first)
    };
    let mut value = next() & most;
    if value < most {
        return value;
    }
    for shift in (0..28).step_by(7) {
        let octet = next();
        value += (octet & 0x7f) << shift;
        if octet & 0x80 == 0 {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    const OK: ResponseHead = ResponseHead {
        status: 200,
        is_dns_message: true,
    };

    /// Returns a block inserting content-type, with the value as plain text.
    fn inserting() -> Vec<u8> {
        [&[0x88, 0x5f, 23], DNS_MESSAGE].concat()
    }

    #[test]
    fn repeated_blocks_are_looked_up_until_the_table_changes() {
        let mut heads = ResponseHeads::default();
        assert_eq!(heads.read(&inserting()), Ok(OK));
        assert!(heads.remembered.is_empty());
        assert_eq!(heads.read(&[0x88, 0xbe]), Ok(OK));
        assert_eq!(heads.remembered.len(), 1);
        assert_eq!(heads.read(&[0x88, 0xbe]), Ok(OK));
        // Another content type takes the place of the first: the same octets now mean another.
        let html = [&[0x88, 0x5f, 9][..], b"text/html"].concat();
        assert!(!heads.read(&html).unwrap().is_dns_message);
        let read = heads.read(&[0x88, 0xbe]).unwrap();
        assert!(!read.is_dns_message && read.status == 200);
        assert_eq!(heads.read(&[0x88, 0xbf]), Ok(OK));
    }

    #[test]
    fn literals_outside_the_table_are_remembered_too() {
        let mut heads = ResponseHeads::default();
        heads.read(&inserting()).unwrap();
        // content-length: 50 and x-a: b, without indexing.
        let block = b"\x88\xbe\x0f\x0d\x0250\x00\x03x-a\x01b";
        assert_eq!(heads.read(block), Ok(OK));
        assert_eq!(heads.remembered.len(), 1);
        assert_eq!(heads.read(block), Ok(OK));
    }

    #[test]
    fn size_updates_change_the_table() {
        let mut heads = ResponseHeads::default();
        heads.read(&inserting()).unwrap();
        heads.read(&[0x88, 0xbe]).unwrap();
        assert_eq!(heads.read(&[0x20, 0x88]).unwrap().status, 200);
        assert!(heads.read(&[0x88, 0xbe]).is_err(), "the table is empty");
        assert!(heads.read(&[0x3f, 0xe2, 0x1f]).is_err(), "4097 octets");
    }

    #[test]
    fn statuses_and_media_types() {
        let mut heads = ResponseHeads::default();
        assert_eq!(heads.read(&[0x8d]).unwrap().status, 404);
        assert_eq!(heads.read(b"\x08\x03503").unwrap().status, 503);
        assert_eq!(heads.read(b"\x08\x03abc").unwrap().status, 0);
        assert_eq!(heads.read(b"\x08\x04+200").unwrap().status, 0);
        assert_eq!(heads.read(b"\x08\x040200").unwrap().status, 0);
        assert_eq!(heads.read(b"").unwrap().status, 0);
        assert!(is_dns_message(b"Application/DNS-Message"));
        assert!(is_dns_message(b"application/dns-message ; a=b"));
        assert!(!is_dns_message(b"application/dns-json"));
        assert!(!is_dns_message(b""));
    }

    #[test]
    fn nonsense_is_an_error_and_never_a_panic() {
        let mut seed = 0x2545_f491_4f6c_dd1du64;
        let mut octet = move || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed as u8
        };
        let mut heads = ResponseHeads::default();
        for _ in 0..20_000 {
            let length = octet() % 24;
            let block: Vec<u8> = (0..length).map(|_| octet()).collect();
            if heads.read(&block).is_err() {
                heads = ResponseHeads::default();
            }
            changes_table(&block);
        }
    }
}
