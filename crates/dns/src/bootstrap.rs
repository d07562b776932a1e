//! Turns the resolver's host name into an address before any clock starts, or plans a look-up
//! inside the clock. Sources: the user's addresses, the resolvers named in a stamp, the system.
//! Not for: look-ups inside a clock (`look_up`).

pub(crate) mod look_up;

use crate::bootstrap::look_up::{ResolverLocation, ResolverLookUp};
use crate::resolver_address::ResolverAddress;
use crate::zoned_address::ZonedAddress;
use nix::net::if_::if_nametoindex;
use resolab_record::Bootstrap;
use resolab_transport::client::MeasuredFailure;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr, SocketAddrV6, ToSocketAddrs};
use std::thread;
use thiserror::Error;
use url::Host;

/// The reason for a resolver without an address.
#[derive(Debug, Error)]
pub enum BootstrapError {
    /// The system resolver found no address.
    #[error("find an address for {host}: {reason}; give one with --resolve {host}=ADDRESS")]
    NotFound {
        /// The resolver's host name.
        host: String,
        /// The system's error text.
        reason: String,
    },
    /// No interface with the zone's name or number.
    #[error(
        "use {host}%{zone}: no interface has the name or number {zone:?} (RFC 4007 section 11)"
    )]
    Zone {
        /// The address without its zone.
        host: String,
        /// The zone as given by the user.
        zone: String,
    },
    /// A link-local address without its zone.
    #[error(
        "use {0}: an address of one link needs a zone, the name or number of its interface, such \
         as {0}%eth0 (RFC 4007 section 11)"
    )]
    NoZone(IpAddr),
    /// A text not of the form `HOST=ADDRESS`.
    #[error("read {0:?}: give HOST=ADDRESS, such as dns.example=192.0.2.1")]
    NotAPair(String),
}

/// The addresses given on the command line, by comparable host name.
#[derive(Debug, Clone, Default)]
pub struct GivenAddresses(HashMap<String, ZonedAddress>);

