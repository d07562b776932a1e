//! The two hosts of a path, with names and addresses. Every service inside a path has these
//! addresses, for every user. Configurations and records can therefore be compared. IPv6 exists
//! only on request: a host with an IPv6 address asks more of a resolver (AAAA beside A).

pub mod anchor;
pub mod capabilities;
pub mod device;
pub(crate) mod interface;
pub mod namespace;
pub(crate) mod remedies;
pub mod rights;
pub mod tun;

use std::net::{Ipv4Addr, Ipv6Addr};

/// A host at an end of the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Host {
    /// Where stub resolvers and browsers run.
    Client,
    /// Where the resolver and every origin server run.
    Server,
}

/// Both hosts, in the order of making.
pub const HOSTS: [Host; 2] = [Host::Client, Host::Server];

/// The client host's address.
pub const CLIENT_ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 2);
/// The server host's first address, the resolver's.
pub const SERVER_ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);
/// Prefix length of the network between the two.
pub const LINK_PREFIX_LENGTH: u8 = 24;
/// A network delivered entirely to the server host. Origins therefore need no set-up.
pub const SERVER_NETWORK: Ipv4Addr = Ipv4Addr::new(10, 77, 1, 0);
/// Prefix length of [`SERVER_NETWORK`].
pub const SERVER_NETWORK_PREFIX_LENGTH: u8 = 24;
/// Further networks delivered to the server host, for pages with more names than [`SERVER_NETWORK`]
/// has addresses. Together they are all of 10.77.0.0/16 except the network between the two hosts.
pub const FURTHER_SERVER_NETWORKS: [(Ipv4Addr, u8); 7] = [
    (Ipv4Addr::new(10, 77, 2, 0), 23),
    (Ipv4Addr::new(10, 77, 4, 0), 22),
    (Ipv4Addr::new(10, 77, 8, 0), 21),
    (Ipv4Addr::new(10, 77, 16, 0), 20),
    (Ipv4Addr::new(10, 77, 32, 0), 19),
    (Ipv4Addr::new(10, 77, 64, 0), 18),
    (Ipv4Addr::new(10, 77, 128, 0), 17),
];
/// The client host's IPv6 address (unique local, RFC 4193).
pub const CLIENT_ADDRESS_V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0x77, 0, 0, 0, 0, 0, 2);
/// The server host's first IPv6 address, the resolver's.
pub const SERVER_ADDRESS_V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0x77, 0, 0, 0, 0, 0, 1);
/// An IPv6 network delivered entirely to the server host.
pub const SERVER_NETWORK_V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0x77, 0, 1, 0, 0, 0, 0);
/// Prefix length of the IPv6 network between the two and of [`SERVER_NETWORK_V6`].
pub const PREFIX_LENGTH_V6: u8 = 64;
/// Name of the device leading to the link, in both hosts.
pub const DEVICE_NAME: &str = "access0";

impl Host {
    /// Returns the name for command lines and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }

    /// Returns the host at the other end.
    #[must_use]
    pub fn peer(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }

    /// Returns the host's first address.
    pub fn address(self) -> Ipv4Addr {
        match self {
            Self::Client => CLIENT_ADDRESS,
            Self::Server => SERVER_ADDRESS,
        }
    }

    /// Returns the host's first IPv6 address.
    pub fn address_v6(self) -> Ipv6Addr {
        match self {
            Self::Client => CLIENT_ADDRESS_V6,
            Self::Server => SERVER_ADDRESS_V6,
        }
    }
}

impl AsRef<str> for Host {
    fn as_ref(&self) -> &str {
        self.name()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_networks_are_all_of_one_but_that_between_the_hosts() {
        let first = (SERVER_NETWORK, SERVER_NETWORK_PREFIX_LENGTH);
        let mut next = SERVER_NETWORK.to_bits();
        for (network, prefix) in [first].iter().chain(&FURTHER_SERVER_NETWORKS) {
            assert_eq!(network.to_bits(), next, "{network}/{prefix}");
            next += 1 << (32 - prefix);
            assert_eq!(
                network.to_bits() % (1 << (32 - prefix)),
                0,
                "{network}/{prefix}"
            );
        }
        assert_eq!(next, Ipv4Addr::new(10, 78, 0, 0).to_bits());
    }
}
