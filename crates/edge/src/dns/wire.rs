//! Reads a DNS query (RFC 1035 section 4, EDNS RFC 6891) as far as necessary for an answer.
//!
//! For: pure reading; the question's bytes stay unchanged, including case.
//! Not for: records other than OPT, and not for responses.

mod client_subnet;
mod rcode;

pub use client_subnet::ClientSubnetOption;
pub use rcode::Rcode;
pub use resolab_dns::presentation::type_number_text as type_text;

use resolab_dns::presentation::{read_type, wire_name_text};

/// The type number of A (IPv4 address).
pub const TYPE_A: u16 = 1;
/// The type number of NS.
pub const TYPE_NS: u16 = 2;
/// The type number of CNAME.
pub const TYPE_CNAME: u16 = 5;
/// The type number of SOA.
pub const TYPE_SOA: u16 = 6;
/// The type number of HINFO, the answer to ANY (RFC 8482).
pub const TYPE_HINFO: u16 = 13;
/// The type number of TXT.
pub const TYPE_TXT: u16 = 16;
/// The type number of AAAA.
pub const TYPE_AAAA: u16 = 28;
/// The type number of OPT (EDNS).
pub const TYPE_OPT: u16 = 41;
/// The type number of HTTPS (RFC 9460).
pub const TYPE_HTTPS: u16 = 65;
/// The type number of ANY.
pub const TYPE_ANY: u16 = 255;
/// The class number of the Internet.
pub const CLASS_IN: u16 = 1;

/// The maximum message length, in bytes (RFC 1035 section 4.2.2), also for the bodies of DoH.
pub const MESSAGE_BYTES_MAX: usize = 65_535;
/// The length of a message header, in bytes.
pub const HEADER_BYTES: usize = 12;
/// The option code of ECS, client subnet (RFC 7871).
pub const OPTION_CLIENT_SUBNET: u16 = 8;
/// The option code of COOKIE (RFC 7873).
pub const OPTION_COOKIE: u16 = 10;
const OPTION_KEEPALIVE: u16 = 11;
/// The option code of Padding (RFC 7830).
pub const OPTION_PADDING: u16 = 12;

/// The fault of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryError {
    /// The header is missing, or the message is a response. The message is dropped, because
    /// answering could loop.
    Unanswerable,
    /// The answer is FORMERR.
    Malformed,
    /// The message is not a standard query; the answer is NOTIMP.
    OpcodeUnknown,
}

/// The question of the query, unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawQuestion<'a> {
    /// The name in wire form, with its case.
    pub name: &'a [u8],
    /// The number of the query type.
    pub qtype: u16,
    /// The number of the query class.
    pub qclass: u16,
}

/// The query's OPT record (EDNS).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edns {
    /// The client's maximum UDP payload, in bytes.
    pub udp_payload_bytes: u16,
    /// The EDNS version number.
    pub version: u8,
    /// The flag DNSSEC OK.
    pub dnssec_ok: bool,
    /// True when a Padding option (RFC 7830) was present.
    pub padded: bool,
    /// True when an edns-tcp-keepalive option (RFC 7828) was present.
    pub keepalive: bool,
    /// The client's part of a COOKIE option (RFC 7873).
    pub client_cookie: Option<[u8; 8]>,
    /// The client subnet option (RFC 7871).
    pub client_subnet: Option<ClientSubnetOption>,
}

impl Edns {
    /// Makes EDNS with only a payload size.
    pub fn with_payload(udp_payload_bytes: u16) -> Self {
        Self {
            udp_payload_bytes,
            version: 0,
            dnssec_ok: false,
            padded: false,
            keepalive: false,
            client_cookie: None,
            client_subnet: None,
        }
    }
}

/// A parsed DNS query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Query<'a> {
    /// The question of the query.
    pub question: RawQuestion<'a>,
    /// The EDNS record, if present.
    pub edns: Option<Edns>,
}

