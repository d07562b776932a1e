//! One open connection of any transport: builds a query in the transport's form, exchanges
//! messages, closes. Not for: opening connections (`client`).

use crate::cookie::CookieJar;
use crate::edns::ClientEdns;
use crate::exchange::{ExchangeLog, Place};
use crate::message::{build_message, random_id};
use crate::question::Question;
use crate::sent_edns::SentEdns;
use crate::transports::course::Course;
use crate::transports::doh::DohSession;
use crate::transports::doh3::Doh3Session;
use crate::transports::doq::DoqSession;
use crate::transports::doudp;
use crate::transports::framed::FramedConnection;
use crate::transports::retry::Retries;
use hickory_proto::op::Message;
use resolab_http::{H3_NO_ERROR, H3Client};
use resolab_record::Failure;
use resolab_transport::client::{MeasuredFailure, SetupLog};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The maximum time for an orderly close.
const CLOSE_AT_MOST: Duration = Duration::from_millis(200);
/// The time given to the runtime to send a QUIC close.
const CLOSE_LEAVES_WITHIN: Duration = Duration::from_millis(2);

enum Kind {
    Udp {
        resolver: SocketAddr,
        retries: Arc<Retries>,
        setup: Arc<SetupLog>,
    },
    Framed(FramedConnection),
    Doh(DohSession),
    Doh3(Box<Doh3Session>),
    Doq(DoqSession),
}

/// A connection for queries; exchanges may overlap.
pub struct Session {
    kind: Kind,
    edns: Arc<ClientEdns>,
    traffic: Traffic,
}

/// A query as sent, and its response.
pub struct Exchanged {
    /// The query message as sent.
    pub query: Vec<u8>,
    /// The response message as received.
    pub response: Vec<u8>,
    /// The response's time in HTTP caches, in seconds; 0 without caches.
    pub age_s: u32,
}

/// The connection's counters: queries sent, and queries without a response.
#[derive(Default)]
struct Traffic {
    query_count: AtomicU32,
    outstanding_count: AtomicU32,
}

/// A pending query; dropping it ends the query.
struct Outstanding<'a>(&'a Traffic);

impl Traffic {
    fn begin(&self, log: &ExchangeLog) -> Outstanding<'_> {
        log.set_place(Place {
            query_index: self.query_count.fetch_add(1, Ordering::Relaxed),
            outstanding_count: self.outstanding_count.fetch_add(1, Ordering::Relaxed),
        });
        Outstanding(self)
    }
}