impl GivenAddresses {
    /// Reads `HOST=ADDRESS` pairs. Errors on any other text.
    pub fn parse(pairs: &[String]) -> Result<Self, BootstrapError> {
        let read = |pair: &String| {
            let (host, address) = pair.split_once('=')?;
            Some((comparable(host), ZonedAddress::read(address)?))
        };
        pairs
            .iter()
            .map(|pair| read(pair).ok_or_else(|| BootstrapError::NotAPair(pair.clone())))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Finds the resolver's address, and names the address's source.
    pub fn locate(
        &self,
        resolver: &ResolverAddress,
    ) -> Result<(SocketAddr, Bootstrap), BootstrapError> {
        if let Some(address) = self.given(resolver)? {
            return Ok((address, Bootstrap::Given));
        }
        if let Some(address) = ask_stamped(resolver) {
            return Ok((address, Bootstrap::Resolver));
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

    /// Finds the resolver's address. A resolver without an address then makes its own queries fail,
    /// and no other resolver's.
    pub fn locate_or_missing(&self, resolver: &ResolverAddress) -> ResolverLocation {
        match self.locate(resolver) {
            Ok(located) => located.into(),
            Err(error) => ResolverLocation::Missing(error.to_string()),
        }
    }

    /// Returns the location for a client with a look-up inside the clock. The look-up asks `by`
    /// over DoUDP; without `by`, the first resolver named in a stamp; without a stamp, the system.
    /// Given addresses need no look-up.
    pub fn locate_inside(
        &self,
        resolver: &ResolverAddress,
        by: Option<SocketAddr>,
    ) -> ResolverLocation {
        match self.given(resolver) {
            Ok(Some(address)) => ResolverLocation::Known(address, Bootstrap::Given),
            Ok(None) => {
                let stamped = resolver.bootstrap_resolvers.first().copied();
                ResolverLocation::Unknown(look_up(resolver, by.or(stamped)))
            }
            Err(error) => ResolverLocation::Missing(error.to_string()),
        }
    }

    fn given(&self, resolver: &ResolverAddress) -> Result<Option<SocketAddr>, BootstrapError> {
        if let Some(given) = self.0.get(&comparable(&resolver.host)) {
            return socket_address(given.ip, given.zone.as_deref(), resolver.port).map(Some);
        }
        let ip = resolver.stamped_ip.or(resolver.ip());
        ip.map(|ip| socket_address(ip, resolver.zone.as_deref(), resolver.port))
            .transpose()
    }
}

impl ZonedAddress {
    /// Finds the interface of a link-local address.
    pub fn with_port(&self, port: u16) -> Result<SocketAddr, BootstrapError> {
        socket_address(self.ip, self.zone.as_deref(), port)
    }
}

/// Returns a host in one form of several: A-labels in lower case, without the final dot.
fn comparable(host: &str) -> String {
    let name =
        Host::parse(host).map_or_else(|_| host.to_ascii_lowercase(), |host| host.to_string());
    name.strip_suffix('.').map_or(name.clone(), str::to_owned)
}

fn look_up(resolver: &ResolverAddress, by: Option<SocketAddr>) -> ResolverLookUp {
    ResolverLookUp {
        host: resolver.host.clone(),
        port: resolver.port,
        by,
    }
}

/// Makes a socket address. The zone of a link-local address is the name or number of its interface.
fn socket_address(ip: IpAddr, zone: Option<&str>, port: u16) -> Result<SocketAddr, BootstrapError> {
    let (v6, zone) = match (ip, zone) {
        (IpAddr::V6(v6), Some(zone)) => (v6, zone),
        // The kernel sends nothing to such an address.
        (IpAddr::V6(v6), None) if v6.is_unicast_link_local() => {
            return Err(BootstrapError::NoZone(ip));
        }
        (IpAddr::V4(_) | IpAddr::V6(_), _) => return Ok(SocketAddr::new(ip, port)),
    };
    let number = zone.parse().ok().or_else(|| if_nametoindex(zone).ok());
    let scope_id = number.ok_or_else(|| BootstrapError::Zone {
        host: ip.to_string(),
        zone: zone.to_owned(),
    })?;
    Ok(SocketAddrV6::new(v6, port, 0, scope_id).into())
}

/// Asks the resolvers named in the stamp in order, until a resolver knows the address. Uses a
/// separate thread, because the caller may already run an async runtime.
fn ask_stamped(resolver: &ResolverAddress) -> Option<SocketAddr> {
    let named = resolver.bootstrap_resolvers.iter();
    let look_ups: Vec<_> = named.map(|by| look_up(resolver, Some(*by))).collect();
    if look_ups.is_empty() {
        return None;
    }
    let asked = thread::spawn(move || look_ups.iter().find_map(|look_up| ask(look_up).ok()));
    asked.join().ok().flatten()
}

fn ask(look_up: &ResolverLookUp) -> Result<SocketAddr, MeasuredFailure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| look_up.failure(error))?;
    runtime.block_on(look_up.ask())
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use hickory_proto::op::Message;
    use hickory_proto::rr::rdata::A;
    use hickory_proto::rr::{RData, Record};

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
    fn an_address_of_one_link_needs_its_interface() {
        let at = |url: &str| locate(&[], url).map(|(address, _)| address);
        let index = if_nametoindex("lo").unwrap();
        let expected: SocketAddr =
            SocketAddrV6::new("fe80::1".parse().unwrap(), 53, 0, index).into();
        for url in [
            "fe80::1%lo",
            "udp://[fe80::1%25lo]",
            &format!("fe80::1%{index}"),
        ] {
            assert_eq!(at(url).unwrap(), expected, "{url}");
        }
        let given = locate(&["dns.test=fe80::1%lo"], "udp://dns.test").unwrap();
        assert_eq!(given, (expected, Bootstrap::Given));
        let error = at("fe80::1%nowhere").unwrap_err().to_string();
        assert!(
            error.contains("no interface") && error.contains("nowhere"),
            "{error}"
        );
    }

    #[test]
    fn an_address_of_one_link_without_a_zone_is_told_to_need_one() {
        for (pairs, url) in [
            (&[][..], "fe80::1"),
            (&[][..], "quic://[febf::1]"),
            (&["dns.test=fe80::1"][..], "tls://dns.test"),
        ] {
            let error = locate(pairs, url).unwrap_err().to_string();
            assert!(error.contains("needs a zone"), "{error}");
        }
        assert!(locate(&[], "fd00::1").is_ok());
    }

    #[test]
    fn given_names_are_compared_as_names() {
        for (pair, url) in [
            ("m\u{fc}nchen.test=192.0.2.7", "tls://xn--mnchen-3ya.test"),
            ("xn--mnchen-3ya.test=192.0.2.7", "https://M\u{dc}NCHEN.test"),
            ("dns.example.test.=192.0.2.7", "tls://dns.example.test"),
            ("dns.example.test=192.0.2.7", "h3://dns.example.test./q"),
        ] {
            let (address, bootstrap) = locate(&[pair], url).unwrap();
            assert_eq!(address.ip().to_string(), "192.0.2.7", "{pair} {url}");
            assert_eq!(bootstrap, Bootstrap::Given);
        }
    }

    #[test]
    fn a_stamp_may_name_whom_to_ask_for_the_address() {
        let server = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let at = server.local_addr().unwrap();
        let serve = thread::spawn(move || {
            let mut buffer = [0; 512];
            let (length, from) = server.recv_from(&mut buffer).unwrap();
            let query = Message::from_vec(&buffer[..length]).unwrap();
            let name = query.queries[0].name().clone();
            let mut answer = query.into_response();
            let address = RData::A(A::new(192, 0, 2, 7));
            answer.add_answer(Record::from_rdata(name, 60, address));
            server.send_to(&answer.to_vec().unwrap(), from).unwrap();
        });
        // DoT, no address, dns.example, and one to ask.
        let bootstrap = at.to_string();
        let mut stamp = b"\x03\0\0\0\0\0\0\0\0\0\0\x0bdns.example".to_vec();
        stamp.push(bootstrap.len() as u8);
        stamp.extend(bootstrap.as_bytes());
        let url = format!("sdns://{}", URL_SAFE_NO_PAD.encode(stamp));
        let expected = ("192.0.2.7:853".parse().unwrap(), Bootstrap::Resolver);
        assert_eq!(locate(&[], &url).unwrap(), expected);
        serve.join().unwrap();
        let inside = GivenAddresses::default().locate_inside(&url.parse().unwrap(), None);
        assert!(matches!(inside, ResolverLocation::Unknown(look_up) if look_up.by == Some(at)));
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
