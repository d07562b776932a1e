//! An IP address as it is typed, with the zone of one that is good on one link alone (RFC 4007 section
//! 11): `fe80::1%eth0`. Not for: which interface that is; that is for whoever connects.

use std::net::{IpAddr, SocketAddr};

/// An address, and the name or number of the interface it is behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZonedAddress {
    /// The address.
    pub ip: IpAddr,
    /// As typed; version 6 only.
    pub zone: Option<String>,
}

impl ZonedAddress {
    /// Read `ADDRESS` or `ADDRESS%ZONE`.
    pub fn read(text: &str) -> Option<Self> {
        let (text, zone) = split_zone(text)?;
        let ip: IpAddr = text.parse().ok()?;
        (zone.is_none() || ip.is_ipv6()).then_some(Self { ip, zone })
    }

    /// The same with a port behind it, which version 6 is in brackets before.
    pub fn read_with_port(text: &str) -> Option<(Self, u16)> {
        let (text, zone) = split_zone(text)?;
        let address: SocketAddr = text.parse().ok()?;
        let ip = address.ip();
        (zone.is_none() || ip.is_ipv6()).then(|| (Self { ip, zone }, address.port()))
    }
}

/// An address or a URL without the zone of its address, and that zone; `None` where that is empty. In URLs
/// the `%` before it is `%25` (RFC 6874 section 2), or as it is elsewhere, for people type it so.
pub fn split_zone(text: &str) -> Option<(String, Option<String>)> {
    let end_of_address = match text.find('[') {
        Some(start) => start + text[start..].find(']').unwrap_or(text.len() - start),
        None => text.len(),
    };
    let Some(at) = text[..end_of_address].find('%') else {
        return Some((text.to_owned(), None));
    };
    let typed = &text[at + 1..end_of_address];
    let zone = typed.strip_prefix("25").filter(|zone| !zone.is_empty());
    let zone = zone.unwrap_or(typed);
    let without = format!("{}{}", &text[..at], &text[end_of_address..]);
    (!zone.is_empty()).then(|| (without, Some(zone.to_owned())))
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
        ] {
            let expected = Some((without.to_owned(), zone.map(str::to_owned)));
            assert_eq!(split_zone(text), expected, "{text}");
        }
        assert_eq!(split_zone("fe80::1%"), None);
    }

    #[test]
    fn only_version_6_has_zones() {
        assert_eq!(ZonedAddress::read("192.0.2.1%eth0"), None);
        assert_eq!(ZonedAddress::read("::1").unwrap().zone, None);
        let (address, port) = ZonedAddress::read_with_port("[fe80::1%3]:5300").unwrap();
        assert_eq!((address.zone.as_deref(), port), (Some("3"), 5300));
    }
}
