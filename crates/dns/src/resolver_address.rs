//! The address of a resolver: a URL (`udp:// tcp:// tls:// https:// h3:// quic://`) or a DNS stamp
//! (`sdns://`). An address without a scheme is UDP. Not for: turning host names into addresses
//! (`bootstrap`).

use crate::stamp::{Stamp, StampError};
use crate::zoned_address::{ZonedAddress, split_zone};
use resolab_record::DnsTransport;
use resolab_transport::client::Sha256;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;
use thiserror::Error;
use url::{Host, ParseError, Url};

/// The DoH path when the URL has no path. RFC 8484 leaves the path to a template; common resolvers
/// all use this path.
const DEFAULT_DOH_PATH: &str = "/dns-query";

/// The reason for a refused zone.
const ZONE_OF_NO_ADDRESS: &str = "only an address of IPv6 has a zone";

/// The error for a text without a resolver address.
#[derive(Debug, Error)]
pub enum ResolverAddressError {
    /// A text that is not a URL.
    #[error("read resolver {text:?}: {reason}; give an address or a URL like quic://dns.example")]
    NotAUrl {
        /// The text as given by the user.
        text: String,
        /// The error found in the text.
        reason: String,
    },
    /// A URL scheme without a transport here.
    #[error(
        "read resolver {text:?}: no transport is called {scheme:?}; \
         use udp, tcp, tls, https, h3, quic or sdns"
    )]
    Scheme {
        /// The text as given by the user.
        text: String,
        /// The scheme of the URL.
        scheme: String,
    },
    /// A damaged stamp, or a stamp of an unsupported protocol.
    #[error("read resolver {text:?}: {source}")]
    Stamp {
        /// The text as given by the user.
        text: String,
        /// The error found in the stamp.
        source: StampError,
    },
    /// A part of the URL without a meaning for resolvers.
    #[error("read resolver {text:?}: {part} has no meaning there")]
    Part {
        /// The text as given by the user.
        text: String,
        /// The part, by name.
        part: &'static str,
    },
}

/// A resolver, and everything needed to reach it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolverAddress {
    /// The URL as given; `udp://` in front of a bare address.
    pub url: String,
    /// The transport of queries to the resolver.
    pub transport: DnsTransport,
    /// The host name or address, without brackets.
    pub host: String,
    /// The port; the transport's default port unless given.
    pub port: u16,
    /// Path and query of DoH, without the variable `dns` of a URI template.
    pub path: String,
    /// The interface of a link-local address, by name or number.
    pub zone: Option<String>,
    /// The host's address, when a stamp contains an address.
    pub stamped_ip: Option<IpAddr>,
    /// The resolvers named in a stamp for looking up the host over DoUDP.
    pub bootstrap_resolvers: Vec<SocketAddr>,
    /// The accepted hashes of a certificate's signed part. A certificate of the server must match a
    /// hash. Empty accepts all certificates. Only stamps have hashes.
    pub certificate_hashes: Vec<Sha256>,
}

impl ResolverAddress {
    /// Returns the host as an address; `None` for a name.
    pub fn ip(&self) -> Option<IpAddr> {
        self.host.parse().ok()
    }

    /// Returns host and port as written in a DoH request, the port only when not 443.
    pub fn authority(&self) -> String {
        let host = match self.ip() {
            Some(IpAddr::V6(address)) => format!("[{address}]"),
            _ => self.host.clone(),
        };
        if self.port == 443 {
            host
        } else {
            format!("{host}:{}", self.port)
        }
    }

    fn bare(text: &str) -> Option<Self> {
        let alone = || {
            let address = ZonedAddress::read(text)?;
            Some((address, default_port(DnsTransport::Doudp)))
        };
        let (ZonedAddress { ip, zone }, port) =
            ZonedAddress::read_with_port(text).or_else(alone)?;
        let url = match &zone {
            Some(zone) => format!("udp://[{ip}%{zone}]:{port}"),
            None => format!("udp://{}", SocketAddr::new(ip, port)),
        };
        Some(Self {
            url,
            transport: DnsTransport::Doudp,
            host: ip.to_string(),
            port,
            path: String::new(),
            zone,
            stamped_ip: None,
            bootstrap_resolvers: Vec::new(),
            certificate_hashes: Vec::new(),
        })
    }

