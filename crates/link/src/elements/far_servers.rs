//! Servers farther away than the others: extra delay by server address, after the shared access
//! link. Not for: the delay of the link itself (see `delay`).

use crate::elements::delay::to_ns;
use resolab_record::FarNetwork;
use std::collections::HashMap;
use std::net::IpAddr;

/// A network of addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Network {
    /// The network's first address, as a number.
    first: u128,
    prefix_bits: u32,
    /// Number of bits of an address: 32 or 128.
    width_bits: u32,
}

impl Network {
    /// Parses `address/length`. `None` for any other text, or when the address is not the network's
    /// first.
    pub fn parse(text: &str) -> Option<Self> {
        let (address, prefix) = text.split_once('/')?;
        let prefix = Some(prefix).filter(|digits| !digits.starts_with('+'))?;
        let address: IpAddr = address.parse().ok()?;
        let network = Self::containing(address, prefix.parse().ok()?)?;
        (network.first == bits_of(address).0).then_some(network)
    }

    /// Returns the network of this length around an address; `None` if the length exceeds the
    /// address's.
    fn containing(address: IpAddr, prefix_bits: u32) -> Option<Self> {
        let (bits, width_bits) = bits_of(address);
        (prefix_bits <= width_bits).then(|| Self {
            first: bits & mask(prefix_bits, width_bits),
            prefix_bits,
            width_bits,
        })
    }
}

/// Returns the address as a number, and the number of bits.
fn bits_of(address: IpAddr) -> (u128, u32) {
    match address {
        IpAddr::V4(address) => (u32::from(address).into(), 32),
        IpAddr::V6(address) => (address.into(), 128),
    }
}

/// Returns a mask of the first `prefix_bits` of `width_bits`.
fn mask(prefix_bits: u32, width_bits: u32) -> u128 {
    let all = u128::MAX >> (128 - width_bits);
    let host = all.checked_shr(prefix_bits).unwrap_or(0);
    all & !host
}

/// Extra delay in one direction, by server address. Finding a packet's delay takes one look-up for
/// each prefix length. A page can have hundreds of far servers, each in a separate network.
#[derive(Debug, Clone, Default)]
pub struct FarServers {
    delays: Vec<ExtraDelay>,
    delay_indices: HashMap<Network, usize>,
    /// Prefix lengths of the networks now far, the longest first.
    prefixes_bits: Vec<u32>,
}

/// The extra delay to one network. Never removed, because packets under way keep their delay;
/// without delay when no longer in the profile.
#[derive(Debug, Clone, Default)]
struct ExtraDelay {
    extra_ns: Option<u64>,
    last_release_ns: u64,
}

impl FarServers {
    /// Makes the far servers of the profile (checked).
    pub fn new(wanted: &[FarNetwork]) -> Self {
        let mut servers = Self::default();
        servers.change(wanted);
        servers
    }

    /// Changes to other far servers; packets to the same network keep their order.
    pub fn change(&mut self, wanted: &[FarNetwork]) {
        self.delays
            .iter_mut()
            .for_each(|delay| delay.extra_ns = None);
        self.prefixes_bits.clear();
        for far in wanted {
            let Some(network) = Network::parse(&far.network) else {
                continue;
            };
            let index = *self
                .delay_indices
                .entry(network)
                .or_insert(self.delays.len());
            if index == self.delays.len() {
                self.delays.push(ExtraDelay::default());
            }
            self.delays[index].extra_ns = Some(to_ns(far.extra_one_way_delay_ms));
            self.prefixes_bits.push(network.prefix_bits);
        }
        self.prefixes_bits.sort_unstable_by(|a, b| b.cmp(a));
        self.prefixes_bits.dedup();
    }

    /// Returns true when no server has been far yet.
    pub fn is_empty(&self) -> bool {
        self.delays.is_empty()
    }

    /// Returns the index of the server's extra delay; `None` for a server without extra delay.
    pub fn find_delay(&self, server: IpAddr) -> Option<usize> {
        self.prefixes_bits.iter().find_map(|&prefix_bits| {
            let index = *self
                .delay_indices
                .get(&Network::containing(server, prefix_bits)?)?;
            let delay = self.delays.get(index)?;
            delay.extra_ns.map(|_| index)
        })
    }

    /// Returns the arrival time of a packet on `delay`, released by the link at `release_ns`.
    /// Packets arrive in order, unless overtaking is permitted.
    pub fn arrival_ns(&mut self, delay: usize, release_ns: u64, may_overtake: bool) -> u64 {
        let Some(delay) = self.delays.get_mut(delay) else {
            return release_ns;
        };
        let wanted_ns = release_ns + delay.extra_ns.unwrap_or(0);
        let in_order_ns = delay.last_release_ns.max(wanted_ns);
        delay.last_release_ns = in_order_ns;
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
            "10.77.1.0/+28",
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
        let delay = |text| servers.find_delay(address(text));
        assert_eq!(delay("10.77.1.15"), Some(0));
        assert_eq!(delay("10.77.1.16"), Some(1));
        assert_eq!(delay("10.77.1.31"), Some(1));
        assert_eq!(delay("10.77.1.32"), Some(0));
        assert_eq!(delay("10.77.0.1"), None);
        assert_eq!(delay("fd00::1"), None);
    }

    #[test]
    fn each_of_many_servers_has_a_way_of_its_own_beside_that_of_its_network() {
        let single = |number: u32| format!("10.77.{}.{}/32", 1 + number / 250, 1 + number % 250);
        let mut wanted: Vec<_> = (0..1_000).map(|n| far(&single(n), f64::from(n))).collect();
        wanted.push(far("10.77.0.0/16", 7.0));
        wanted.push(far("fd00::/64", 9.0));
        let servers = FarServers::new(&wanted);
        for number in [0, 249, 250, 999] {
            let server = single(number);
            let delay = servers.find_delay(address(server.trim_end_matches("/32")));
            assert_eq!(delay, Some(number as usize), "{server}");
        }
        assert_eq!(servers.find_delay(address("10.77.1.251")), Some(1_000));
        assert_eq!(servers.find_delay(address("fd00::1")), Some(1_001));
        assert_eq!(servers.find_delay(address("10.78.0.1")), None);
    }

    #[test]
    fn a_network_no_longer_far_leaves_its_servers_to_the_one_around_it() {
        let mut servers = FarServers::new(&[far("10.77.1.1/32", 20.0), far("10.77.0.0/16", 5.0)]);
        servers.change(&[far("10.77.0.0/16", 5.0), far("10.77.1.9/32", 1.0)]);
        assert_eq!(servers.find_delay(address("10.77.1.1")), Some(1));
        assert_eq!(servers.find_delay(address("10.77.1.9")), Some(2));
    }

    #[test]
    fn a_change_keeps_order_on_each_way() {
        let mut servers = FarServers::new(&[far("10.77.1.0/24", 20.0)]);
        assert_eq!(servers.arrival_ns(0, 1_000_000, false), 21_000_000);
        servers.change(&[far("10.77.2.0/24", 9.0), far("10.77.1.0/24", 5.0)]);
        assert_eq!(servers.find_delay(address("10.77.2.1")), Some(1));
        assert_eq!(servers.arrival_ns(0, 2_000_000, false), 21_000_000);
        assert_eq!(servers.arrival_ns(0, 2_000_000, true), 7_000_000);
        servers.change(&[]);
        assert_eq!(servers.find_delay(address("10.77.1.1")), None);
        assert_eq!(servers.arrival_ns(0, 30_000_000, false), 30_000_000);
    }
}
