//! The scope of the lab's authority: names outside the public DNS, and addresses without public
//! routes. The authority's certificate has these constraints (RFC 5280 section 4.2.1.10). A leaked
//! key can thus impersonate no server outside the lab.
//!
//! Not for: the names served by an edge, see the edge's configuration.

use rcgen::{CidrSubnet, GeneralSubtree, NameConstraints};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Special-use domains (RFC 6761); pages and resolvers of the lab are below `resolab.test`.
const DOMAINS: [&str; 4] = ["test", "example", "invalid", "localhost"];

/// Private, shared, loopback, link-local, benchmarking and documentation networks (RFC 6890, RFC 5737), with
/// their prefix lengths.
const V4_NETWORKS: [([u8; 4], u8); 10] = [
    ([10, 0, 0, 0], 8),
    ([100, 64, 0, 0], 10),
    ([127, 0, 0, 0], 8),
    ([169, 254, 0, 0], 16),
    ([172, 16, 0, 0], 12),
    ([192, 0, 2, 0], 24),
    ([192, 168, 0, 0], 16),
    ([198, 18, 0, 0], 15),
    ([198, 51, 100, 0], 24),
    ([203, 0, 113, 0], 24),
];

/// Loopback, unique local, link-local and documentation networks (RFC 3849, RFC 9637).
const V6_NETWORKS: [([u16; 8], u8); 5] = [
    ([0, 0, 0, 0, 0, 0, 0, 1], 128),
    ([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7),
    ([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10),
    ([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32),
    ([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20),
];

/// Returns the name constraints for the authority's certificate.
pub(super) fn constraints() -> NameConstraints {
    let domains = DOMAINS.map(|domain| GeneralSubtree::DnsName(domain.to_owned()));
    let networks = networks().map(|(network, prefix)| {
        GeneralSubtree::IpAddress(CidrSubnet::from_addr_prefix(network, prefix))
    });
    NameConstraints {
        permitted_subtrees: domains.into_iter().chain(networks).collect(),
        excluded_subtrees: Vec::new(),
    }
}

/// Returns the reason to refuse certificates for this name; `None` for a permitted name.
pub(super) fn refusal(name: &str) -> Option<String> {
    let (is_inside, may_be) = match name.parse::<IpAddr>() {
        Ok(address) => (
            networks().any(|(network, prefix)| holds(network, prefix, address)),
            "private, loopback and documentation addresses".to_owned(),
        ),
        Err(_) => (
            DOMAINS.contains(&name.to_ascii_lowercase().rsplit('.').next().unwrap_or("")),
            format!("names below {}", DOMAINS.join(", ")),
        ),
    };
    (!is_inside).then(|| format!("{name} is not the lab's authority's to sign; use {may_be}"))
}

fn networks() -> impl Iterator<Item = (IpAddr, u8)> {
    let v4 = V4_NETWORKS.map(|(octets, prefix)| (Ipv4Addr::from(octets).into(), prefix));
    let v6 = V6_NETWORKS.map(|(segments, prefix)| (Ipv6Addr::from(segments).into(), prefix));
    v4.into_iter().chain(v6)
}

fn holds(network: IpAddr, prefix: u8, address: IpAddr) -> bool {
    match (network, address) {
        (IpAddr::V4(network), IpAddr::V4(address)) => {
            (network.to_bits() ^ address.to_bits()).leading_zeros() >= u32::from(prefix)
        }
        (IpAddr::V6(network), IpAddr::V6(address)) => {
            (network.to_bits() ^ address.to_bits()).leading_zeros() >= u32::from(prefix)
        }
        (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_addresses_of_the_lab_are_signed_and_no_others() {
        for inside in [
            "dns.resolab.test",
            "*.cdn.Resolab.TEST",
            "dns.example",
            "localhost",
            "10.77.1.9",
            "127.9.8.7",
            "192.168.0.1",
            "192.0.2.9",
            "198.51.100.9",
            "203.0.113.9",
            "2001:db8::1",
            "3fff:0fff::1",
            "::1",
            "fd77::1",
            "fe80::1",
        ] {
            assert_eq!(refusal(inside), None, "{inside}");
        }
        for outside in [
            "www.example.com",
            "test.com",
            "",
            "9.9.9.9",
            "11.0.0.1",
            "198.51.101.1",
            "3fff:1000::1",
            "::2",
            "2620:fe::fe",
        ] {
            let line = refusal(outside).unwrap();
            assert!(
                line.starts_with(outside) && line.contains("; use "),
                "{line}"
            );
        }
    }
}