impl<'a> Query<'a> {
    /// Reads a whole message. Errors with the fault of the message.
    pub fn parse(message: &'a [u8]) -> Result<Self, QueryError> {
        let header = message
            .get(..HEADER_BYTES)
            .ok_or(QueryError::Unanswerable)?;
        if header[2] & 0x80 != 0 {
            return Err(QueryError::Unanswerable);
        }
        if header[2] & 0x78 != 0 {
            return Err(QueryError::OpcodeUnknown);
        }
        let counts: [u16; 4] = std::array::from_fn(|i| u16_at(header, 4 + 2 * i).unwrap_or(0));
        if counts[0] != 1 {
            return Err(QueryError::Malformed);
        }
        let (question, mut at) = parse_question(message).ok_or(QueryError::Malformed)?;
        let mut edns = None;
        let records = counts[1..]
            .iter()
            .map(|&count| usize::from(count))
            .sum::<usize>();
        for _ in 0..records {
            let (found, next) = parse_record(message, at).ok_or(QueryError::Malformed)?;
            if found.is_some() && edns.is_some() {
                return Err(QueryError::Malformed); // RFC 6891 section 6.1.1: one OPT at most
            }
            edns = edns.or(found);
            at = next;
        }
        Ok(Self { question, edns })
    }
}

fn parse_question(message: &[u8]) -> Option<(RawQuestion<'_>, usize)> {
    let end = skip_name(message, HEADER_BYTES, false)?;
    let question = RawQuestion {
        name: &message[HEADER_BYTES..end],
        qtype: u16_at(message, end)?,
        qclass: u16_at(message, end + 2)?,
    };
    Some((question, end + 4))
}

/// Skips one record, and returns the EDNS of an OPT record.
fn parse_record(message: &[u8], at: usize) -> Option<(Option<Edns>, usize)> {
    let fixed = skip_name(message, at, true)?;
    let data_bytes = usize::from(u16_at(message, fixed + 8)?);
    let data = message.get(fixed + 10..fixed + 10 + data_bytes)?;
    let mut edns = None;
    if u16_at(message, fixed)? == TYPE_OPT {
        let mut found = Edns {
            udp_payload_bytes: u16_at(message, fixed + 2)?,
            version: message[fixed + 5],
            dnssec_ok: message[fixed + 6] & 0x80 != 0,
            padded: false,
            keepalive: false,
            client_cookie: None,
            client_subnet: None,
        };
        read_options(data, &mut found)?;
        edns = Some(found);
    }
    Some((edns, fixed + 10 + data_bytes))
}

/// Reads the options of an OPT record. `None` when the options do not fill their record exactly, a
/// cookie's length is invalid (RFC 7873 section 5.2.2), or a client subnet is invalid (RFC 7871
/// section 7.1.2).
fn read_options(mut options: &[u8], edns: &mut Edns) -> Option<()> {
    while !options.is_empty() {
        let length = usize::from(u16_at(options, 2)?);
        let value = options.get(4..4 + length)?;
        match u16_at(options, 0)? {
            OPTION_PADDING => edns.padded = true,
            OPTION_KEEPALIVE => edns.keepalive = true,
            OPTION_COOKIE => match length {
                8 | 16..=40 => edns.client_cookie = value.first_chunk().copied(),
                _ => return None,
            },
            OPTION_CLIENT_SUBNET => edns.client_subnet = Some(ClientSubnetOption::read(value)?),
            _ => {}
        }
        options = &options[4 + length..];
    }
    Some(())
}

/// Returns the position after a name.
pub fn skip_name(message: &[u8], start: usize, pointer_allowed: bool) -> Option<usize> {
    let mut at = start;
    loop {
        let length = usize::from(*message.get(at)?);
        match length {
            0 => return (at + 1 - start <= 255).then_some(at + 1),
            1..=63 => at += 1 + length,
            192.. if pointer_allowed => return message.get(at + 1).map(|_| at + 2),
            _ => return None,
        }
    }
}

/// Reads a number in network order; `None` past the end.
pub fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]))
}

