//! Whether the resolver's connection may be used for the page (RFC 9114 section 3.3, RFC 8336
//! section 2.4): the certificate must cover the host, and the connection's Origin Set must name the
//! origin. Where a server gives no such set, the name's address must be the connection's. A server
//! that answered 421 is not asked for the page again on a connection of the resolver's.
//!
//! Not for: sending anything.

use super::FetchClient;
use resolab_http::{H3Client, https_origin};
use resolab_record::{CoverageSource, SharedBecause};
use resolab_transport::client::certificate_covers;
use std::net::{IpAddr, SocketAddr};
use std::sync::PoisonError;

/// What connections to a server said of a page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Knowledge {
    /// `None` while no handshake has ended.
    certificate_covers: Option<bool>,
    /// Whether its origin is in the connection's Origin Set; `None` without one.
    origin_named: Option<bool>,
    /// Whether the server answered 421 for it, which no certificate and no set takes back.
    is_misdirected: bool,
}

impl Knowledge {
    fn or(self, earlier: Self) -> Self {
        Self {
            certificate_covers: self.certificate_covers.or(earlier.certificate_covers),
            origin_named: self.origin_named.or(earlier.origin_named),
            is_misdirected: self.is_misdirected || earlier.is_misdirected,
        }
    }

    /// What of it counts on a connection with a handshake of its own: that one's certificate and
    /// Origin Set are its own, too.
    fn of_the_server(self) -> Self {
        Self {
            is_misdirected: self.is_misdirected,
            ..Self::default()
        }
    }

    /// The rule, once the name is known.
    fn shared_because(
        self,
        addresses: &[IpAddr],
        page_port: u16,
        server: SocketAddr,
    ) -> Option<SharedBecause> {
        if self.certificate_covers != Some(true) || self.is_misdirected {
            return None;
        }
        let is_same = page_port == server.port() && addresses.contains(&server.ip());
        match (self.origin_named, is_same) {
            (Some(false), _) | (None, false) => None,
            (_, true) => Some(SharedBecause::Address),
            (Some(true), false) => Some(SharedBecause::Origin),
        }
    }
}

impl FetchClient {
    /// What is known now, by this connection.
    fn look(&self, http: &H3Client) -> Knowledge {
        let origin = self.page.origin();
        // What the connection was opened for is in its set without being named.
        let is_own = origin == https_origin(&self.resolver.host, self.resolver_at.port());
        Knowledge {
            certificate_covers: certificate_covers(&http.quic().connection, &self.page.host),
            origin_named: http.origins().allow(&origin).map(|named| named || is_own),
            is_misdirected: false,
        }
    }

    fn earlier(&self) -> Knowledge {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known now, by this connection and, as long as it has not spoken and came back with
    /// its ticket, by the one before.
    fn know(&self, http: &H3Client) -> Knowledge {
        let handshake = http.quic().log.handshake();
        let earlier = if handshake.is_some_and(|handshake| !handshake.resumed) {
            self.earlier().of_the_server()
        } else {
            self.earlier()
        };
        self.look(http).or(earlier)
    }

    /// Remember what a connection said, for those that come back with its ticket. A certificate
    /// counts as far as the server still has it: a later handshake says so.
    pub(super) fn learn(&self, http: &H3Client) {
        let learnt = self.know(http);
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = learnt;
    }

    /// The server does not answer for the page on the resolver's connections.
    pub(super) fn unlearn(&self, http: &H3Client) {
        http.origins().remove(&self.page.origin());
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.is_misdirected = true;
    }

    /// Whether a request for the page may leave now, before its name is known: if the certificate
    /// covers the host.
    pub(super) fn coverage(&self, http: &H3Client) -> Option<CoverageSource> {
        let earlier = self.earlier();
        if earlier.is_misdirected {
            return None;
        }
        match (
            self.look(http).certificate_covers,
            earlier.certificate_covers,
        ) {
            (Some(true), _) => Some(CoverageSource::Connection),
            (None, Some(true)) => Some(CoverageSource::Earlier),
            (Some(false), _) | (None, Some(false) | None) => None,
        }
    }

    /// Whether the page may come over this connection, the name being known.
    pub(super) fn shared_because(
        &self,
        http: &H3Client,
        addresses: &[IpAddr],
    ) -> Option<SharedBecause> {
        let known = self.know(http);
        known.shared_because(addresses, self.page.port, self.resolver_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(covers: Option<bool>, origin_named: Option<bool>) -> Knowledge {
        Knowledge {
            certificate_covers: covers,
            origin_named,
            is_misdirected: false,
        }
    }

    #[test]
    fn a_connection_is_shared_by_certificate_and_address_or_origin() {
        let server: SocketAddr = "192.0.2.1:443".parse().unwrap();
        let (same, other) = ([server.ip()], ["192.0.2.9".parse().unwrap()]);
        let (yes, no) = (Some(true), Some(false));
        let by_address = Some(SharedBecause::Address);
        for (known, addresses, port, expected) in [
            (known(yes, None), same, 443, by_address),
            (known(yes, yes), same, 443, by_address),
            (known(yes, None), same, 8443, None),
            (known(yes, None), other, 443, None),
            (known(yes, yes), other, 443, Some(SharedBecause::Origin)),
            (known(yes, yes), same, 8443, Some(SharedBecause::Origin)),
            // What an Origin Set does not name, it forbids.
            (known(yes, no), same, 443, None),
            (known(yes, no), other, 443, None),
            (known(no, yes), same, 443, None),
            (known(None, yes), same, 443, None),
        ] {
            let shared_because = |known: Knowledge| known.shared_because(&addresses, port, server);
            assert_eq!(shared_because(known), expected, "{known:?}");
            let misdirected = Knowledge {
                is_misdirected: true,
                ..known
            };
            assert_eq!(shared_because(misdirected), None, "{known:?}");
        }
    }

    #[test]
    fn what_this_connection_says_goes_before_what_an_earlier_one_said() {
        let (yes, no) = (Some(true), Some(false));
        assert_eq!(known(no, no).or(known(yes, yes)), known(no, no));
        assert_eq!(known(None, None).or(known(yes, yes)), known(yes, yes));
        assert_eq!(known(yes, None).or(known(None, no)), known(yes, no));
    }

    #[test]
    fn a_421_is_no_connection_s_to_take_back() {
        let misdirected = Knowledge {
            is_misdirected: true,
            ..known(Some(true), Some(true))
        };
        let later = known(Some(true), Some(true));
        assert!(later.or(misdirected).is_misdirected);
        let own = later.or(misdirected.of_the_server());
        assert_eq!(own, misdirected);
        assert_eq!(
            known(None, None).or(later.of_the_server()),
            known(None, None)
        );
    }
}
