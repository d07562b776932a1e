//! Client subnets (EDNS Client Subnet, RFC 7871): the subnet announced in a query, as text and as
//! an option. Not for: checking a response's subnet (`edns::sent`).

use hickory_proto::op::Edns;
use hickory_proto::rr::rdata::opt::{ClientSubnet as SubnetOption, EdnsCode, EdnsOption};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;
use thiserror::Error;

/// The error for a text without a client subnet.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("read {0:?} as a client subnet: give off or ADDRESS/LENGTH, such as 192.0.2.0/24")]
pub struct ClientSubnetError(String);

/// The client's subnet as announced in a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientSubnet {
    address: IpAddr,
    prefix_length: u8,
}

impl ClientSubnet {
    /// No address at all: asks the resolver to hide the client's address from others (RFC 7871
    /// section 7.1.2).
    pub const OFF: Self = Self {
        address: IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        prefix_length: 0,
    };

    /// Reads the subnet from an OPT record. `None` without the option, or when the prefix is longer
    /// than the address.
    pub fn from_edns(edns: &Edns) -> Option<Self> {
        if let EdnsOption::Subnet(subnet) = edns.option(EdnsCode::Subnet)? {
            Self::new(subnet.addr(), subnet.source_prefix())
        } else {
            None
        }
    }

    /// Returns the option for a query.
    pub(crate) fn option(self) -> SubnetOption {
        SubnetOption::new(self.address, self.prefix_length, 0)
    }

    /// Returns true when the option only hides the client's address (RFC 7871 section 7.1.2).
    pub fn is_hidden(self) -> bool {
        self.prefix_length == 0
    }

    /// Makes the subnet of an address. Drops the host bits, because a client must not send them
    /// (RFC 7871 section 6). `None` for a prefix longer than an address.
    pub fn new(address: IpAddr, prefix_length: u8) -> Option<Self> {
        let length = u32::from(prefix_length);
        let address = match address {
            IpAddr::V4(address) => {
                let host_bits = Ipv4Addr::BITS.checked_sub(length)?;
                let mask = u32::MAX.checked_shl(host_bits).unwrap_or(0);
                IpAddr::V4(Ipv4Addr::from_bits(address.to_bits() & mask))
            }
            IpAddr::V6(address) => {
                let host_bits = Ipv6Addr::BITS.checked_sub(length)?;
                let mask = u128::MAX.checked_shl(host_bits).unwrap_or(0);
                IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & mask))
            }
        };
        Some(Self {
            address,
            prefix_length,
        })
    }
}

impl FromStr for ClientSubnet {
    type Err = ClientSubnetError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "off" {
            return Ok(Self::OFF);
        }
        text.split_once('/')
            .and_then(|(address, length)| Self::new(address.parse().ok()?, length.parse().ok()?))
            .ok_or_else(|| ClientSubnetError(text.to_owned()))
    }
}

impl fmt::Display for ClientSubnet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.address, self.prefix_length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subnets_are_written_as_sent() {
        for (text, sent) in [
            ("192.0.2.77/24", "192.0.2.0/24"),
            ("off", "0.0.0.0/0"),
            ("2001:db8::1/128", "2001:db8::1/128"),
        ] {
            assert_eq!(text.parse::<ClientSubnet>().unwrap().to_string(), sent);
        }
        for text in ["192.0.2.0", "192.0.2.0/33", "::/129", "on", "a/8", "::/-1"] {
            assert!(text.parse::<ClientSubnet>().is_err(), "{text}");
        }
    }
}