    fn from_stamp(text: &str, stamp: Stamp) -> Result<Self, ResolverAddressError> {
        let mut address = Self {
            url: text.to_owned(),
            transport: stamp.transport,
            port: stamp.port.unwrap_or(default_port(stamp.transport)),
            host: stamp.host,
            path: String::new(),
            zone: stamp.zone,
            stamped_ip: stamp.address,
            bootstrap_resolvers: stamp.bootstrap_resolvers,
            certificate_hashes: stamp.certificate_hashes,
        };
        // A stamp that says `/` means it.
        if stamp.path == "/" {
            address.path = stamp.path;
        } else if stamp.transport == DnsTransport::Doh {
            let url = format!("https://{}{}", address.authority(), stamp.path);
            let url = Url::parse(strip_variable(&url)).map_err(|error| {
                ResolverAddressError::NotAUrl {
                    text: text.to_owned(),
                    reason: error.to_string(),
                }
            })?;
            address.path = path_of(&url, stamp.transport, text)?;
        }
        Ok(address)
    }
}

impl FromStr for ResolverAddress {
    type Err = ResolverAddressError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let not_a_url = |reason: String| ResolverAddressError::NotAUrl {
            text: text.into(),
            reason,
        };
        let no_port = || not_a_url("its port is 0".to_owned());
        if let Some(bare) = Self::bare(text) {
            return if bare.port == 0 {
                Err(no_port())
            } else {
                Ok(bare)
            };
        }
        if let Some(stamp) = Stamp::read(text) {
            let stamp = stamp.map_err(|source| ResolverAddressError::Stamp {
                text: text.to_owned(),
                source,
            })?;
            return Self::from_stamp(text, stamp);
        }
        let no_zone = || not_a_url("the zone of its address is empty".to_owned());
        let (without_zone, zone) = split_zone(text).ok_or_else(no_zone)?;
        let url = Url::parse(strip_variable(&without_zone));
        let url = url.map_err(|error| not_a_url(url_error(text, error)))?;
        let transport = transport_of(url.scheme()).ok_or_else(|| ResolverAddressError::Scheme {
            text: text.to_owned(),
            scheme: url.scheme().to_owned(),
        })?;
        let host = host_of(&url).map_err(not_a_url)?;
        if zone.is_some() && !host.contains(':') {
            return Err(not_a_url(ZONE_OF_NO_ADDRESS.to_owned()));
        }
        let port = url.port().unwrap_or(default_port(transport));
        if port == 0 {
            return Err(no_port());
        }
        Ok(Self {
            url: text.to_owned(),
            transport,
            port,
            host,
            path: path_of(&url, transport, text)?,
            zone,
            stamped_ip: None,
            bootstrap_resolvers: Vec::new(),
            certificate_hashes: Vec::new(),
        })
    }
}

impl fmt::Display for ResolverAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.url)
    }
}

/// Returns the host of a URL of any scheme, without brackets. Names beyond ASCII become A-labels
/// (UTS 46), which the `url` crate does for schemes of the web alone.
fn host_of(url: &Url) -> Result<String, String> {
    let host = url.host_str().filter(|host| !host.is_empty());
    let host = host.ok_or("it has no host")?;
    match Host::parse(host) {
        Ok(Host::Domain(name)) => Ok(name),
        Ok(Host::Ipv4(ip)) => Ok(ip.to_string()),
        Ok(Host::Ipv6(ip)) => Ok(ip.to_string()),
        Err(error) => Err(host_error(host, error)),
    }
}

/// Returns the reason for a text that is no URL.
fn url_error(text: &str, error: ParseError) -> String {
    let behind_scheme = text.split_once("://").map_or(text, |(_, rest)| rest);
    host_error(behind_scheme, error)
}

/// Returns the reason for a text that does not begin with a host.
fn host_error(text: &str, error: ParseError) -> String {
    let before = text.split_once('%').map(|(before, _)| before);
    if before.is_some_and(|before| before.parse::<Ipv4Addr>().is_ok()) {
        ZONE_OF_NO_ADDRESS.to_owned()
    } else {
        error.to_string()
    }
}

fn transport_of(scheme: &str) -> Option<DnsTransport> {
    Some(match scheme {
        "udp" => DnsTransport::Doudp,
        "tcp" => DnsTransport::Dotcp,
        "tls" => DnsTransport::Dot,
        "https" => DnsTransport::Doh,
        "h3" => DnsTransport::Doh3,
        "quic" => DnsTransport::Doq,
        _ => return None,
    })
}

/// Returns the default port (RFC 1035 section 4.2, RFC 7858 section 3.1, RFC 8484 section 3, RFC
/// 9250 section 4.1.1).
fn default_port(transport: DnsTransport) -> u16 {
    match transport {
        DnsTransport::Doudp | DnsTransport::Dotcp => 53,
        DnsTransport::Dot | DnsTransport::Doq => 853,
        DnsTransport::Doh | DnsTransport::Doh3 => 443,
    }
}

