//! Turns the resolver's host name into an address before any clock starts, or says how that is to be
//! done inside it. Not for: look-ups inside a clock; those are `look_up`'s.

pub(crate) mod look_up;

use crate::bootstrap::look_up::{Location, LookUp};
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
        if let Some(address) = self.given(resolver) {
            return Ok((address, Bootstrap::Given));
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

    /// The same where a resolver without an address is a failure of its queries, not of them all.
    pub fn locate_or_missing(&self, resolver: &ResolverAddress) -> Location {
        match self.locate(resolver) {
            Ok(located) => located.into(),
            Err(error) => Location::Missing(error.to_string()),
        }
    }

    /// The same for a client that looks it up inside the clock, asking a resolver over DoUDP or, if
    /// none is given, the system. What is given needs no look-up.
    pub fn locate_inside(&self, resolver: &ResolverAddress, by: Option<SocketAddr>) -> Location {
        match self.given(resolver) {
            Some(address) => Location::Known(address, Bootstrap::Given),
            None => Location::Unknown(LookUp {
                host: resolver.host.clone(),
                port: resolver.port,
                by,
            }),
        }
    }

    fn given(&self, resolver: &ResolverAddress) -> Option<SocketAddr> {
        let given = self.0.get(&resolver.host.to_ascii_lowercase()).copied();
        let ip = given.or(resolver.stamped_ip).or(resolver.ip())?;
        Some(SocketAddr::new(ip, resolver.port))
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