impl Drop for Outstanding<'_> {
    fn drop(&mut self) {
        self.0.outstanding_count.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Session {
    fn new(kind: Kind, edns: Arc<ClientEdns>) -> Self {
        Self {
            kind,
            edns,
            traffic: Traffic::default(),
        }
    }

    /// Makes a DoUDP session. DoUDP has no connection: each exchange makes a socket.
    pub(crate) fn udp(
        resolver: SocketAddr,
        retries: Arc<Retries>,
        setup: Arc<SetupLog>,
        edns: Arc<ClientEdns>,
    ) -> Self {
        let kind = Kind::Udp {
            resolver,
            retries,
            setup,
        };
        Self::new(kind, edns)
    }

    /// Makes a session on an open stream of DoTCP or DoT.
    pub(crate) fn framed(connection: FramedConnection, edns: Arc<ClientEdns>) -> Self {
        Self::new(Kind::Framed(connection), edns)
    }

    /// Makes a session on an open DoH connection.
    pub(crate) fn doh(session: DohSession, edns: Arc<ClientEdns>) -> Self {
        Self::new(Kind::Doh(session), edns)
    }

    /// Makes a session on an open DoH3 connection.
    pub(crate) fn doh3(session: Doh3Session, edns: Arc<ClientEdns>) -> Self {
        Self::new(Kind::Doh3(Box::new(session)), edns)
    }

    /// Makes a session on an open DoQ connection.
    pub(crate) fn doq(session: DoqSession, edns: Arc<ClientEdns>) -> Self {
        Self::new(Kind::Doq(session), edns)
    }

    /// Asks one question. Returns query and response, not yet checked.
    pub async fn exchange(
        &self,
        question: &Question,
        log: &ExchangeLog,
    ) -> Result<Exchanged, MeasuredFailure> {
        self.exchange_all(std::slice::from_ref(question), log).await
    }

    /// Asks any number of questions in one message. Returns query and response, not yet checked.
    pub async fn exchange_all(
        &self,
        questions: &[Question],
        log: &ExchangeLog,
    ) -> Result<Exchanged, MeasuredFailure> {
        let cookie = self.edns.cookies.as_ref().map(CookieJar::next);
        let edns = self.edns.of_message(questions.first(), cookie);
        log.set_sent_edns(SentEdns::of(&edns, &self.edns));
        let query = build_message(questions, self.fresh_id(), &edns)
            .map_err(|error| MeasuredFailure::new(Failure::Other, error))?;
        let _outstanding = self.traffic.begin(log);
        let (response, age_s) = match &self.kind {
            Kind::Udp {
                resolver,
                retries,
                setup,
            } => {
                let response = doudp::exchange(*resolver, retries, &query, setup, log).await?;
                (response, 0)
            }
            Kind::Framed(connection) => (connection.exchange(&query, log).await?, 0),
            Kind::Doh(session) => session.exchange(&query, log).await?.into_parts(),
            Kind::Doh3(session) => session.exchange(&query, log).await?.into_parts(),
            Kind::Doq(session) => (session.exchange(&query, log).await?, 0),
        };
        Ok(Exchanged {
            query,
            response,
            age_s,
        })
    }

    /// Asks several questions in one message, accepting partial responses, until all questions are
    /// answered. The answers go to `course`.
    pub(crate) async fn gather(&self, course: &Course) -> Result<(), MeasuredFailure> {
        let cookie = self.edns.cookies.as_ref().map(CookieJar::next);
        let id = self.fresh_id();
        let edns = course.edns(&self.edns, cookie);
        let message = || {
            let built = course.message(id, &edns);
            built.map_err(|error| MeasuredFailure::new(Failure::Other, error))
        };
        let mut logs = course.logs();
        let Some(first) = logs.next() else {
            return Ok(());
        };
        let _outstanding = self.traffic.begin(first);
        for log in logs {
            log.copy_place(first);
        }
        match &self.kind {
            Kind::Udp {
                resolver, retries, ..
            } => doudp::gather(*resolver, retries, message, course).await,
            Kind::Framed(connection) => connection.gather(&message()?, course).await,
            Kind::Doh(session) => session.gather(&message()?, course).await,
            Kind::Doh3(session) => session.gather(&message()?, course).await,
            Kind::Doq(session) => session.gather(&message()?, course).await,
        }
    }

    /// Checks a response against the transport's own rules.
    pub(crate) fn check(&self, response: &Message) -> Result<(), MeasuredFailure> {
        match &self.kind {
            Kind::Udp { .. } | Kind::Framed(_) | Kind::Doh(_) | Kind::Doh3(_) => Ok(()),
            Kind::Doq(session) => session.check(response),
        }
    }

    /// Returns a message id: 0 where RFC 8484 section 4.1 (for caches) and RFC 9250 section 4.2.1
    /// ask for 0.
    fn fresh_id(&self) -> u16 {
        match &self.kind {
            Kind::Udp { .. } => random_id(),
            Kind::Framed(connection) => connection.fresh_id(),
            Kind::Doh(_) | Kind::Doh3(_) | Kind::Doq(_) => 0,
        }
    }

    /// Returns HTTP/3 on the same connection, either carrying the queries or beside them; `None`
    /// without HTTP/3.
    pub(crate) fn http3(&self) -> Option<&Arc<H3Client>> {
        match &self.kind {
            Kind::Doh3(session) => Some(&session.client),
            Kind::Doq(session) => session.http.as_ref(),
            Kind::Udp { .. } | Kind::Framed(_) | Kind::Doh(_) => None,
        }
    }

    /// Returns true when the connection has ended.
    pub fn is_closed(&self) -> bool {
        match &self.kind {
            Kind::Udp { .. } => false,
            Kind::Framed(connection) => connection.is_closed(),
            Kind::Doh(session) => session.client.is_closed(),
            Kind::Doh3(session) => session.client.is_closed(),
            Kind::Doq(session) => session.quic.is_closed(),
        }
    }

    /// Returns true when the connection remains open although a query failed as if closed. Over DoQ
    /// a resolver can end one stream.
    pub fn outlives_a_query(&self) -> bool {
        match &self.kind {
            Kind::Udp { .. } | Kind::Framed(_) | Kind::Doh(_) | Kind::Doh3(_) => false,
            Kind::Doq(session) => !session.quic.is_closed(),
        }
    }

    /// Closes a shared session: in an orderly way without other users, otherwise at once. The other
    /// users' exchanges then fail.
    pub async fn close_shared(self: Arc<Self>) {
        match Arc::try_unwrap(self) {
            Ok(session) => session.close().await,
            Err(shared) => match &shared.kind {
                Kind::Udp { .. } => (),
                Kind::Framed(connection) => connection.abort(),
                Kind::Doh(session) => session.client.abort(),
                Kind::Doh3(session) => session.client.quic().close(H3_NO_ERROR),
                Kind::Doq(session) => session.close(),
            },
        }
    }

    /// Closes in an orderly way. Returns after the last packet was handed to the kernel.
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
                session.close();
                session.quic.drained(CLOSE_LEAVES_WITHIN).await;
            }
        }
    }
}
