//! Reads DNS stamps (<https://dnscrypt.info/stamps-specifications>), `sdns://` and base64url: all a
//! client must know of a resolver in one line.
//! Not for: what a resolver address means here; that is `resolver_address`. Properties (DNSSEC, no logs, no
//! filter) are skipped: they are promises.

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
/// RFC 1035 section 4.2.1.
const DNS_PORT: u16 = 53;
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
        /// The part, by name.
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
    /// Interface that the address is behind, where it is of one link.
    pub zone: Option<String>,
    /// Host name in ASCII, or an address without brackets.
    pub host: String,
    /// Port, unless it is the transport's own.
    pub port: Option<u16>,
    /// Path of DoH as given: empty, or with `/` in front.
    pub path: String,
    /// One certificate of the resolver's chain must be one of them, unless there are none.
    pub certificate_hashes: Vec<Sha256>,
    /// Resolvers over DoUDP that know the host name.
    pub bootstrap_resolvers: Vec<SocketAddr>,
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

    /// `LP()`: a length, then that number of bytes.
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
        let (address, zone) = address.map(|one| (one.ip, one.zone)).unzip();
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

/// Nothing, `:PORT`, an address, or both; version 6 in brackets.
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

/// DoUDP's port unless another is given.
fn read_bootstrap(bytes: &[u8]) -> Result<SocketAddr, StampError> {
    let (part, expected) = (
        "bootstrap address",
        "not an IP address with or without a port",
    );
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    let no_address = || wrong(part, &String::from_utf8_lossy(bytes), expected);
    let (address, port) = read_address(text).map_err(|_| no_address())?;
    let address = address.ok_or_else(no_address)?;
    Ok(SocketAddr::new(address.ip, port.unwrap_or(DNS_PORT)))
}

fn read_hash(bytes: &[u8]) -> Result<Sha256, StampError> {
    bytes.try_into().map(Sha256).map_err(|_| {
        let found = format!("{} bytes long", bytes.len());
        wrong("certificate hash", &found, "where SHA-256 has 32 bytes")
    })
}

#[cfg(test)]
mod tests;
