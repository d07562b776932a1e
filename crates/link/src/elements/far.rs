//! Servers that are farther away than the others: extra delay by server address, after the shared
//! access link. Not for: the delay of the link itself (that is `delay`).

use crate::elements::delay::to_ns;
use resolab_record::FarNetwork;
use std::net::IpAddr;

/// A network of addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    first: IpAddr,
    prefix_bits: u32,
}

impl Network {
    /// From `address/length`; `None` if it is not that, or the address is not the network's first.
    pub fn parse(text: &str) -> Option<Self> {
        let (address, prefix) = text.split_once('/')?;
        let network = Self {
            first: address.parse().ok()?,
            prefix_bits: prefix.parse().ok()?,
        };
        let (bits, width_bits) = bits_of(network.first);
        let is_first =
            network.prefix_bits <= width_bits && bits & !mask(network.prefix_bits, width_bits) == 0;
        is_first.then_some(network)
    }

    fn holds(&self, address: IpAddr) -> bool {
        let ((own, own_width), (other, width)) = (bits_of(self.first), bits_of(address));
        own_width == width && (own ^ other) & mask(self.prefix_bits, width) == 0
    }
}

/// The address as a number, and how many bits it has.
fn bits_of(address: IpAddr) -> (u128, u32) {
    match address {
        IpAddr::V4(address) => (u32::from(address).into(), 32),
        IpAddr::V6(address) => (address.into(), 128),
    }
}

/// The first `prefix_bits` of `width_bits`.
fn mask(prefix_bits: u32, width_bits: u32) -> u128 {
    let all = u128::MAX >> (128 - width_bits);
    let host = all.checked_shr(prefix_bits).unwrap_or(0);
    all & !host
}

/// One way there, by server address.
#[derive(Debug, Clone, Default)]
pub struct FarServers {
    ways: Vec<Way>,
}

/// Never removed, so that packets on their way keep theirs; without delay when no longer wanted.
#[derive(Debug, Clone)]
struct Way {
    network: Network,
    extra_ns: Option<u64>,
    last_release_ns: u64,
}

impl FarServers {
    /// As the profile (checked) says.
    pub fn new(wanted: &[FarNetwork]) -> Self {
        let mut servers = Self::default();
        servers.change(wanted);
        servers
    }

    /// Go on with others; the order of packets to the same network is kept.
    pub fn change(&mut self, wanted: &[FarNetwork]) {
        self.ways.iter_mut().for_each(|way| way.extra_ns = None);
        for far in wanted {
            let Some(network) = Network::parse(&far.network) else {
                continue;
            };
            let extra_ns = Some(to_ns(far.extra_one_way_delay_ms));
            match self.ways.iter_mut().find(|way| way.network == network) {
                Some(way) => way.extra_ns = extra_ns,
                None => self.ways.push(Way {
                    network,
                    extra_ns,
                    last_release_ns: 0,
                }),
            }
        }
    }

    /// Whether any server is far.
    pub fn is_empty(&self) -> bool {
        self.ways.is_empty()
    }

    /// Which way `server` is; `None`: no farther than the link.
    pub fn way_to(&self, server: IpAddr) -> Option<usize> {
        let ways = self.ways.iter().enumerate();
        ways.filter(|(_, way)| way.extra_ns.is_some() && way.network.holds(server))
            .max_by_key(|(_, way)| way.network.prefix_bits)
            .map(|(index, _)| index)
    }

    /// When a packet on `way` that the link lets go at `release_ns` is there; in order, unless it may
    /// overtake.
    pub fn arrival_ns(&mut self, way: usize, release_ns: u64, may_overtake: bool) -> u64 {
        let Some(way) = self.ways.get_mut(way) else {
            return release_ns;
        };
        let wanted_ns = release_ns + way.extra_ns.unwrap_or(0);
        let in_order_ns = way.last_release_ns.max(wanted_ns);
        way.last_release_ns = in_order_ns;
        if may_overtake { wanted_ns } else { in_order_ns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn far(network: &str, extra_one_way_delay_ms: f64) -> FarNetwork {
        FarNetwork {
            network: network.to_owned(),
            extra_one_way_delay_ms,
        }
    }

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn networks_are_first_address_and_length() {
        for good in [
            "10.77.1.16/28",
            "0.0.0.0/0",
            "10.77.1.1/32",
            "fd00::/64",
            "::/0",
        ] {
            assert!(Network::parse(good).is_some(), "{good}");
        }
        for bad in [
            "10.77.1.17/28",
            "10.77.1.0/33",
            "10.77.1.0",
            "x/8",
            "fd00::1/64",
            "::/129",
        ] {
            assert!(Network::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn the_longest_prefix_counts() {
        let servers = FarServers::new(&[far("10.77.1.0/24", 20.0), far("10.77.1.16/28", 80.0)]);
        let way = |text| servers.way_to(address(text));
        assert_eq!(way("10.77.1.15"), Some(0));
        assert_eq!(way("10.77.1.16"), Some(1));
        assert_eq!(way("10.77.1.31"), Some(1));
        assert_eq!(way("10.77.1.32"), Some(0));
        assert_eq!(way("10.77.0.1"), None);
        assert_eq!(way("fd00::1"), None);
    }

    #[test]
    fn a_change_keeps_order_on_each_way() {
        let mut servers = FarServers::new(&[far("10.77.1.0/24", 20.0)]);
        assert_eq!(servers.arrival_ns(0, 1_000_000, false), 21_000_000);
        servers.change(&[far("10.77.2.0/24", 9.0), far("10.77.1.0/24", 5.0)]);
        assert_eq!(servers.way_to(address("10.77.2.1")), Some(1));
        assert_eq!(servers.arrival_ns(0, 2_000_000, false), 21_000_000);
        assert_eq!(servers.arrival_ns(0, 2_000_000, true), 7_000_000);
        servers.change(&[]);
        assert_eq!(servers.way_to(address("10.77.1.1")), None);
        assert_eq!(servers.arrival_ns(0, 30_000_000, false), 30_000_000);
    }
}
