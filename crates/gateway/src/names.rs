//! The address of each name, from the reserved range. Each name has a separate address. Browsers
//! share connections by address and certificate, so they share no connection to the gateway.
//!
//! Without I/O. Not for: the names' real addresses.

use std::collections::HashMap;
use std::fmt;
use std::net::Ipv4Addr;
use std::str::FromStr;
use thiserror::Error;

/// The error for a text without an address range.
#[derive(Debug, PartialEq, Eq, Error)]
#[error("read {text:?} as a range of addresses: {reason}; give one like 198.18.0.0/15")]
pub struct RangeError {
    text: String,
    reason: &'static str,
}

/// A block of IPv4 addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddressRange {
    first: Ipv4Addr,
    prefix_bits: u8,
}

impl AddressRange {
    /// The range for network benchmarks (RFC 2544). Browsers treat the range as public, so their
    /// rules for local networks do not apply.
    pub const BENCHMARKING: Self = Self {
        first: Ipv4Addr::new(198, 18, 0, 0),
        prefix_bits: 15,
    };

    /// Returns the first address and the prefix length.
    pub fn network(self) -> (Ipv4Addr, u8) {
        (self.first, self.prefix_bits)
    }

    /// Returns the number of addresses without the first (network) and the last (broadcast).
    fn usable_count(self) -> u32 {
        (1_u32 << (32 - u32::from(self.prefix_bits))) - 2
    }

    fn address(self, index: u32) -> Ipv4Addr {
        Ipv4Addr::from(u32::from(self.first) + 1 + index)
    }
}

impl fmt::Display for AddressRange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.first, self.prefix_bits)
    }
}

impl FromStr for AddressRange {
    type Err = RangeError;

    fn from_str(text: &str) -> Result<Self, RangeError> {
        let wrong = |reason| RangeError {
            text: text.to_owned(),
            reason,
        };
        let (first, prefix) = text.split_once('/').ok_or_else(|| wrong("it has no /"))?;
        let first: Ipv4Addr = first
            .parse()
            .map_err(|_| wrong("it is no IPv4 address before the /"))?;
        let prefix_bits = prefix.parse().ok().filter(|bits| (8..=30).contains(bits));
        let prefix_bits: u8 = prefix_bits.ok_or_else(|| wrong("its length is not 8 to 30"))?;
        if u32::from(first).trailing_zeros() < 32 - u32::from(prefix_bits) {
            return Err(wrong("its address is not the first of it"));
        }
        Ok(Self { first, prefix_bits })
    }
}

/// The names and their addresses, kept until the gateway ends. An address is never given to another
/// name, because a browser may still use the address for the first name.
#[derive(Debug)]
pub struct NameTable {
    range: AddressRange,
    most: u32,
    addresses: HashMap<String, Ipv4Addr>,
}

impl NameTable {
    /// Makes an empty table for at most `most` names.
    pub fn new(range: AddressRange, most: u32) -> Self {
        Self {
            range,
            most: most.min(range.usable_count()),
            addresses: HashMap::new(),
        }
    }

    /// Returns the address of a known name.
    pub fn get(&self, name: &str) -> Option<Ipv4Addr> {
        self.addresses.get(&canonical(name)).copied()
    }

    /// Returns the address of a name, assigning a new address when needed. `None` when all
    /// addresses are taken.
    pub fn assign(&mut self, name: &str) -> Option<Ipv4Addr> {
        let name = canonical(name);
        if let Some(address) = self.addresses.get(&name) {
            return Some(*address);
        }
        let index = self.addresses.len() as u32;
        if index >= self.most {
            return None;
        }
        let address = self.range.address(index);
        self.addresses.insert(name, address);
        Some(address)
    }

    /// Removes the name assigned last, when the name cannot be served. No browser has seen its
    /// address.
    pub fn take_back_last(&mut self, name: &str) {
        self.addresses.remove(&canonical(name));
    }
}

/// Returns a name in lower case, without the final dot.
pub fn canonical(name: &str) -> String {
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    #[test]
    fn a_range_is_read_and_shown() {
        for text in [
            "198.18.0.0/15",
            "127.90.1.0/24",
            "10.0.0.0/8",
            "192.0.2.4/30",
        ] {
            assert_eq!(text.parse::<AddressRange>().unwrap().to_string(), text);
        }
        assert_eq!(
            "198.18.0.0/15".parse::<AddressRange>().unwrap(),
            AddressRange::BENCHMARKING
        );
        for (text, says) in [
            ("198.18.0.0", "no /"),
            ("198.18/15", "no IPv4 address"),
            ("fd00::/64", "no IPv4 address"),
            ("198.18.0.0/31", "not 8 to 30"),
            ("198.18.0.0/7", "not 8 to 30"),
            ("198.18.0.0/-1", "not 8 to 30"),
            ("198.19.0.0/15", "not the first"),
        ] {
            let error = text.parse::<AddressRange>().unwrap_err().to_string();
            assert!(error.contains(says) && error.contains(text), "{error}");
        }
    }

    #[test]
    fn a_name_keeps_its_address_however_it_is_written() {
        let mut table = NameTable::new(AddressRange::BENCHMARKING, 10);
        assert_eq!(table.get("a.test"), None);
        let first = table.assign("A.test.").unwrap();
        assert_eq!(first, Ipv4Addr::new(198, 18, 0, 1));
        assert_eq!(
            table.assign("b.test").unwrap(),
            Ipv4Addr::new(198, 18, 0, 2)
        );
        assert_eq!(table.assign("a.TEST"), Some(first));
        assert_eq!(table.get("a.test."), Some(first));
    }

    #[test]
    fn there_is_an_end_of_addresses() {
        let range = "127.90.1.0/30".parse().unwrap();
        for (most, count) in [(100, 2), (1, 1)] {
            let mut table = NameTable::new(range, most);
            let given: Vec<_> = (0..4).map(|n| table.assign(&format!("{n}.test"))).collect();
            assert_eq!(given.iter().flatten().count(), count);
            assert_eq!(table.assign("0.test"), given[0]);
        }
    }

    proptest! {
        #[test]
        fn no_two_names_share_an_address_and_all_lie_in_the_range(
            names in prop::collection::hash_set("[a-z]{1,8}", 1..300),
            prefix_bits in 23_u8..=30,
        ) {
            let range: AddressRange = format!("198.18.0.0/{prefix_bits}").parse().unwrap();
            let mut table = NameTable::new(range, u32::MAX);
            let given: Vec<_> = names.iter().filter_map(|name| table.assign(name)).collect();
            let distinct: HashSet<_> = given.iter().collect();
            prop_assert_eq!(distinct.len(), given.len());
            prop_assert_eq!(given.len(), names.len().min(range.usable_count() as usize));
            let (first, bits) = (u32::from(range.first), 32 - u32::from(prefix_bits));
            for address in given {
                let address = u32::from(address);
                prop_assert_eq!(address >> bits, first >> bits);
                prop_assert!(address != first && address != first + (1 << bits) - 1);
            }
        }
    }
}
