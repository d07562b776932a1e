//! The EDNS(0) contents of a client's queries (RFC 6891): payload size, client subnet, cookie, name
//! server identifier request, padding. Not for: the rules of cookies and subnets (`edns::cookie`,
//! `edns::client_subnet`).

pub mod client_subnet;
pub mod cookie;
pub(crate) mod response;
pub(crate) mod sent;

use crate::edns::client_subnet::ClientSubnet;
use crate::edns::cookie::{CookieJar, SentCookie};
use crate::partial;
use crate::question::Question;
use hickory_proto::op::Edns;
use hickory_proto::rr::rdata::opt::{EdnsCode, EdnsOption};
use std::net::IpAddr;
use std::num::NonZeroU16;
use std::ops::RangeInclusive;
use std::str::FromStr;
use thiserror::Error;

/// The default EDNS(0) UDP payload size. Fits an IPv6 packet of minimum size, and is below the
/// 1,400 bytes allowed by RFC 9715 section 3.2.
pub const UDP_PAYLOAD_BYTES: u16 = 1232;
/// The allowed payload sizes. Smaller values mean 512 (RFC 6891 section 6.2.3); larger values
/// exceed the starting size suggested in section 6.2.5.
pub const UDP_PAYLOAD_RANGE_BYTES: RangeInclusive<u16> = 512..=4096;
/// Block size of the policy recommended for queries (RFC 8467 section 4.1).
const RFC8467_BLOCK_BYTES: u16 = 128;

/// The error for a text without a padding policy.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("read {0:?} as a padding policy: give rfc8467, none or a block size of 1 to 65535")]
pub struct PaddingError(String);

/// The padding policy of queries (RFC 7830). Only encrypted transports pad; without encryption the
/// option must not be used (RFC 7830 section 6).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Padding {
    /// Pad to a multiple of 128 bytes (RFC 8467 section 4.1).
    #[default]
    Rfc8467,
    /// Send no padding option.
    None,
    /// Pad to a multiple of this number of bytes.
    Block(NonZeroU16),
}

impl Padding {
    fn block_bytes(self) -> Option<u16> {
        match self {
            Self::Rfc8467 => Some(RFC8467_BLOCK_BYTES),
            Self::None => None,
            Self::Block(bytes) => Some(bytes.get()),
        }
    }
}

impl FromStr for Padding {
    type Err = PaddingError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "rfc8467" => Ok(Self::Rfc8467),
            "none" => Ok(Self::None),
            bytes => match bytes.parse() {
                Ok(bytes) => Ok(Self::Block(bytes)),
                Err(_) => Err(PaddingError(text.to_owned())),
            },
        }
    }
}

/// The EDNS options of all queries of a client. Each question sets DNSSEC OK separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EdnsOptions {
    /// The UDP payload size to announce, within `UDP_PAYLOAD_RANGE_BYTES`.
    pub udp_payload_bytes: u16,
    /// The padding policy on encrypted transports.
    pub padding: Padding,
    /// The client subnet. When absent, the option is left out and the resolver decides.
    pub client_subnet: Option<ClientSubnet>,
    /// True to send cookies (RFC 7873).
    pub has_cookie: bool,
    /// True to ask for the name server's identifier (NSID, RFC 5001).
    pub asks_identifier: bool,
}

impl Default for EdnsOptions {
    fn default() -> Self {
        Self {
            udp_payload_bytes: UDP_PAYLOAD_BYTES,
            padding: Padding::default(),
            client_subnet: None,
            has_cookie: false,
            asks_identifier: false,
        }
    }
}

/// The options of one client on its transport, with the client's cookies.
#[derive(Debug)]
pub struct ClientEdns {
    pub(crate) options: EdnsOptions,
    pub(crate) cookies: Option<CookieJar>,
    is_encrypted: bool,
}

impl ClientEdns {
    /// Makes the options for the resolver at an address.
    pub fn new(options: EdnsOptions, resolver: IpAddr, is_encrypted: bool) -> Self {
        Self {
            options,
            cookies: options.has_cookie.then(|| CookieJar::new(resolver)),
            is_encrypted,
        }
    }

    /// Returns the options for queries to another address, with separate cookies.
    pub(crate) fn with_resolver(&self, resolver: IpAddr) -> Self {
        Self::new(self.options, resolver, self.is_encrypted)
    }

    /// Returns the EDNS contents for a query with this question and cookie.
    pub fn query_contents(&self, question: &Question, cookie: Option<SentCookie>) -> QueryEdns {
        self.message_contents(Some(question), cookie)
    }

