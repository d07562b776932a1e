//! Reads DNS stamps (<https://dnscrypt.info/stamps-specifications>), `sdns://` and base64url: all a
//! client must know of a resolver in one line.
//! Not for: what a resolver address means here; that is `resolver_address`. Properties (DNSSEC, no
//! logs, no filter) and the resolvers to look the name up with are read over: the one is a promise,
//! the other is before every clock, where the system is asked.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use resolab_record::DnsTransport;
use resolab_transport::client::Sha256;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use thiserror::Error;
use url::Host;

const SCHEME: &str = "sdns://";
const PROPERTIES_BYTES: usize = 8;
/// The length of an element of a set has this bit when another element follows.
const MORE_FOLLOWS: u8 = 0x80;

/// Why a stamp cannot be used. Reads after the stamp itself.
#[derive(Debug, Error)]
pub enum StampError {
    /// Damaged in copying.
    #[error("the stamp is no base64url without padding ({0}); copy it whole")]
    Encoding(base64::DecodeError),
    /// Damaged in copying.
    #[error("the stamp ends inside its {0}; copy it whole")]
    Truncated(&'static str),
    /// More than a stamp.
    #[error("{0} bytes follow the end of the stamp")]
    Trailing(usize),
    /// Known, and spoken by other clients only.
    #[error("the stamp is for {0}, which is not supported here; {SUPPORTED}")]
    Unsupported(&'static str),
    /// Not in the specification.
    #[error("no protocol of stamps has the number {0:#04x}; {SUPPORTED}")]
    UnknownProtocol(u8),
    /// One of its parts means nothing.
    #[error("the stamp's {part} is {found:?}, {expected}")]
    Part {
        /// Which.
        part: &'static str,
        /// As it stands there, unreadable bytes replaced.
        found: String,
        /// What should be there.
        expected: &'static str,
    },
    /// Its address and its host each have a port.
    #[error("the stamp gives two ports, {0} with its address and {1} with its host name")]
    TwoPorts(u16, u16),
    /// Nowhere to connect to.
    #[error("the stamp gives neither a host name nor an address")]
    Nowhere,
}

const SUPPORTED: &str = "give one of plain DNS, DoH, DoT or DoQ, or a URL";

/// What a stamp says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    /// Transport; DoH is over HTTP/2, stamps know no other.
    pub transport: DnsTransport,
    /// Where the resolver is; otherwise the host name must be looked up.
    pub address: Option<IpAddr>,
    /// Host name in ASCII, or an address without brackets.
    pub host: String,
    /// Port, unless it is the transport's own.
    pub port: Option<u16>,
    /// Path of DoH as given: empty, or with `/` in front.
    pub path: String,
    /// One certificate of the resolver's chain must be one of them, unless there are none.
    pub certificate_hashes: Vec<Sha256>,
}

impl Stamp {
    /// Read a stamp; `None` when the text is not meant to be one.
    pub fn read(text: &str) -> Option<Result<Self, StampError>> {
        let (scheme, encoded) = text.split_at_checked(SCHEME.len())?;
        scheme.eq_ignore_ascii_case(SCHEME).then(|| {
            let bytes = URL_SAFE_NO_PAD.decode(encoded);
            Self::decode(&bytes.map_err(StampError::Encoding)?)
        })
    }

    fn decode(bytes: &[u8]) -> Result<Self, StampError> {
        let mut parts = Parts(bytes);
        let transport = transport_of(parts.take(1, "protocol")?[0])?;
        parts.take(PROPERTIES_BYTES, "properties")?;
        let (address, address_port) = read_address(parts.text("address")?)?;
        let stamp = if transport == DnsTransport::Doudp {
            let ip = address.ok_or(StampError::Nowhere)?;
            Self {
                transport,
                address,
                host: ip.to_string(),
                port: address_port,
                path: String::new(),
                certificate_hashes: Vec::new(),
            }
        } else {
            parts.encrypted(transport, address, address_port)?
        };
        if stamp.port == Some(0) {
            return Err(wrong("port", "0", "not one of 1 to 65535"));
        }
        match parts.0.len() {
            0 => Ok(stamp),
            count => Err(StampError::Trailing(count)),
        }
    }
}

/// What has not been read yet.
struct Parts<'a>(&'a [u8]);

