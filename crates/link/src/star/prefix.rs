//! IPv4 prefixes: parsing, comparing, and finding the longest match of an address. Not for: the
//! properties of an address's host (see `model`).

use rustc_hash::FxHashMap;
use std::fmt;
use std::net::Ipv4Addr;

/// A network of addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Prefix {
    first: u32,
    length_bits: u8,
}

impl Prefix {
    /// Parses `a.b.c.d/length`. `None` for any other text, or when the address is not the network's
    /// first.
    pub fn parse(text: &str) -> Option<Self> {
        let (address, length) = text.split_once('/')?;
        let length = Some(length).filter(|digits| !digits.starts_with('+'))?;
        let first = address.parse::<Ipv4Addr>().ok()?.to_bits();
        let length_bits = length.parse().ok().filter(|bits| *bits <= 32)?;
        (first & mask(length_bits) == first).then_some(Self { first, length_bits })
    }

    /// Returns the first address of the network.
    pub fn first(self) -> Ipv4Addr {
        Ipv4Addr::from_bits(self.first)
    }

    /// Returns the second address; the only address of a network of size 1.
    pub fn second(self) -> Ipv4Addr {
        let step = u32::from(self.length_bits < 32);
        Ipv4Addr::from_bits(self.first + step)
    }

    /// Returns the prefix length in bits.
    pub fn length_bits(self) -> u8 {
        self.length_bits
    }

    /// Returns true when the network contains this address.
    pub fn holds(self, address: Ipv4Addr) -> bool {
        address.to_bits() & mask(self.length_bits) == self.first
    }

    /// Returns true when both have an address in common: either network then contains the other.
    pub fn overlaps(self, other: Self) -> bool {
        self.holds(other.first()) || other.holds(self.first())
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.first(), self.length_bits)
    }
}

fn mask(length_bits: u8) -> u32 {
    !u32::MAX.checked_shr(length_bits.into()).unwrap_or(0)
}

/// A table from prefixes to values, searched by address.
#[derive(Debug, Clone)]
pub struct PrefixTable<T> {
    found: FxHashMap<Prefix, T>,
    /// Lengths of all prefixes in the table, the longest first.
    lengths_bits: Vec<u8>,
}

impl<T: Copy> PrefixTable<T> {
    /// Makes a table of these entries; the last of equal prefixes counts.
    pub fn new(entries: impl IntoIterator<Item = (Prefix, T)>) -> Self {
        let found: FxHashMap<_, _> = entries.into_iter().collect();
        let mut lengths_bits: Vec<_> = found.keys().map(|prefix| prefix.length_bits).collect();
        lengths_bits.sort_unstable_by(|a, b| b.cmp(a));
        lengths_bits.dedup();
        Self {
            found,
            lengths_bits,
        }
    }

    /// Returns the value of the longest prefix containing `address`.
    pub fn find(&self, address: Ipv4Addr) -> Option<T> {
        let bits = address.to_bits();
        self.lengths_bits.iter().find_map(|&length_bits| {
            let first = bits & mask(length_bits);
            self.found.get(&Prefix { first, length_bits }).copied()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(text: &str) -> Prefix {
        Prefix::parse(text).unwrap()
    }

    #[test]
    fn a_prefix_is_first_address_and_length() {
        for good in ["198.18.0.0/15", "0.0.0.0/0", "198.18.0.1/32"] {
            assert_eq!(prefix(good).to_string(), good);
        }
        for bad in [
            "198.18.0.1/31",
            "198.18.0.0/33",
            "198.18.0.0/+15",
            "198.18.0.0",
            "x/8",
            "fd00::/64",
        ] {
            assert_eq!(Prefix::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_second_address_is_the_only_one_of_a_single() {
        assert_eq!(
            prefix("198.18.8.0/24").second(),
            Ipv4Addr::new(198, 18, 8, 1)
        );
        assert_eq!(
            prefix("198.18.8.9/32").second(),
            Ipv4Addr::new(198, 18, 8, 9)
        );
    }

    #[test]
    fn networks_overlap_where_one_holds_the_other() {
        let [wide, inner, beside] = ["198.18.0.0/16", "198.18.3.0/24", "198.19.0.0/16"].map(prefix);
        assert!(wide.overlaps(inner) && inner.overlaps(wide) && wide.overlaps(wide));
        assert!(!beside.overlaps(wide) && !inner.overlaps(beside));
    }

    #[test]
    fn the_longest_prefix_is_found() {
        let table = PrefixTable::new([
            (prefix("198.18.0.0/16"), 1),
            (prefix("198.18.3.0/24"), 2),
            (prefix("198.18.3.7/32"), 3),
        ]);
        let find = |text: &str| table.find(text.parse().unwrap());
        assert_eq!(find("198.18.2.255"), Some(1));
        assert_eq!(find("198.18.3.6"), Some(2));
        assert_eq!(find("198.18.3.7"), Some(3));
        assert_eq!(find("198.19.3.7"), None);
        assert_eq!(PrefixTable::<u8>::new([]).find(Ipv4Addr::LOCALHOST), None);
        let all = PrefixTable::new([(prefix("0.0.0.0/0"), 9)]);
        assert_eq!(all.find(Ipv4Addr::BROADCAST), Some(9));
    }
}