    /// Returns the EDNS contents for a message with any number of questions. The first question
    /// decides.
    pub(crate) fn message_contents(
        &self,
        first: Option<&Question>,
        cookie: Option<SentCookie>,
    ) -> QueryEdns {
        let block_bytes = self.options.padding.block_bytes();
        let (least, most) = (
            *UDP_PAYLOAD_RANGE_BYTES.start(),
            self.options.udp_payload_bytes,
        );
        let asked = first.and_then(|first| first.udp_payload_bytes);
        let asked = asked.filter(|_| !self.is_encrypted);
        let client_subnet = first.and_then(|first| first.client_subnet);
        QueryEdns {
            udp_payload_bytes: asked.map_or(most, |asked| asked.max(least).min(most)),
            client_subnet: client_subnet.or(self.options.client_subnet),
            cookie,
            asks_identifier: self.options.asks_identifier,
            takes_parts: false,
            padding_block_bytes: block_bytes.filter(|_| self.is_encrypted),
        }
    }
}

/// The contents of one query's OPT record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryEdns {
    pub(crate) udp_payload_bytes: u16,
    pub(crate) client_subnet: Option<ClientSubnet>,
    pub(crate) cookie: Option<SentCookie>,
    asks_identifier: bool,
    takes_parts: bool,
    padding_block_bytes: Option<u16>,
}

impl Default for QueryEdns {
    /// Returns the contents of a query without any option.
    fn default() -> Self {
        Self {
            udp_payload_bytes: UDP_PAYLOAD_BYTES,
            client_subnet: None,
            cookie: None,
            asks_identifier: false,
            takes_parts: false,
            padding_block_bytes: None,
        }
    }
}

impl QueryEdns {
    /// Adds the option announcing support for partial responses.
    pub(crate) fn accept_partial_responses(self) -> Self {
        Self {
            takes_parts: true,
            ..self
        }
    }

    /// Returns the EDNS contents for queries of a client without cookies.
    pub fn new_without_cookie(options: EdnsOptions, is_encrypted: bool) -> Self {
        Self {
            udp_payload_bytes: options.udp_payload_bytes,
            client_subnet: options.client_subnet,
            cookie: None,
            asks_identifier: options.asks_identifier,
            takes_parts: false,
            padding_block_bytes: options.padding.block_bytes().filter(|_| is_encrypted),
        }
    }

    /// Returns the OPT record. A padding option, if any, is last and empty: its length is known
    /// only after the rest of the message is written.
    pub(crate) fn record(&self, dnssec_ok: bool) -> Edns {
        let mut edns = Edns::new();
        edns.set_max_payload(self.udp_payload_bytes);
        edns.set_dnssec_ok(dnssec_ok);
        let options = edns.options_mut();
        if let Some(subnet) = self.client_subnet {
            options.insert(EdnsOption::Subnet(subnet.option()));
        }
        if let Some(cookie) = &self.cookie {
            let code = EdnsCode::Cookie.into();
            options.insert(EdnsOption::Unknown(code, cookie.bytes().to_vec()));
        }
        if self.asks_identifier {
            // Empty in queries (RFC 5001 section 2.1).
            options.insert(EdnsOption::Unknown(EdnsCode::NSID.into(), Vec::new()));
        }
        if self.takes_parts {
            options.insert(EdnsOption::Unknown(partial::OPTION, vec![partial::VERSION]));
        }
        if self.padding_block_bytes.is_some() {
            let code = EdnsCode::Padding.into();
            options.insert(EdnsOption::Unknown(code, Vec::new()));
        }
        edns
    }

