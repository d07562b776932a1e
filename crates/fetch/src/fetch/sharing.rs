//! Collects the facts for using the resolver's connection for the page, from this connection and
//! earlier connections. Not for: the rule (`page_coverage`).

use super::client::FetchClient;
use super::page_coverage::PageCoverage;
use resolab_http::{H3Client, https_origin};
use resolab_record::{CoverageSource, SharedBecause};
use resolab_transport::client::certificate_covers;
use std::net::IpAddr;
use std::sync::PoisonError;

impl FetchClient {
    /// Returns the facts known from this connection.
    fn read_coverage(&self, http: &H3Client) -> PageCoverage {
        let origin = self.page.origin();
        // What the connection was opened for is in its set without being named.
        let is_own = origin == https_origin(&self.resolver.host, self.resolver_at.port());
        PageCoverage {
            certificate_covers: certificate_covers(&http.quic().connection, &self.page.host),
            origin_named: http.origins().allow(&origin).map(|named| named || is_own),
            is_misdirected: false,
        }
    }

    fn earlier_coverage(&self) -> PageCoverage {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the facts known from this connection. A connection resumed with a ticket also uses
    /// the previous connection's facts until it has facts of its own.
    fn merge_coverage(&self, http: &H3Client) -> PageCoverage {
        let handshake = http.quic().log.handshake();
        let earlier = if handshake.is_some_and(|handshake| !handshake.resumed) {
            self.earlier_coverage().keep_server_facts()
        } else {
            self.earlier_coverage()
        };
        self.read_coverage(http).or(earlier)
    }

    /// Remembers a connection's facts, for later connections with its ticket. A certificate counts
    /// as long as the server still has it; a later handshake tells.
    pub(super) fn learn(&self, http: &H3Client) {
        let learnt = self.merge_coverage(http);
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = learnt;
    }

    /// Notes that the server does not answer for the page on the resolver's connections.
    pub(super) fn unlearn(&self, http: &H3Client) {
        http.origins().remove(&self.page.origin());
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.is_misdirected = true;
    }

    /// Returns the source of the certificate covering the host, when a request for the page may
    /// leave before its name is known.
    pub(super) fn coverage(&self, http: &H3Client) -> Option<CoverageSource> {
        let earlier = self.earlier_coverage();
        if earlier.is_misdirected {
            return None;
        }
        match (
            self.read_coverage(http).certificate_covers,
            earlier.certificate_covers,
        ) {
            (Some(true), _) => Some(CoverageSource::Connection),
            (None, Some(true)) => Some(CoverageSource::Earlier),
            (Some(false), _) | (None, Some(false) | None) => None,
        }
    }

    /// Returns the reason for fetching the page over this connection, after the name is known.
    pub(super) fn shared_because(
        &self,
        http: &H3Client,
        addresses: &[IpAddr],
    ) -> Option<SharedBecause> {
        let known = self.merge_coverage(http);
        known.shared_because(addresses, self.page.port, self.resolver_at)
    }
}
