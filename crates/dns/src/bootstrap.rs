//! Turns the resolver's host name into an address, always before any clock starts.

use crate::resolver_address::ResolverAddress;
use resolab_record::Bootstrap;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use thiserror::Error;

/// Why a resolver has no address.
#[derive(Debug, Error)]
pub enum BootstrapError {
    /// The system resolver found none.
    #[error("find an address for {host}: {reason}; give one with --resolve {host}=ADDRESS")]
    NotFound {
        /// The host name.
        host: String,
        /// What the system said.
        reason: String,
    },
    /// Not `HOST=ADDRESS`.
    #[error("read {0:?}: give HOST=ADDRESS, such as dns.example=192.0.2.1")]
    NotAPair(String),
}

/// Addresses given on the command line.
#[derive(Debug, Clone, Default)]
pub struct GivenAddresses(HashMap<String, IpAddr>);

impl GivenAddresses {
    /// Read `HOST=ADDRESS` pairs.
    pub fn parse(pairs: &[String]) -> Result<Self, BootstrapError> {
        let read = |pair: &String| {
            let (host, address) = pair.split_once('=')?;
            Some((host.to_ascii_lowercase(), address.parse().ok()?))
        };
        pairs
            .iter()
            .map(|pair| read(pair).ok_or_else(|| BootstrapError::NotAPair(pair.clone())))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// The resolver's address, and where it is from.
    pub fn locate(
        &self,
        resolver: &ResolverAddress,
    ) -> Result<(SocketAddr, Bootstrap), BootstrapError> {
        let given = self.0.get(&resolver.host.to_ascii_lowercase()).copied();
        if let Some(ip) = given.or(resolver.stamped_ip).or(resolver.ip()) {
            return Ok((SocketAddr::new(ip, resolver.port), Bootstrap::Given));
        }
        let not_found = |reason: String| BootstrapError::NotFound {
            host: resolver.host.clone(),
            reason,
        };
        (resolver.host.as_str(), resolver.port)
            .to_socket_addrs()
            .map_err(|error| not_found(error.to_string()))?
            .next()
            .map(|address| (address, Bootstrap::System))
            .ok_or_else(|| not_found("it has none".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locate(pairs: &[&str], url: &str) -> Result<(SocketAddr, Bootstrap), BootstrapError> {
        let pairs: Vec<String> = pairs.iter().map(ToString::to_string).collect();
        GivenAddresses::parse(&pairs)?.locate(&url.parse().unwrap())
    }

    #[test]
    fn given_addresses_come_first() {
        let expected = ("10.77.0.1:853".parse().unwrap(), Bootstrap::Given);
        let given = ["DNS.resolab.test=10.77.0.1"];
        assert_eq!(locate(&given, "quic://dns.Resolab.test").unwrap(), expected);
        assert_eq!(locate(&[], "quic://10.77.0.1").unwrap(), expected);
    }

    #[test]
    fn a_stamp_may_give_the_address() {
        // DoT, 192.0.2.1, dns.example.
        let stamp = "sdns://AwAAAAAAAAAACTE5Mi4wLjIuMQALZG5zLmV4YW1wbGU";
        let at = |ip: &str| (format!("{ip}:853").parse().unwrap(), Bootstrap::Given);
        assert_eq!(locate(&[], stamp).unwrap(), at("192.0.2.1"));
        let given = ["dns.example=192.0.2.9"];
        assert_eq!(locate(&given, stamp).unwrap(), at("192.0.2.9"));
    }

    #[test]
    fn the_system_is_asked_for_the_rest() {
        let (address, bootstrap) = locate(&[], "tls://localhost").unwrap();
        assert!(address.ip().is_loopback());
        assert_eq!(bootstrap, Bootstrap::System);
    }

    #[test]
    fn a_pair_must_be_one() {
        for pair in ["dns.example", "dns.example=here"] {
            assert!(
                matches!(locate(&[pair], "::1"), Err(BootstrapError::NotAPair(_))),
                "{pair}"
            );
        }
    }
}