/// Returns the text form of a name, with the final dot and the original case. Unusual bytes are
/// written as `\DDD`.
pub fn name_text(wire: &[u8]) -> String {
    wire_name_text(wire).unwrap_or_default()
}

/// Returns the wire form of a host name in lower case; `None` for an invalid host name.
pub fn name_wire(text: &str) -> Option<Vec<u8>> {
    let mut wire = Vec::with_capacity(text.len() + 2);
    let text = text.strip_suffix('.').unwrap_or(text);
    if !text.is_empty() {
        for label in text.split('.') {
            if label.is_empty() || label.len() > 63 {
                return None;
            }
            wire.push(label.len() as u8);
            wire.extend(label.bytes().map(|byte| byte.to_ascii_lowercase()));
        }
    }
    wire.push(0);
    (wire.len() <= 255).then_some(wire)
}

/// Returns the number of a type from its name or `TYPE65535`, in any case.
pub fn type_number(text: &str) -> Option<u16> {
    read_type(text).map(u16::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(additional: &[u8], additional_count: u8) -> Vec<u8> {
        let mut message = vec![0, 9, 1, 0, 0, 1, 0, 0, 0, 0, 0, additional_count];
        message.extend_from_slice(b"\x02aB\x04teST\x00\x00\x01\x00\x01");
        message.extend_from_slice(additional);
        message
    }

    #[test]
    fn question_keeps_its_case() {
        let message = query(&[], 0);
        let query = Query::parse(&message).unwrap();
        assert_eq!(name_text(query.question.name), "aB.teST.");
        assert_eq!(
            (query.question.qtype, query.question.qclass),
            (TYPE_A, CLASS_IN)
        );
        assert_eq!(query.edns, None);
    }

    #[test]
    fn edns_is_read_with_its_options() {
        let opt = b"\x00\x00\x29\x04\xD0\x00\x00\x80\x00\x00\x08\x00\x0C\x00\x04\x00\x00\x00\x00";
        let message = query(opt, 1);
        let edns = Query::parse(&message).unwrap().edns.unwrap();
        assert_eq!((edns.udp_payload_bytes, edns.version), (1232, 0));
        assert!(edns.dnssec_ok && edns.padded && !edns.keepalive);
    }

    #[test]
    fn every_cut_is_malformed_and_never_a_panic() {
        let opt = b"\x00\x00\x29\x04\xD0\x00\x00\x80\x00\x00\x08\x00\x0C\x00\x04\x00\x00\x00\x00";
        let message = query(opt, 1);
        for end in 0..message.len() {
            let expected = if end < HEADER_BYTES {
                QueryError::Unanswerable
            } else {
                QueryError::Malformed
            };
            assert_eq!(Query::parse(&message[..end]), Err(expected), "{end}");
        }
    }

    #[test]
    fn responses_other_opcodes_and_two_opts_are_told_apart() {
        let mut message = query(&[], 0);
        message[2] |= 0x80;
        assert_eq!(Query::parse(&message), Err(QueryError::Unanswerable));
        message[2] = 0x28;
        assert_eq!(Query::parse(&message), Err(QueryError::OpcodeUnknown));
        let opt = b"\x00\x00\x29\x04\xD0\x00\x00\x00\x00\x00\x00";
        let twice = query(&[&opt[..], &opt[..]].concat(), 2);
        assert_eq!(Query::parse(&twice), Err(QueryError::Malformed));
    }

    #[test]
    fn names_go_both_ways() {
        assert_eq!(
            name_wire("Example.Test").unwrap(),
            b"\x07example\x04test\x00"
        );
        assert_eq!(name_wire(".").unwrap(), b"\x00");
        assert_eq!(name_wire("a..b"), None);
        assert_eq!(name_wire(&"a".repeat(64)), None);
        assert_eq!(name_text(b"\x03a.b\x01\x07\x00"), "a\\.b.\\007.");
        assert_eq!(name_text(b"\x00"), ".");
    }
}
