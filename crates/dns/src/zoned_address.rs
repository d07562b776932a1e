//! An IP address as typed, with the zone of a link-local address (RFC 4007 section 11):
//! `fe80::1%eth0`. Not for: finding the interface (the connecting code).

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

/// An address, and the name or number of its interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZonedAddress {
    /// The IP address without its zone.
    pub ip: IpAddr,
    /// The zone as typed; IPv6 only.
    pub zone: Option<String>,
}

impl ZonedAddress {
    /// Reads `ADDRESS` or `ADDRESS%ZONE`; `None` for other text.
    pub fn read(text: &str) -> Option<Self> {
        let (text, zone) = split_zone(text)?;
        let ip: IpAddr = text.parse().ok()?;
        (zone.is_none() || ip.is_ipv6()).then_some(Self { ip, zone })
    }

    /// Reads an address followed by a port. IPv6 addresses are in brackets.
    pub fn read_with_port(text: &str) -> Option<(Self, u16)> {
        let (text, zone) = split_zone(text)?;
        let address: SocketAddr = text.parse().ok()?;
        let ip = address.ip();
        (zone.is_none() || ip.is_ipv6()).then(|| (Self { ip, zone }, address.port()))
    }
}

/// The error for a text that is no address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an IP address, such as 192.0.2.1 or fe80::1%eth0")]
pub struct ZonedAddressError;

impl FromStr for ZonedAddress {
    type Err = ZonedAddressError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::read(text).ok_or(ZonedAddressError)
    }
}

/// Splits the zone from an address or from the address of a URL. `None` when the zone is empty. In
/// URLs the `%` is written `%25` (RFC 6874 section 2), or plainly as elsewhere, because people type
/// it so. A percent sign at any other place begins no zone.
pub fn split_zone(text: &str) -> Option<(String, Option<String>)> {
    let Some((at, end)) = zone_of(text) else {
        return Some((text.to_owned(), None));
    };
    let typed = &text[at + 1..end];
    let zone = typed.strip_prefix("25").filter(|zone| !zone.is_empty());
    let zone = zone.unwrap_or(typed);
    let without = format!("{}{}", &text[..at], &text[end..]);
    (!zone.is_empty()).then(|| (without, Some(zone.to_owned())))
}

/// Finds the percent sign of a zone and the zone's end. A zone stands within the brackets of the
/// host, or behind an IPv6 address without brackets.
fn zone_of(text: &str) -> Option<(usize, usize)> {
    let host_at = host_start(text);
    let host = &text[host_at..];
    let percent_at = host.find('%')?;
    let end = if host.starts_with('[') {
        host.find(']').unwrap_or(host.len())
    } else {
        let is_address = host_at == 0 && host[..percent_at].parse::<Ipv6Addr>().is_ok();
        is_address.then_some(host.len())?
    };
    (percent_at < end).then_some((host_at + percent_at, host_at + end))
}

/// Returns the start of the host: the start of the text, or behind the scheme and the user name of
/// a URL.
fn host_start(text: &str) -> usize {
    let Some(scheme_end) = text.find("://") else {
        return 0;
    };
    let start = scheme_end + "://".len();
    let rest = &text[start..];
    let authority_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let user_end = rest[..authority_end].rfind('@').map_or(0, |at| at + 1);
    start + user_end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_of_addresses_and_urls() {
        for (text, without, zone) in [
            ("fe80::1%lo", "fe80::1", Some("lo")),
            ("[fe80::1%eth0]:53", "[fe80::1]:53", Some("eth0")),
            (
                "udp://[fe80::1%25eth0]:53",
                "udp://[fe80::1]:53",
                Some("eth0"),
            ),
            ("quic://[fe80::1%2]", "quic://[fe80::1]", Some("2")),
            ("quic://[fe80::1%25]", "quic://[fe80::1]", Some("25")),
            ("https://[::1]/a%20b", "https://[::1]/a%20b", None),
            (
                "https://me@[fe80::1%lo]/a%20b",
                "https://me@[fe80::1]/a%20b",
                Some("lo"),
            ),
        ] {
            let expected = Some((without.to_owned(), zone.map(str::to_owned)));
            assert_eq!(split_zone(text), expected, "{text}");
        }
        assert_eq!(split_zone("fe80::1%"), None);
    }

    #[test]
    fn a_percent_sign_outside_the_host_begins_no_zone() {
        for text in [
            "https://127.0.0.1:4502/a%20b",
            "https://dns.example/q?t=x%3D",
            "https://dns.example/[%20]",
            "https://dns.example/?t=[a%3Db]",
            "https://me%20you@dns.example/",
            "https://dns%2Eexample/",
            "tls://m%C3%BCnchen.test",
            "dns.example%20",
            "192.0.2.1%eth0",
        ] {
            assert_eq!(split_zone(text), Some((text.to_owned(), None)), "{text}");
        }
    }

    #[test]
    fn only_version_6_has_zones() {
        assert_eq!(ZonedAddress::read("192.0.2.1%eth0"), None);
        assert_eq!(ZonedAddress::read("::1").unwrap().zone, None);
        let (address, port) = ZonedAddress::read_with_port("[fe80::1%3]:5300").unwrap();
        assert_eq!((address.zone.as_deref(), port), (Some("3"), 5300));
    }
}
