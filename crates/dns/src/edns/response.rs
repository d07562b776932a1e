//! The readable contents of a response's EDNS(0), as text for its record: extended errors and the
//! name server's identifier. Not for: options checked against the query (`edns::sent`).

use hickory_proto::op::Message;
use hickory_proto::rr::rdata::opt::{EdnsCode, EdnsOption};
use resolab_transport::client::one_line;
use std::fmt::Write;

/// Option code of Extended DNS Errors (RFC 8914 section 2).
const EXTENDED_ERROR_CODE: u16 = 15;
const TEXT_MAX_CHARACTERS: usize = 256;

/// Names of extended errors by code (IANA, Extended DNS Error Codes; RFC 8914 section 4).
const EXTENDED_ERROR_NAMES: [&str; 31] = [
    "Other Error",
    "Unsupported DNSKEY Algorithm",
    "Unsupported DS Digest Type",
    "Stale Answer",
    "Forged Answer",
    "DNSSEC Indeterminate",
    "DNSSEC Bogus",
    "Signature Expired",
    "Signature Not Yet Valid",
    "DNSKEY Missing",
    "RRSIGs Missing",
    "No Zone Key Bit Set",
    "NSEC Missing",
    "Cached Error",
    "Not Ready",
    "Blocked",
    "Censored",
    "Filtered",
    "Prohibited",
    "Stale NXDOMAIN Answer",
    "Not Authoritative",
    "Not Supported",
    "No Reachable Authority",
    "Network Error",
    "Invalid Data",
    "Signature Expired before Valid",
    "Too Early",
    "Unsupported NSEC3 Iterations Value",
    "Unable to conform to policy",
    "Synthesized",
    "Invalid Query Type",
];

/// Returns the extended errors of a response, in order, as `CODE NAME: TEXT`. Skips an option too
/// short for a code.
pub(crate) fn extended_errors(response: &Message) -> Vec<String> {
    let Some(edns) = &response.edns else {
        return Vec::new();
    };
    let options = edns.options().get_all(EdnsCode::from(EXTENDED_ERROR_CODE));
    let data = options.into_iter().filter_map(|option| {
        let EdnsOption::Unknown(_, data) = option else {
            return None;
        };
        data.split_first_chunk::<2>()
    });
    data.map(|(code, text)| extended_error(u16::from_be_bytes(*code), text))
        .collect()
}

fn extended_error(code: u16, text: &[u8]) -> String {
    let mut words = code.to_string();
    if let Some(name) = EXTENDED_ERROR_NAMES.get(usize::from(code)) {
        write!(words, " {name}").expect("a string takes all");
    }
    // Some servers end it with a zero byte, which is no part of it (RFC 8914 section 2).
    let text = String::from_utf8_lossy(text);
    let text = one_line(text.trim_end_matches('\0'));
    if !text.is_empty() {
        words.push_str(": ");
        words.extend(text.chars().take(TEXT_MAX_CHARACTERS));
    }
    words
}

/// Returns the name server's identifier (RFC 5001). The identifier may be any bytes; most servers
/// use text.
pub(crate) fn name_server_identifier(response: &Message) -> Option<String> {
    let edns = response.edns.as_ref()?;
    let Some(EdnsOption::NSID(identifier)) = edns.option(EdnsCode::NSID) else {
        return None;
    };
    let identifier = identifier.as_ref();
    if identifier.is_empty() {
        return None;
    }
    let is_text = |byte: &u8| *byte == b' ' || byte.is_ascii_graphic();
    if identifier.iter().all(is_text) {
        return Some(String::from_utf8_lossy(identifier).into_owned());
    }
    let mut digits = "0x".to_owned();
    for byte in identifier {
        write!(digits, "{byte:02x}").expect("a string takes all");
    }
    Some(digits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hickory_proto::op::{Edns, OpCode};

    /// Returns a message as received: written, then read.
    fn response(options: &[(u16, &[u8])]) -> Message {
        let mut edns = Edns::new();
        for (code, data) in options {
            let option = EdnsOption::Unknown(*code, data.to_vec());
            edns.options_mut().insert(option);
        }
        let mut message = Message::response(7, OpCode::Query);
        message.set_edns(edns);
        Message::from_vec(&message.to_vec().unwrap()).unwrap()
    }

    #[test]
    fn extended_errors_have_code_name_and_text() {
        let long = [&[0, 15][..], &[b'x'; 300]].concat();
        let found = extended_errors(&response(&[
            (15, b"\x00\x16at delegation a.test"),
            (15, b"\x00\x06"),
            (15, b"\x00\x03stale\x00"),
            (15, b"\xc0\x00private"),
            (15, "\0\u{4}a\u{1b}[31m\u{9b}1m".as_bytes()),
            (15, b"\x01"),
            (15, &long),
        ]));
        let blocked = format!("15 Blocked: {}", "x".repeat(256));
        let expected = [
            "22 No Reachable Authority: at delegation a.test",
            "6 DNSSEC Bogus",
            "3 Stale Answer: stale",
            "49152: private",
            "4 Forged Answer: a [31m 1m",
            &blocked,
        ];
        assert_eq!(found, expected);
        assert!(extended_errors(&response(&[(10, b"12345678")])).is_empty());
        assert!(extended_errors(&Message::response(7, OpCode::Query)).is_empty());
    }

    #[test]
    fn an_identifier_is_text_where_all_of_it_can_be_printed() {
        let of = |data: &[u8]| name_server_identifier(&response(&[(3, data)]));
        assert_eq!(of(b"gpdns-fra 2"), Some("gpdns-fra 2".to_owned()));
        assert_eq!(of(&[0xde, 0xad, b'a']), Some("0xdead61".to_owned()));
        assert_eq!(of(b"a\n"), Some("0x610a".to_owned()));
        assert_eq!(of(b""), None);
        assert_eq!(name_server_identifier(&response(&[])), None);
    }
}