fn path_of(url: &Url, transport: DnsTransport, text: &str) -> Result<String, ResolverAddressError> {
    let wrong = |part| ResolverAddressError::Part {
        text: text.to_owned(),
        part,
    };
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("a user name"));
    }
    if url.fragment().is_some() {
        return Err(wrong("a fragment"));
    }
    if transport.http_version().is_none() {
        let is_plain = matches!(url.path(), "" | "/") && url.query().is_none();
        return if is_plain {
            Ok(String::new())
        } else {
            Err(wrong("a path"))
        };
    }
    let path = match url.path() {
        "" | "/" => DEFAULT_DOH_PATH,
        path => path,
    };
    let path = match url.query() {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    };
    let capitals = path.to_ascii_uppercase();
    if path.contains(['{', '}']) || capitals.contains("%7B") || capitals.contains("%7D") {
        return Err(wrong(
            "a variable of a template but {?dns} or {&dns} at its end",
        ));
    }
    Ok(path)
}

/// Removes the variable from a URI template (RFC 8484 section 3). All known templates have the
/// variable at the end.
fn strip_variable(template: &str) -> &str {
    let variables = ["{?dns}", "{&dns}"];
    let without = variables
        .into_iter()
        .find_map(|variable| template.strip_suffix(variable));
    without.unwrap_or(template)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;

    fn parse(text: &str) -> ResolverAddress {
        text.parse().unwrap()
    }

    #[test]
    fn schemes_and_default_ports() {
        for (text, transport, port) in [
            ("udp://10.77.0.1", DnsTransport::Doudp, 53),
            ("tcp://10.77.0.1", DnsTransport::Dotcp, 53),
            ("tls://dns.resolab.test", DnsTransport::Dot, 853),
            ("https://dns.resolab.test", DnsTransport::Doh, 443),
            ("h3://dns.resolab.test/", DnsTransport::Doh3, 443),
            ("quic://dns.resolab.test", DnsTransport::Doq, 853),
            ("quic://dns.resolab.test:8853", DnsTransport::Doq, 8853),
        ] {
            let address = parse(text);
            assert_eq!(
                (address.transport, address.port),
                (transport, port),
                "{text}"
            );
            assert_eq!(address.url, text);
        }
        assert_eq!(parse("h3://dns.resolab.test").path, "/dns-query");
        assert_eq!(parse("https://dns.example/q/x").path, "/q/x");
        assert_eq!(
            parse("https://dns.example/dns-query{?dns}").path,
            "/dns-query"
        );
    }

    #[test]
    fn a_bare_address_is_udp() {
        let address = parse("9.9.9.9");
        assert_eq!(
            (address.url.as_str(), address.port),
            ("udp://9.9.9.9:53", 53)
        );
        assert_eq!(parse("127.0.0.1:5300").port, 5300);
        let address = parse("[::1]:5300");
        assert_eq!((address.host.as_str(), address.port), ("::1", 5300));
        assert_eq!(parse("2620:fe::fe").host, "2620:fe::fe");
    }

    #[test]
    fn an_address_of_one_link_has_a_zone() {
        for (text, url, zone) in [
            ("fe80::1%lo", "udp://[fe80::1%lo]:53", "lo"),
            ("[fe80::1%2]:5300", "udp://[fe80::1%2]:5300", "2"),
            ("udp://[fe80::1%25lo]", "udp://[fe80::1%25lo]", "lo"),
            (
                "https://[fe80::1%eth0]:8443/q",
                "https://[fe80::1%eth0]:8443/q",
                "eth0",
            ),
        ] {
            let address = parse(text);
            assert_eq!(
                (address.url.as_str(), address.zone.as_deref()),
                (url, Some(zone))
            );
            assert_eq!(address.host, "fe80::1", "{text}");
        }
        // What the server gets to see has no zone (RFC 6874 section 4).
        assert_eq!(
            parse("https://[fe80::1%eth0]:8443").authority(),
            "[fe80::1]:8443"
        );
    }

    #[test]
    fn a_doh_url_may_have_a_query() {
        // RFC 8484 section 3.
        for (url, path) in [
            ("https://dns.example/?token=a", "/dns-query?token=a"),
            ("https://dns.example/q?token=a{&dns}", "/q?token=a"),
            ("h3://dns.example/q{?dns}", "/q"),
        ] {
            assert_eq!(parse(url).path, path, "{url}");
        }
    }

    #[test]
    fn a_percent_sign_outside_brackets_belongs_to_path_and_query() {
        for (url, path) in [
            ("https://127.0.0.1:4502/a%20b", "/a%20b"),
            ("h3://127.0.0.1:4502/q?t=x%3D", "/q?t=x%3D"),
            ("https://[::1]:4502/a%20b?t=%5D", "/a%20b?t=%5D"),
            ("https://[fe80::1%25lo]/a%20b{?dns}", "/a%20b"),
        ] {
            assert_eq!(parse(url).path, path, "{url}");
        }
    }

    #[test]
    fn names_beyond_ascii_are_a_labels_in_every_scheme() {
        for scheme in ["udp", "tcp", "tls", "https", "h3", "quic"] {
            for (typed, host) in [
                ("m\u{fc}nchen.test", "xn--mnchen-3ya.test"),
                ("M\u{dc}NCHEN.test", "xn--mnchen-3ya.test"),
                ("m%C3%BCnchen.test", "xn--mnchen-3ya.test"),
                ("dns\u{3002}example\u{ff0e}test", "dns.example.test"),
                ("DNS.Example", "dns.example"),
                ("127.0.0.1", "127.0.0.1"),
                ("[2620:FE::fe]", "2620:fe::fe"),
            ] {
                let url = format!("{scheme}://{typed}:8443");
                let address = parse(&url);
                assert_eq!((address.host.as_str(), address.port), (host, 8443), "{url}");
                assert_eq!(address.url, url);
            }
        }
    }

    #[test]
    fn version_6_addresses_lose_their_brackets() {
        let address = parse("quic://[2620:fe::fe]:8853");
        assert_eq!(address.ip(), Some("2620:fe::fe".parse().unwrap()));
        assert_eq!(parse("https://[::1]").authority(), "[::1]");
        assert_eq!(parse("https://[::1]:8443").authority(), "[::1]:8443");
        assert_eq!(parse("h3://dns.example").authority(), "dns.example");
    }

    #[test]
    fn stamps() {
        let stamp = |protocol: u8, rest: &[u8]| {
            let bytes = [&[protocol, 0, 0, 0, 0, 0, 0, 0, 0][..], rest].concat();
            let text = format!("sdns://{}", URL_SAFE_NO_PAD.encode(bytes));
            text.parse::<ResolverAddress>().map_err(|e| e.to_string())
        };
        let doh = stamp(2, b"\x09192.0.2.1\0\x0bdns.example\x02/q").unwrap();
        assert!(doh.url.starts_with("sdns://"));
        assert_eq!((doh.transport, doh.port), (DnsTransport::Doh, 443));
        assert_eq!(
            (doh.authority().as_str(), doh.path.as_str()),
            ("dns.example", "/q")
        );
        assert_eq!(doh.stamped_ip, Some("192.0.2.1".parse().unwrap()));
        assert_eq!(stamp(3, b"\0\0\x0bdns.example").unwrap().port, 853);
        assert_eq!(stamp(4, b"\0\0\x0bdns.example").unwrap().port, 853);
        assert_eq!(stamp(0, b"\x09192.0.2.1").unwrap().port, 53);
        for (given, path) in [
            (&b"\0"[..], "/dns-query"),
            (b"\x01/", "/"),
            (b"\x03/a ", "/a"),
            (b"\x05/a/\xc3\xbc", "/a/%C3%BC"),
            (b"\x12/dns-query{?dns}\0", "error"),
            (b"\x10/dns-query{?dns}", "/dns-query"),
            (b"\x04/q?x", "/q?x"),
            (b"\x0a/q?x{&dns}", "/q?x"),
            (b"\x05/{dns", "error"),
        ] {
            let rest = [&b"\x05:8443\0\x0bdns.example"[..], given].concat();
            let read = stamp(2, &rest);
            let found = read.as_ref().map_or("error", |address| &address.path);
            assert_eq!(found, path, "{read:?}");
        }
        let error = stamp(1, b"\0").unwrap_err();
        assert!(
            error.starts_with("read resolver \"sdns://") && error.contains("DNSCrypt"),
            "{error}"
        );
    }

    #[test]
    fn errors_name_what_is_wrong() {
        for (text, says) in [
            ("dns.example", "give an address or a URL"),
            ("sdns://AgcAAAA", "ends inside its properties"),
            ("dnscrypt://AgcAAAA", "\"dnscrypt\""),
            ("quic://", "no host"),
            ("quic://dns.example/x", "a path"),
            ("https://me@dns.example/", "a user name"),
            ("https://dns.example/q{?dns,x}", "a variable"),
            ("https://dns.example/{dns}", "a variable"),
            ("https://dns.example/%7bdns%7d", "a variable"),
            ("udp://[fe80::1%]", "the zone of its address is empty"),
            ("udp://192.0.2.1%eth0", "only an address of IPv6"),
            ("udp://192.0.2.1%25eth0", "only an address of IPv6"),
            ("https://192.0.2.1%eth0/", "only an address of IPv6"),
            ("tls://dns%20x.example", "invalid"),
            ("tls://dns.example#x", "a fragment"),
            ("udp://1.2.3.4:99999", "invalid port"),
            ("https://dns.example:0/", "port is 0"),
            ("192.0.2.1:0", "port is 0"),
        ] {
            let error = text.parse::<ResolverAddress>().unwrap_err().to_string();
            assert!(error.contains(says) && error.contains(text), "{error}");
        }
    }
}
