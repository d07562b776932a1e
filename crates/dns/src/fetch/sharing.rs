//! Whether the resolver's connection may be used for the page (RFC 9114 section 3.3, RFC 8336
//! section 2.4): the certificate must cover the host, and either the name's address is the
//! connection's or an ORIGIN frame named the origin.
//!
//! Not for: sending anything.

use super::FetchClient;
use resolab_http::H3Client;
use resolab_record::{CoverageSource, SharedBecause};
use resolab_transport::client::certificate_covers;
use std::net::{IpAddr, SocketAddr};
use std::sync::PoisonError;

/// What connections to a server said of a page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Knowledge {
    /// `None` while no handshake has ended.
    certificate_covers: Option<bool>,
    origin_named: bool,
}

impl Knowledge {
    fn or(self, earlier: Self) -> Self {
        Self {
            certificate_covers: self.certificate_covers.or(earlier.certificate_covers),
            origin_named: self.origin_named || earlier.origin_named,
        }
    }

    /// The rule, once the name is known.
    fn shared_because(
        self,
        addresses: &[IpAddr],
        page_port: u16,
        server: SocketAddr,
    ) -> Option<SharedBecause> {
        if self.certificate_covers != Some(true) {
            return None;
        }
        let is_same = page_port == server.port() && addresses.contains(&server.ip());
        match (is_same, self.origin_named) {
            (true, _) => Some(SharedBecause::Address),
            (false, true) => Some(SharedBecause::Origin),
            (false, false) => None,
        }
    }
}

impl FetchClient {
    /// What is known now, by this connection.
    fn look(&self, http: &H3Client) -> Knowledge {
        Knowledge {
            certificate_covers: certificate_covers(&http.quic().connection, &self.page.host),
            origin_named: http.origins().contain(&self.page.origin()),
        }
    }

    fn earlier(&self) -> Knowledge {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remember what a connection said, for those that come back with its ticket. A certificate
    /// counts as far as the server still has it: a later handshake says so.
    pub(super) fn learn(&self, http: &H3Client) {
        let learnt = self.look(http).or(self.earlier());
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = learnt;
    }

    /// The server does not answer for the page here.
    pub(super) fn unlearn(&self, http: &H3Client) {
        http.origins().remove(&self.page.origin());
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Knowledge {
            certificate_covers: Some(false),
            origin_named: false,
        };
    }

    /// Whether a request for the page may leave now, before its name is known: if the certificate
    /// covers the host.
    pub(super) fn coverage(&self, http: &H3Client) -> Option<CoverageSource> {
        match (
            self.look(http).certificate_covers,
            self.earlier().certificate_covers,
        ) {
            (Some(true), _) => Some(CoverageSource::Connection),
            (None, Some(true)) => Some(CoverageSource::Earlier),
            _ => None,
        }
    }

    /// Whether the page may come over this connection, the name being known.
    pub(super) fn shared_because(
        &self,
        http: &H3Client,
        addresses: &[IpAddr],
    ) -> Option<SharedBecause> {
        let known = self.look(http).or(self.earlier());
        known.shared_because(addresses, self.page.port, self.resolver_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_is_shared_by_certificate_and_address_or_origin() {
        let server: SocketAddr = "192.0.2.1:443".parse().unwrap();
        let (same, other) = ([server.ip()], ["192.0.2.9".parse().unwrap()]);
        let known = |covers, origin_named| Knowledge {
            certificate_covers: covers,
            origin_named,
        };
        for (known, addresses, port, expected) in [
            (
                known(Some(true), false),
                same,
                443,
                Some(SharedBecause::Address),
            ),
            (
                known(Some(true), true),
                same,
                443,
                Some(SharedBecause::Address),
            ),
            (known(Some(true), false), same, 8443, None),
            (known(Some(true), false), other, 443, None),
            (
                known(Some(true), true),
                other,
                443,
                Some(SharedBecause::Origin),
            ),
            (known(Some(false), true), same, 443, None),
            (known(None, true), same, 443, None),
        ] {
            assert_eq!(
                known.shared_because(&addresses, port, server),
                expected,
                "{known:?}"
            );
        }
    }

    #[test]
    fn what_this_connection_says_goes_before_what_an_earlier_one_said() {
        let known = |covers| Knowledge {
            certificate_covers: covers,
            origin_named: false,
        };
        assert_eq!(known(Some(false)).or(known(Some(true))), known(Some(false)));
        assert_eq!(known(None).or(known(Some(true))), known(Some(true)));
    }
}
