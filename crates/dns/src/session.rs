//! One open connection of any transport: build the query the way the transport wants it, exchange
//! it, close.

use crate::doh::DohSession;
use crate::doh3::Doh3Session;
use crate::doq::{self, DoqSession};
use crate::doudp::{self, UdpRetryPolicy};
use crate::edns::ClientEdns;
use crate::exchange::ExchangeLog;
use crate::framed::FramedConnection;
use crate::message::{build_query, random_id};
use crate::question::Question;
use resolab_http::H3_NO_ERROR;
use resolab_record::Failure;
use resolab_transport::client::{MeasuredFailure, SetupLog};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// How long a closing connection may take to say so.
const CLOSE_AT_MOST: Duration = Duration::from_millis(200);
/// How long the runtime gets to send a QUIC close.
const CLOSE_LEAVES_WITHIN: Duration = Duration::from_millis(2);

enum Kind {
    Udp {
        resolver: SocketAddr,
        policy: UdpRetryPolicy,
        setup: Arc<SetupLog>,
    },
    Framed(FramedConnection),
    Doh(DohSession),
    Doh3(Box<Doh3Session>),
    Doq(DoqSession),
}

/// A connection that takes queries; exchanges may overlap.
pub struct Session {
    kind: Kind,
    edns: Arc<ClientEdns>,
}

impl Session {
    /// DoUDP has no connection: each exchange makes a socket.
    pub(crate) fn udp(
        resolver: SocketAddr,
        policy: UdpRetryPolicy,
        setup: Arc<SetupLog>,
        edns: Arc<ClientEdns>,
    ) -> Self {
        Self {
            kind: Kind::Udp {
                resolver,
                policy,
                setup,
            },
            edns,
        }
    }

    /// DoTCP and DoT.
    pub(crate) fn framed(connection: FramedConnection, edns: Arc<ClientEdns>) -> Self {
        Self {
            kind: Kind::Framed(connection),
            edns,
        }
    }

    /// DoH.
    pub(crate) fn doh(session: DohSession, edns: Arc<ClientEdns>) -> Self {
        Self {
            kind: Kind::Doh(session),
            edns,
        }
    }

    /// DoH3.
    pub(crate) fn doh3(session: Doh3Session, edns: Arc<ClientEdns>) -> Self {
        Self {
            kind: Kind::Doh3(Box::new(session)),
            edns,
        }
    }

    /// DoQ.
    pub(crate) fn doq(session: DoqSession, edns: Arc<ClientEdns>) -> Self {
        Self {
            kind: Kind::Doq(session),
            edns,
        }
    }

    /// Ask; the query sent and the response to it, not yet checked.
    pub async fn exchange(
        &self,
        question: &Question,
        log: &ExchangeLog,
    ) -> Result<(Vec<u8>, Vec<u8>), MeasuredFailure> {
        let cookie = self
            .edns
            .cookies
            .as_ref()
            .map(|jar| log.cookie(|| jar.next()));
        let edns = self.edns.of_query(question, cookie.cloned());
        let query = build_query(question, self.fresh_id(), &edns)
            .map_err(|error| MeasuredFailure::new(Failure::Other, error))?;
        let response = match &self.kind {
            Kind::Udp {
                resolver,
                policy,
                setup,
            } => doudp::exchange(*resolver, *policy, &query, setup, log).await?,
            Kind::Framed(connection) => connection.exchange(&query, log).await?,
            Kind::Doh(session) => session.exchange(&query, log).await?,
            Kind::Doh3(session) => session.exchange(&query, log).await?,
            Kind::Doq(session) => session.exchange(&query, log).await?,
        };
        Ok((query, response))
    }

    /// RFC 8484 section 4.1 (for caches) and RFC 9250 section 4.2.1 want 0.
    fn fresh_id(&self) -> u16 {
        match &self.kind {
            Kind::Udp { .. } => random_id(),
            Kind::Framed(connection) => connection.fresh_id(),
            Kind::Doh(_) | Kind::Doh3(_) | Kind::Doq(_) => 0,
        }
    }

    /// Whether the connection has ended.
    pub fn is_closed(&self) -> bool {
        match &self.kind {
            Kind::Udp { .. } => false,
            Kind::Framed(connection) => connection.is_closed(),
            Kind::Doh(session) => session.client.is_closed(),
            Kind::Doh3(session) => session.client.is_closed(),
            Kind::Doq(session) => session.quic.is_closed(),
        }
    }

    /// Close a session others may be using: in an orderly way if none is, otherwise at once, and
    /// their exchanges fail.
    pub async fn close_shared(self: Arc<Self>) {
        match Arc::try_unwrap(self) {
            Ok(session) => session.close().await,
            Err(shared) => match &shared.kind {
                Kind::Udp { .. } => (),
                Kind::Framed(connection) => connection.abort(),
                Kind::Doh(session) => session.client.abort(),
                Kind::Doh3(session) => session.client.quic().close(H3_NO_ERROR),
                Kind::Doq(session) => session.quic.close(doq::NO_ERROR),
            },
        }
    }

    /// Close in an orderly way; returns when the last packet was handed to the kernel.
    pub async fn close(self) {
        match self.kind {
            Kind::Udp { .. } => (),
            Kind::Framed(connection) => connection.close(CLOSE_AT_MOST).await,
            Kind::Doh(session) => session.client.close(CLOSE_AT_MOST).await,
            Kind::Doh3(session) => {
                session.client.quic().close(H3_NO_ERROR);
                session.client.quic().drained(CLOSE_LEAVES_WITHIN).await;
            }
            Kind::Doq(session) => {
                session.quic.close(doq::NO_ERROR);
                session.quic.drained(CLOSE_LEAVES_WITHIN).await;
            }
        }
    }
}
