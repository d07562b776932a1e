//! Reads DNS stamps (<https://dnscrypt.info/stamps-specifications>), `sdns://` and base64url. A
//! stamp is one line with everything a client must know of a resolver.
//!
//! Not for: the meaning of a resolver address (`resolver_address`). The properties (DNSSEC, no
//! logs, no filter) are skipped: they are promises.

use crate::zoned_address::ZonedAddress;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use resolab_record::DnsTransport;
use resolab_transport::client::Sha256;
use std::net::{IpAddr, SocketAddr};
use thiserror::Error;
use url::Host;

const SCHEME: &str = "sdns://";
const PROPERTIES_BYTES: usize = 8;
/// The port of DNS over UDP (RFC 1035 section 4.2.1).
const DNS_PORT: u16 = 53;
/// The bit in the length of a set's element when another element follows.
const MORE_FOLLOWS: u8 = 0x80;

/// The reason for a stamp that cannot be used. The message follows the stamp's text.
#[derive(Debug, Error)]
pub enum StampError {
    /// A stamp damaged in copying: no base64url.
    #[error("the stamp is no base64url without padding ({0}); copy it whole")]
    Encoding(base64::DecodeError),
    /// A stamp damaged in copying: too short.
    #[error("the stamp ends inside its {0}; copy it whole")]
    Truncated(&'static str),
    /// Bytes after the end of the stamp.
    #[error("{0} bytes follow the end of the stamp")]
    Trailing(usize),
    /// A known protocol, spoken by other clients only.
    #[error("the stamp is for {0}, which is not supported here; {SUPPORTED}")]
    Unsupported(&'static str),
    /// A protocol number missing from the specification.
    #[error("no protocol of stamps has the number {0:#04x}; {SUPPORTED}")]
    UnknownProtocol(u8),
    /// A part of the stamp without a meaning.
    #[error("the stamp's {part} is {found:?}, {expected}")]
    Part {
        /// The part, by name.
        part: &'static str,
        /// The part's text, with unreadable bytes replaced.
        found: String,
        /// The expected contents of the part.
        expected: &'static str,
    },
    /// A port with the address, and another port with the host name.
    #[error("the stamp gives two ports, {0} with its address and {1} with its host name")]
    TwoPorts(u16, u16),
    /// A stamp without a host name and without an address.
    #[error("the stamp gives neither a host name nor an address")]
    Nowhere,
}

const SUPPORTED: &str = "give one of plain DNS, DoH, DoT or DoQ, or a URL";

/// The contents of a stamp.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    /// The transport. DoH means HTTP/2, because stamps have no other number for DoH.
    pub transport: DnsTransport,
    /// The resolver's address; when absent, the host name must be looked up.
    pub address: Option<IpAddr>,
    /// The interface of a link-local address.
    pub zone: Option<String>,
    /// The host name in ASCII, or an address without brackets.
    pub host: String,
    /// The port, when different from the transport's default.
    pub port: Option<u16>,
    /// The DoH path as given: empty, or beginning with `/`.
    pub path: String,
    /// The accepted certificate hashes. A certificate of the resolver's chain must match a hash;
    /// empty accepts all.
    pub certificate_hashes: Vec<Sha256>,
    /// Resolvers over DoUDP for looking up the host name.
    pub bootstrap_resolvers: Vec<SocketAddr>,
}

impl Stamp {
    /// Reads a stamp; `None` when the text has another scheme.
    pub fn read(text: &str) -> Option<Result<Self, StampError>> {
        let (scheme, encoded) = text.split_at_checked(SCHEME.len())?;
        scheme.eq_ignore_ascii_case(SCHEME).then(|| {
            let bytes = URL_SAFE_NO_PAD.decode(encoded);
            Self::decode(&bytes.map_err(StampError::Encoding)?)
        })
    }