impl<'a> Parts<'a> {
    fn take(&mut self, count: usize, part: &'static str) -> Result<&'a [u8], StampError> {
        let (taken, rest) = self
            .0
            .split_at_checked(count)
            .ok_or(StampError::Truncated(part))?;
        self.0 = rest;
        Ok(taken)
    }

    /// `LP()`: a length, then so many bytes.
    fn text(&mut self, part: &'static str) -> Result<&'a str, StampError> {
        let length = self.take(1, part)?[0];
        let bytes = self.take(length.into(), part)?;
        std::str::from_utf8(bytes).map_err(|_| {
            let found = String::from_utf8_lossy(bytes);
            wrong(part, &found, "which is not UTF-8")
        })
    }

    /// `VLP()`: elements with lengths; the empty set is one empty element.
    fn set(&mut self, part: &'static str) -> Result<Vec<&'a [u8]>, StampError> {
        let mut elements = Vec::new();
        loop {
            let length = self.take(1, part)?[0];
            let element = self.take((length & !MORE_FOLLOWS).into(), part)?;
            if !element.is_empty() {
                elements.push(element);
            }
            if length & MORE_FOLLOWS == 0 {
                return Ok(elements);
            }
        }
    }

    /// What follows the address in stamps of DoH, DoT and DoQ.
    fn encrypted(
        &mut self,
        transport: DnsTransport,
        address: Option<IpAddr>,
        address_port: Option<u16>,
    ) -> Result<Stamp, StampError> {
        let hashes = self.set("certificate hashes")?;
        let (host, host_port) = read_host(self.text("host name")?)?;
        let path = match transport {
            DnsTransport::Doh => read_path(self.text("path")?)?,
            DnsTransport::Doudp
            | DnsTransport::Dotcp
            | DnsTransport::Dot
            | DnsTransport::Doh3
            | DnsTransport::Doq => String::new(),
        };
        if !self.0.is_empty() {
            self.set("bootstrap addresses")?;
        }
        if let (Some(first), Some(second)) = (address_port, host_port)
            && first != second
        {
            return Err(StampError::TwoPorts(first, second));
        }
        let host = host.or(address.map(|ip| ip.to_string()));
        Ok(Stamp {
            transport,
            address,
            host: host.ok_or(StampError::Nowhere)?,
            port: host_port.or(address_port),
            path,
            certificate_hashes: hashes
                .into_iter()
                .map(read_hash)
                .collect::<Result<_, _>>()?,
        })
    }
}

fn wrong(part: &'static str, found: &str, expected: &'static str) -> StampError {
    StampError::Part {
        part,
        found: found.to_owned(),
        expected,
    }
}

fn transport_of(protocol: u8) -> Result<DnsTransport, StampError> {
    Err(StampError::Unsupported(match protocol {
        0x00 => return Ok(DnsTransport::Doudp),
        0x02 => return Ok(DnsTransport::Doh),
        0x03 => return Ok(DnsTransport::Dot),
        0x04 => return Ok(DnsTransport::Doq),
        0x01 => "DNSCrypt",
        0x05 => "Oblivious DoH",
        0x81 => "an anonymized DNSCrypt relay",
        0x85 => "an Oblivious DoH relay",
        _ => return Err(StampError::UnknownProtocol(protocol)),
    }))
}

/// Nothing, `:PORT`, an address, or both; version 6 in brackets.
fn read_address(text: &str) -> Result<(Option<IpAddr>, Option<u16>), StampError> {
    let bare = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
    if text.is_empty() {
        return Ok((None, None));
    } else if let Ok(address) = text.parse::<SocketAddr>() {
        return Ok((Some(address.ip()), Some(address.port())));
    } else if let Ok(ip) = text.parse() {
        return Ok((Some(ip), None));
    } else if let Some(Ok(ip)) = bare.map(str::parse::<Ipv6Addr>) {
        return Ok((Some(ip.into()), None));
    }
    let port = text.strip_prefix(':').and_then(|port| port.parse().ok());
    port.map(|port| (None, Some(port)))
        .ok_or_else(|| wrong("address", text, "not an IP address with or without a port"))
}

/// Nothing, or a host with or without a port.
fn read_host(text: &str) -> Result<(Option<String>, Option<u16>), StampError> {
    let no_host = || wrong("host name", text, "not a host with or without a port");
    if text.is_empty() {
        return Ok((None, None));
    } else if let Ok(ip) = text.parse::<IpAddr>() {
        return Ok((Some(ip.to_string()), None));
    }
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !text.ends_with(']') => {
            (host, Some(port.parse().map_err(|_| no_host())?))
        }
        _ => (text, None),
    };
    let host = match Host::parse(host).map_err(|_| no_host())? {
        Host::Domain(name) => name,
        Host::Ipv4(ip) => ip.to_string(),
        Host::Ipv6(ip) => ip.to_string(),
    };
    Ok((Some(host), port))
}

fn read_path(text: &str) -> Result<String, StampError> {
    if text.is_empty() || text.starts_with('/') {
        Ok(text.to_owned())
    } else {
        Err(wrong("path", text, "which does not begin with /"))
    }
}

fn read_hash(bytes: &[u8]) -> Result<Sha256, StampError> {
    bytes.try_into().map(Sha256).map_err(|_| {
        let found = format!("{} bytes long", bytes.len());
        wrong("certificate hash", &found, "where SHA-256 has 32 bytes")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Append the parts, each with its length in front.
    fn stamp(protocol: u8, parts: &[&[u8]]) -> String {
        let mut bytes = vec![protocol, 7, 0, 0, 0, 0, 0, 0, 0];
        for part in parts {
            bytes.push(part.len() as u8);
            bytes.extend_from_slice(part);
        }
        encode(&bytes)
    }

    fn encode(bytes: &[u8]) -> String {
        format!("sdns://{}", URL_SAFE_NO_PAD.encode(bytes))
    }

    fn read(text: &str) -> Result<Stamp, StampError> {
        Stamp::read(text).unwrap()
    }

    fn says(text: &str) -> String {
        let error = read(text).unwrap_err().to_string();
        assert!(!error.contains('\n'), "{error}");
        error
    }

    #[test]
    fn stamps_made_by_others() {
        // AdGuard's public DoT stamp, and Cloudflare's for DoH in the list of public resolvers.
        let dot = read("sdns://AwAAAAAAAAAAAAAPZG5zLmFkZ3VhcmQuY29t").unwrap();
        assert_eq!(
            (dot.transport, dot.host.as_str()),
            (DnsTransport::Dot, "dns.adguard.com")
        );
        assert_eq!((dot.address, dot.port), (None, None));
        let doh = read("sdns://AgcAAAAAAAAABzEuMC4wLjEAEmRucy5jbG91ZGZsYXJlLmNvbQovZG5zLXF1ZXJ5");
        let doh = doh.unwrap();
        assert_eq!(doh.transport, DnsTransport::Doh);
        assert_eq!(doh.address, Some("1.0.0.1".parse().unwrap()));
        assert_eq!(doh.host, "dns.cloudflare.com");
        assert_eq!(doh.path, "/dns-query");
        assert!(doh.certificate_hashes.is_empty());
    }

    #[test]
    fn every_part_is_read() {
        let mut bytes = vec![2, 0, 0, 0, 0, 0, 0, 0, 0];
        bytes.extend_from_slice(b"\x0d[2620:fe::fe]");
        bytes.push(0x80 | 32);
        bytes.extend_from_slice(&[1; 32]);
        bytes.push(32);
        bytes.extend_from_slice(&[2; 32]);
        bytes.extend_from_slice(b"\x10dns.example:8443\x02/q");
        bytes.extend_from_slice(b"\x879.9.9.9\x071.1.1.1");
        let expected = Stamp {
            transport: DnsTransport::Doh,
            address: Some("2620:fe::fe".parse().unwrap()),
            host: "dns.example".to_owned(),
            port: Some(8443),
            path: "/q".to_owned(),
            certificate_hashes: vec![Sha256([1; 32]), Sha256([2; 32])],
        };
        assert_eq!(read(&encode(&bytes)).unwrap(), expected);
        for cut in 0..bytes.len() {
            // Bootstrap addresses may be missing altogether.
            let is_whole = cut == bytes.len() - 16;
            assert_eq!(read(&encode(&bytes[..cut])).is_ok(), is_whole, "{cut}");
        }
        bytes.push(0);
        assert!(says(&encode(&bytes)).contains("1 bytes follow the end"));
    }

    #[test]
    fn addresses_hosts_and_ports() {
        type Expected<'a> = (Option<&'a str>, &'a str, Option<u16>);
        let cases: [(&[u8], &[u8], Expected<'_>); 9] = [
            (b"", b"dns.example", (None, "dns.example", None)),
            (b":8853", b"dns.example", (None, "dns.example", Some(8853))),
            (
                b"192.0.2.1:853",
                b"a.b:853",
                (Some("192.0.2.1"), "a.b", Some(853)),
            ),
            (
                b"[2001:db8::1]:85",
                b"a.b",
                (Some("2001:db8::1"), "a.b", Some(85)),
            ),
            (b"2001:db8::1", b"a.b", (Some("2001:db8::1"), "a.b", None)),
            (b"192.0.2.1", b"", (Some("192.0.2.1"), "192.0.2.1", None)),
            (b"", b"[2001:db8::1]:85", (None, "2001:db8::1", Some(85))),
            (b"", b"[2001:db8::1]", (None, "2001:db8::1", None)),
            (
                b"",
                "dns.m\u{fc}ller.example".as_bytes(),
                (None, "dns.xn--mller-kva.example", None),
            ),
        ];
        for (address, host, expected) in cases {
            let stamp = read(&stamp(4, &[address, b"", host])).unwrap();
            let ip = expected.0.map(|ip| ip.parse().unwrap());
            assert_eq!(
                (
                    stamp.transport,
                    stamp.address,
                    stamp.host.as_str(),
                    stamp.port
                ),
                (DnsTransport::Doq, ip, expected.1, expected.2)
            );
        }
        let plain = read(&stamp(0, &[b"[2001:db8::1]:5300"])).unwrap();
        assert_eq!(
            (plain.transport, plain.port),
            (DnsTransport::Doudp, Some(5300))
        );
        assert_eq!(plain.host, "2001:db8::1");
    }

    #[test]
    fn errors_name_what_is_wrong() {
        let cases: [(String, &str); 18] = [
            (
                stamp(1, &[b"192.0.2.1"]),
                "for DNSCrypt, which is not supported",
            ),
            (
                stamp(5, &[b"a.b", b"/"]),
                "for Oblivious DoH, which is not supported",
            ),
            (stamp(0x81, &[b""]), "an anonymized DNSCrypt relay"),
            (stamp(0x85, &[b""]), "an Oblivious DoH relay"),
            (stamp(6, &[b""]), "the number 0x06"),
            (stamp(0, &[b""]), "neither a host name nor an address"),
            (
                stamp(3, &[b"", b"", b""]),
                "neither a host name nor an address",
            ),
            (
                stamp(3, &[b"a.b", b"", b"a.b"]),
                "address is \"a.b\", not an IP",
            ),
            (stamp(3, &[b":99999", b"", b"a.b"]), "address is \":99999\""),
            (stamp(3, &[b"", b"", b"a.b:x"]), "host name is \"a.b:x\""),
            (stamp(3, &[b"", b"", b"a/b\n"]), "host name is \"a/b\\n\""),
            (stamp(3, &[b"", b"", b"\xff"]), "not UTF-8"),
            (
                stamp(3, &[b":1", b"", b"a.b:2"]),
                "two ports, 1 with its address and 2",
            ),
            (
                stamp(3, &[b"", b"abc", b"a.b"]),
                "\"3 bytes long\", where SHA-256",
            ),
            (stamp(2, &[b"", b"", b"a.b", b"q"]), "path is \"q\""),
            (stamp(2, &[b"", b"", b"a.b"]), "ends inside its path"),
            ("sdns://AgcA=".to_owned(), "no base64url"),
            (stamp(0, &[b"192.0.2.1:0"]), "port is \"0\""),
        ];
        for (text, expected) in cases {
            let error = says(&text);
            assert!(error.contains(expected), "{error}");
        }
        assert!(says("sdns://").contains("inside its protocol"));
        assert!(says("SDNS://AwcA").contains("inside its properties"));
    }

    #[test]
    fn other_texts_are_no_stamps() {
        for text in ["", "sdns:/", "tls://dns.example", "sdns\u{fc}://x"] {
            assert!(Stamp::read(text).is_none(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_texts_and_bytes_do_no_harm(
            text: String,
            protocol in 0..6_u8,
            bytes: Vec<u8>,
            parts in prop::collection::vec("[ -~]{0,20}", 0..5),
        ) {
            let _ = Stamp::read(&text);
            let _ = Stamp::read(&format!("sdns://{text}"));
            let _ = Stamp::read(&encode(&bytes));
            let _ = Stamp::decode(&[&[protocol; 9][..], &bytes].concat());
            let parts: Vec<&[u8]> = parts.iter().map(String::as_bytes).collect();
            let _ = Stamp::read(&stamp(protocol, &parts));
            let _ = stamp(protocol, &parts).parse::<crate::ResolverAddress>();
        }
    }
}