    /// Returns the number of padding bytes missing from a message ending with an empty padding
    /// option. `None` without padding.
    pub(crate) fn missing_padding_bytes(&self, message_bytes: usize) -> Option<u16> {
        let block_bytes = usize::from(self.padding_block_bytes?);
        Some((message_bytes.next_multiple_of(block_bytes) - message_bytes) as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::build_query;
    use std::net::Ipv4Addr;

    /// The length of header, `a.test.`, type and class; then the OPT record's fixed part without
    /// its length follows.
    const BEFORE_OPT: usize = 12 + 8 + 4;
    const OPT_FIXED: [u8; 9] = [0, 0, 41, 0x04, 0xd0, 0, 0, 0, 0];

    fn query(options: EdnsOptions, cookie: Option<SentCookie>) -> Vec<u8> {
        let question = Question::parse("a.test", "A").unwrap();
        let edns = ClientEdns::new(options, Ipv4Addr::LOCALHOST.into(), true);
        let edns = edns.query_contents(&question, cookie);
        build_query(&question, 0, &edns).unwrap()
    }

    fn with_subnet(text: &str, padding: Padding) -> EdnsOptions {
        EdnsOptions {
            client_subnet: Some(text.parse().unwrap()),
            padding,
            ..EdnsOptions::default()
        }
    }

    fn subnet_option(text: &str) -> Vec<u8> {
        let query = query(with_subnet(text, Padding::None), None);
        let (fixed, rest) = query[BEFORE_OPT..].split_at(OPT_FIXED.len());
        assert_eq!(fixed, OPT_FIXED);
        let (length, options) = rest.split_at(2);
        assert_eq!(length, (options.len() as u16).to_be_bytes());
        options.to_vec()
    }

    #[test]
    fn a_subnet_goes_without_host_bits_and_no_longer_than_needed() {
        let v4 = subnet_option("192.0.2.77/24");
        assert_eq!(v4, [0, 8, 0, 7, 0, 1, 24, 0, 192, 0, 2]);
        let odd = subnet_option("192.0.2.255/25");
        assert_eq!(odd, [0, 8, 0, 8, 0, 1, 25, 0, 192, 0, 2, 0x80]);
        let whole = subnet_option("192.0.2.255/32");
        assert_eq!(whole, [0, 8, 0, 8, 0, 1, 32, 0, 192, 0, 2, 255]);
        let v6 = subnet_option("2001:db8:ffff::1/36");
        assert_eq!(v6[..8], [0, 8, 0, 9, 0, 2, 36, 0]);
        assert_eq!(v6[8..], [0x20, 0x01, 0x0d, 0xb8, 0xf0]);
    }

    #[test]
    fn off_is_a_subnet_of_no_length() {
        assert_eq!(subnet_option("off"), [0, 8, 0, 4, 0, 1, 0, 0]);
        assert_eq!(subnet_option("0.0.0.0/0"), subnet_option("off"));
        assert_eq!(subnet_option("::/0"), [0, 8, 0, 4, 0, 2, 0, 0]);
    }

    #[test]
    fn a_cookie_goes_as_it_is() {
        let cookie = SentCookie::new(*b"client-8", b"server-8");
        let options = EdnsOptions {
            padding: Padding::None,
            udp_payload_bytes: 4096,
            ..EdnsOptions::default()
        };
        let query = query(options, Some(cookie));
        let opt = &query[BEFORE_OPT..];
        assert_eq!(opt[..11], [0, 0, 41, 0x10, 0, 0, 0, 0, 0, 0, 20]);
        assert_eq!(opt[11..], *b"\x00\x0a\x00\x10client-8server-8");
    }

    #[test]
    fn an_identifier_is_asked_for_by_an_empty_option() {
        let options = EdnsOptions {
            padding: Padding::None,
            asks_identifier: true,
            ..EdnsOptions::default()
        };
        let query = query(options, None);
        assert_eq!(query[BEFORE_OPT + OPT_FIXED.len()..], [0, 4, 0, 3, 0, 0]);
    }

    #[test]
    fn padding_is_last_and_fills_the_block_whatever_comes_before() {
        for block in [1, 16, 128, 468, 1000] {
            for subnet in ["off", "192.0.2.0/24", "2001:db8::/128"] {
                let padding = Padding::Block(NonZeroU16::new(block).unwrap());
                let cookie = SentCookie::new([7; 8], &[9; 32]);
                let query = query(with_subnet(subnet, padding), Some(cookie));
                assert_eq!(query.len() % usize::from(block), 0, "{block} {subnet}");
                let message = hickory_proto::op::Message::from_vec(&query).unwrap();
                let options = message.edns.unwrap().options().options.clone();
                let codes: Vec<_> = options.iter().map(|(code, _)| *code).collect();
                let expected = [EdnsCode::Subnet, EdnsCode::Cookie, EdnsCode::Padding];
                assert_eq!(codes, expected);
                let length = usize::from(options[2].1.len());
                assert!(query[query.len() - length..].iter().all(|byte| *byte == 0));
            }
        }
    }

    #[test]
    fn nothing_is_padded_in_the_clear() {
        let edns = ClientEdns::new(EdnsOptions::default(), Ipv4Addr::LOCALHOST.into(), false);
        let question = Question::parse("a.test", "A").unwrap();
        assert_eq!(edns.query_contents(&question, None), QueryEdns::default());
    }

    #[test]
    fn an_asker_s_payload_size_counts_on_udp_up_to_ours_and_its_subnet_everywhere() {
        let own = with_subnet("192.0.2.0/24", Padding::None);
        let mut question = Question::parse("a.test", "A").unwrap();
        question.client_subnet = Some(ClientSubnet::OFF);
        for (asked, in_the_clear) in [(0, 512), (800, 800), (4096, UDP_PAYLOAD_BYTES)] {
            question.udp_payload_bytes = Some(asked);
            for (is_encrypted, expected) in [(false, in_the_clear), (true, UDP_PAYLOAD_BYTES)] {
                let edns = ClientEdns::new(own, Ipv4Addr::LOCALHOST.into(), is_encrypted);
                let edns = edns.query_contents(&question, None);
                assert_eq!(edns.udp_payload_bytes, expected);
                assert_eq!(edns.client_subnet, Some(ClientSubnet::OFF));
            }
        }
    }

    #[test]
    fn padding_policies_have_names() {
        assert_eq!("rfc8467".parse(), Ok(Padding::Rfc8467));
        assert_eq!("none".parse(), Ok(Padding::None));
        let block = Padding::Block(NonZeroU16::new(468).unwrap());
        assert_eq!("468".parse(), Ok(block));
        for text in ["0", "65536", "-1", "RFC8467", ""] {
            assert!(text.parse::<Padding>().is_err(), "{text}");
        }
    }
}
