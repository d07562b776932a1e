//! An IP address as typed, with the zone of a link-local address (RFC 4007 section 11):
//! `fe80::1%eth0`. Not for: finding the interface (the connecting code).

use std::net::{IpAddr, SocketAddr};

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

/// Splits the zone from an address or from the address of a URL. `None` when the zone is empty. In
/// URLs the `%` is written `%25` (RFC 6874 section 2), or plainly as elsewhere, because people type
/// it so.
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