    fn decode(bytes: &[u8]) -> Result<Self, StampError> {
        let mut parts = UnreadStampBytes(bytes);
        let transport = transport_of(parts.take(1, "protocol")?[0])?;
        parts.take(PROPERTIES_BYTES, "properties")?;
        let (address, address_port) = read_address(parts.text("address")?)?;
        let stamp = if transport == DnsTransport::Doudp {
            let ZonedAddress { ip, zone } = address.ok_or(StampError::Nowhere)?;
            Self {
                transport,
                address: Some(ip),
                zone,
                host: ip.to_string(),
                port: address_port,
                path: String::new(),
                certificate_hashes: Vec::new(),
                bootstrap_resolvers: Vec::new(),
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

/// The bytes of the stamp not yet read.
struct UnreadStampBytes<'a>(&'a [u8]);

impl<'a> UnreadStampBytes<'a> {
    fn take(&mut self, count: usize, part: &'static str) -> Result<&'a [u8], StampError> {
        let (taken, rest) = self
            .0
            .split_at_checked(count)
            .ok_or(StampError::Truncated(part))?;
        self.0 = rest;
        Ok(taken)
    }

    /// Reads `LP()`: a length, then this number of bytes.
    fn text(&mut self, part: &'static str) -> Result<&'a str, StampError> {
        let length = self.take(1, part)?[0];
        let bytes = self.take(length.into(), part)?;
        std::str::from_utf8(bytes).map_err(|_| {
            let found = String::from_utf8_lossy(bytes);
            wrong(part, &found, "which is not UTF-8")
        })
    }

    /// Reads `VLP()`: elements with lengths. The empty set is an empty element.
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

    /// Reads the rest of a stamp of DoH, DoT or DoQ, after the address.
    fn encrypted(
        &mut self,
        transport: DnsTransport,
        address: Option<ZonedAddress>,
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
        let bootstrap = match self.0 {
            [] => Vec::new(),
            _ => self.set("bootstrap addresses")?,
        };
        if let (Some(first), Some(second)) = (address_port, host_port)
            && first != second
        {
            return Err(StampError::TwoPorts(first, second));
        }
        let (address, zone) = address.map(|zoned| (zoned.ip, zoned.zone)).unzip();
        let host = host.or(address.map(|ip| ip.to_string()));
        Ok(Stamp {
            transport,
            address,
            zone: zone.flatten(),
            host: host.ok_or(StampError::Nowhere)?,
            port: host_port.or(address_port),
            path,
            certificate_hashes: hashes
                .into_iter()
                .map(read_hash)
                .collect::<Result<_, _>>()?,
            bootstrap_resolvers: bootstrap
                .into_iter()
                .map(read_bootstrap)
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

/// Reads an empty text, `:PORT`, an address, or both. IPv6 addresses are in brackets.
fn read_address(text: &str) -> Result<(Option<ZonedAddress>, Option<u16>), StampError> {
    let bare = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
    if text.is_empty() {
        return Ok((None, None));
    } else if let Some((address, port)) = ZonedAddress::read_with_port(text) {
        return Ok((Some(address), Some(port)));
    } else if let Some(address) = ZonedAddress::read(text) {
        return Ok((Some(address), None));
    }
    let bracketed = bare.and_then(ZonedAddress::read);
    if let Some(address) = bracketed.filter(|address| address.ip.is_ipv6()) {
        return Ok((Some(address), None));
    }
    let port = text.strip_prefix(':').and_then(|port| port.parse().ok());
    port.map(|port| (None, Some(port)))
        .ok_or_else(|| wrong("address", text, "not an IP address with or without a port"))
}

/// Reads an empty text, or a host with or without a port.
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

/// Reads an address, with DoUDP's port unless another is given.
fn read_bootstrap(bytes: &[u8]) -> Result<SocketAddr, StampError> {
    let (part, expected) = (
        "bootstrap address",
        "not an IP address with or without a port",
    );
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    let no_address = || wrong(part, &String::from_utf8_lossy(bytes), expected);
    let (address, port) = read_address(text).map_err(|_| no_address())?;
    let address = address.ok_or_else(no_address)?;
    let no_zone = |_| wrong(part, text, "without the zone of an interface of this host");
    address.with_port(port.unwrap_or(DNS_PORT)).map_err(no_zone)
}

fn read_hash(bytes: &[u8]) -> Result<Sha256, StampError> {
    bytes.try_into().map(Sha256).map_err(|_| {
        let found = format!("{} bytes long", bytes.len());
        wrong("certificate hash", &found, "where SHA-256 has 32 bytes")
    })
}

#[cfg(test)]
mod tests;
