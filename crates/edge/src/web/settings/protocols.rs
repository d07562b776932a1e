//! The setting `site.protocols`: the protocols of the sockets offered by a site's names.
//!
//! For: the possible results of ALPN. Not for: the handshake.

use super::{SiteConfig, TcpAlpn, WebConfig};
use serde::Deserialize;

/// An entry of `site.protocols`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SiteProtocol {
    /// HTTP/1.1 over TLS over TCP.
    H1,
    /// HTTP/2 over TLS over TCP.
    H2,
    /// HTTP/3 over QUIC, `h3`.
    H3,
}

impl SiteProtocol {
    const ALL: [Self; 3] = [Self::H1, Self::H2, Self::H3];

    const fn alpn(self) -> &'static str {
        match self {
            Self::H1 => TcpAlpn::H1.id(),
            Self::H2 => TcpAlpn::H2.id(),
            Self::H3 => "h3",
        }
    }
}

impl SiteConfig {
    /// Returns true when the site's names offer a protocol.
    pub fn offers(&self, protocol: SiteProtocol) -> bool {
        let protocols = self.protocols.as_ref();
        protocols.is_none_or(|protocols| protocols.contains(&protocol))
    }

    /// Returns the ALPN identifiers not offered by the site's names, but possibly by their sockets.
    pub fn left_out_alpn(&self) -> Vec<Vec<u8>> {
        let all = SiteProtocol::ALL.into_iter();
        let left_out = all.filter(|protocol| !self.offers(*protocol));
        left_out
            .map(|protocol| protocol.alpn().as_bytes().to_vec())
            .collect()
    }

    /// Returns a requested protocol not offered by the socket over TCP, if any.
    pub fn protocol_without_socket(&self, web: &WebConfig) -> Option<&'static str> {
        let is_there = |id: &str| web.tcp_alpn.iter().any(|alpn| alpn.id() == id);
        let wanted = self.protocols.iter().flatten();
        let over_tcp = wanted.filter(|protocol| **protocol != SiteProtocol::H3);
        let mut ids = over_tcp.map(|protocol| protocol.alpn());
        ids.find(|id| !is_there(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(more: &str) -> SiteConfig {
        let text = format!("host = 'a.test'\naddress = '10.0.0.1'\n{more}");
        toml::from_str(&text).unwrap()
    }

    #[test]
    fn what_is_not_named_is_left_out() {
        let left_out = |more: &str| {
            let ids = site(more).left_out_alpn();
            let texts = ids.into_iter().map(|id| String::from_utf8(id).unwrap());
            texts.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(left_out(""), "");
        assert_eq!(left_out("protocols = ['h3', 'h1']"), "h2");
        assert_eq!(left_out("protocols = ['h2']"), "http/1.1 h3");
    }

    #[test]
    fn over_tcp_the_socket_must_have_it() {
        let web: WebConfig = toml::from_str("tcp_alpn = ['h2']").unwrap();
        let missing = |more: &str| site(more).protocol_without_socket(&web);
        assert_eq!(missing("protocols = ['h3', 'h1']"), Some("http/1.1"));
        assert_eq!(missing("protocols = ['h3', 'h2']"), None);
        assert_eq!(missing(""), None);
    }
}
