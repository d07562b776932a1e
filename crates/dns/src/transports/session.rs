//! One open connection of any transport: builds a query in the transport's form, exchanges
//! messages, closes. Not for: opening connections (`client`).

use crate::edns::ClientEdns;
use crate::edns::cookie::CookieJar;
use crate::edns::sent::SentEdns;
use crate::exchange::{ExchangeLog, PipelinePosition};
use crate::message::{build_message, random_id};
use crate::question::Question;
use crate::transports::batch::QueryBatch;
use crate::transports::doh::DohSession;
use crate::transports::doh3::Doh3Session;
use crate::transports::doq::DoqSession;
use crate::transports::doudp;
use crate::transports::framed::FramedConnection;
use crate::transports::retry::ResolverRetries;
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

enum TransportSession {
    Udp {
        resolver: SocketAddr,
        retries: Arc<ResolverRetries>,
        setup: Arc<SetupLog>,
    },
    Framed(FramedConnection),
    Doh(DohSession),
    Doh3(Box<Doh3Session>),
    Doq(DoqSession),
}

/// A connection for queries; exchanges may overlap.
pub struct Session {
    kind: TransportSession,
    edns: Arc<ClientEdns>,
    /// HTTP/3 on the same connection, either carrying the queries or beside them.
    http3: Option<Arc<H3Client>>,
    traffic: QueryCounters,
}

/// A query as sent, and its response.
pub struct ExchangeResult {
    /// The query message as sent.
    pub query: Vec<u8>,
    /// The response message as received.
    pub response: Vec<u8>,
    /// The response's time in HTTP caches, in seconds; 0 without caches.
    pub age_s: u32,
}

/// The connection's counters: queries sent, and queries without a response.
#[derive(Default)]
struct QueryCounters {
    query_count: AtomicU32,
    outstanding_count: AtomicU32,
}

/// A pending query; dropping it ends the query.
struct OutstandingQuery<'a>(&'a QueryCounters);

impl QueryCounters {
    fn begin(&self, log: &ExchangeLog) -> OutstandingQuery<'_> {
        log.set_position(PipelinePosition {
            query_index: self.query_count.fetch_add(1, Ordering::Relaxed),
            outstanding_count: self.outstanding_count.fetch_add(1, Ordering::Relaxed),
        });
        OutstandingQuery(self)
    }
}

impl Drop for OutstandingQuery<'_> {
    fn drop(&mut self) {
        self.0.outstanding_count.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Session {
    fn new(kind: TransportSession, edns: Arc<ClientEdns>) -> Self {
        Self {
            kind,
            edns,
            http3: None,
            traffic: QueryCounters::default(),
        }
    }

    /// Adds the HTTP/3 client of the same connection.
    pub(crate) fn beside_http3(self, http3: Arc<H3Client>) -> Self {
        Self {
            http3: Some(http3),
            ..self
        }
    }

    /// Makes a DoUDP session. DoUDP has no connection: each exchange makes a socket.
    pub(crate) fn udp(
        resolver: SocketAddr,
        retries: Arc<ResolverRetries>,
        setup: Arc<SetupLog>,
        edns: Arc<ClientEdns>,
    ) -> Self {
        let kind = TransportSession::Udp {
            resolver,
            retries,
            setup,
        };
        Self::new(kind, edns)
    }

    /// Makes a session on an open stream of DoTCP or DoT.
    pub(crate) fn framed(connection: FramedConnection, edns: Arc<ClientEdns>) -> Self {
        Self::new(TransportSession::Framed(connection), edns)
    }

    /// Makes a session on an open DoH connection.
    pub(crate) fn doh(session: DohSession, edns: Arc<ClientEdns>) -> Self {
        Self::new(TransportSession::Doh(session), edns)
    }

    /// Makes a session on an open DoH3 connection.
    pub(crate) fn doh3(session: Doh3Session, edns: Arc<ClientEdns>) -> Self {
        let http3 = Arc::clone(&session.client);
        Self::new(TransportSession::Doh3(Box::new(session)), edns).beside_http3(http3)
    }

    /// Makes a session on an open DoQ connection.
    pub(crate) fn doq(session: DoqSession, edns: Arc<ClientEdns>) -> Self {
        Self::new(TransportSession::Doq(session), edns)
    }

    /// Asks one question. Returns query and response, not yet checked.
    pub async fn exchange(
        &self,
        question: &Question,
        log: &ExchangeLog,
    ) -> Result<ExchangeResult, MeasuredFailure> {
        self.exchange_all(std::slice::from_ref(question), log).await
    }

    /// Asks any number of questions in one message. Returns query and response, not yet checked.
    pub async fn exchange_all(
        &self,
        questions: &[Question],
        log: &ExchangeLog,
    ) -> Result<ExchangeResult, MeasuredFailure> {
        let cookie = self.edns.cookies.as_ref().map(CookieJar::next);
        let edns = self.edns.message_contents(questions.first(), cookie);
        log.set_sent_edns(SentEdns::new(&edns, &self.edns));
        let query = build_message(questions, self.fresh_id(), &edns)
            .map_err(|error| MeasuredFailure::new(Failure::Other, error))?;
        let _outstanding = self.traffic.begin(log);
        let (response, age_s) = match &self.kind {
            TransportSession::Udp {
                resolver,
                retries,
                setup,
            } => {
                let response = doudp::exchange(*resolver, retries, &query, setup, log).await?;
                (response, 0)
            }
            TransportSession::Framed(connection) => (connection.exchange(&query, log).await?, 0),
            TransportSession::Doh(session) => session.exchange(&query, log).await?.into_parts(),
            TransportSession::Doh3(session) => session.exchange(&query, log).await?.into_parts(),
            TransportSession::Doq(session) => (session.exchange(&query, log).await?, 0),
        };
        Ok(ExchangeResult {
            query,
            response,
            age_s,
        })
    }

    /// Asks several questions in one message, accepting partial responses, until all questions are
    /// answered. The answers go to `batch`.
    pub(crate) async fn gather(&self, batch: &QueryBatch) -> Result<(), MeasuredFailure> {
        let cookie = self.edns.cookies.as_ref().map(CookieJar::next);
        let id = self.fresh_id();
        let edns = batch.edns(&self.edns, cookie);
        let message = || {
            let built = batch.message(id, &edns);
            built.map_err(|error| MeasuredFailure::new(Failure::Other, error))
        };
        let mut logs = batch.logs();
        let Some(first) = logs.next() else {
            return Ok(());
        };
        let _outstanding = self.traffic.begin(first);
        for log in logs {
            log.copy_position(first);
        }
        match &self.kind {
            TransportSession::Udp {
                resolver, retries, ..
            } => doudp::gather(*resolver, retries, message, batch).await,
            TransportSession::Framed(connection) => connection.gather(&message()?, batch).await,
            TransportSession::Doh(session) => session.gather(&message()?, batch).await,
            TransportSession::Doh3(session) => session.gather(&message()?, batch).await,
            TransportSession::Doq(session) => session.gather(&message()?, batch).await,
        }
    }

    /// Checks a response against the transport's own rules.
    pub(crate) fn check(&self, response: &Message) -> Result<(), MeasuredFailure> {
        match &self.kind {
            TransportSession::Udp { .. }
            | TransportSession::Framed(_)
            | TransportSession::Doh(_)
            | TransportSession::Doh3(_) => Ok(()),
            TransportSession::Doq(session) => session.check(response),
        }
    }

    /// Returns a message id: 0 where RFC 8484 section 4.1 (for caches) and RFC 9250 section 4.2.1
    /// ask for 0.
    fn fresh_id(&self) -> u16 {
        match &self.kind {
            TransportSession::Udp { .. } => random_id(),
            TransportSession::Framed(connection) => connection.fresh_id(),
            TransportSession::Doh(_) | TransportSession::Doh3(_) | TransportSession::Doq(_) => 0,
        }
    }

    /// Returns HTTP/3 on the same connection, either carrying the queries or beside them; `None`
    /// without HTTP/3.
    pub(crate) fn http3(&self) -> Option<&Arc<H3Client>> {
        self.http3.as_ref()
    }

    /// Returns true when the connection has ended.
    pub fn is_closed(&self) -> bool {
        match &self.kind {
            TransportSession::Udp { .. } => false,
            TransportSession::Framed(connection) => connection.is_closed(),
            TransportSession::Doh(session) => session.client.is_closed(),
            TransportSession::Doh3(session) => session.client.is_closed(),
            TransportSession::Doq(session) => session.quic.is_closed(),
        }
    }

    /// Returns true when the connection remains open although a query failed as if closed. Over DoQ
    /// a resolver can end one stream.
    pub fn outlives_a_query(&self) -> bool {
        match &self.kind {
            TransportSession::Udp { .. }
            | TransportSession::Framed(_)
            | TransportSession::Doh(_)
            | TransportSession::Doh3(_) => false,
            TransportSession::Doq(session) => !session.quic.is_closed(),
        }
    }

    /// Closes a shared session: in an orderly way without other users, otherwise at once. The other
    /// users' exchanges then fail.
    pub async fn close_shared(self: Arc<Self>) {
        match Arc::try_unwrap(self) {
            Ok(session) => session.close().await,
            Err(shared) => match &shared.kind {
                TransportSession::Udp { .. } => (),
                TransportSession::Framed(connection) => connection.abort(),
                TransportSession::Doh(session) => session.client.abort(),
                TransportSession::Doh3(session) => session.client.quic().close(H3_NO_ERROR),
                TransportSession::Doq(session) => session.close(),
            },
        }
    }

    /// Closes in an orderly way. Returns after the last packet was handed to the kernel.
    pub async fn close(self) {
        match self.kind {
            TransportSession::Udp { .. } => (),
            TransportSession::Framed(connection) => connection.close(CLOSE_AT_MOST).await,
            TransportSession::Doh(session) => session.client.close(CLOSE_AT_MOST).await,
            TransportSession::Doh3(session) => {
                session.client.quic().close(H3_NO_ERROR);
                session
                    .client
                    .quic()
                    .wait_until_drained(CLOSE_LEAVES_WITHIN)
                    .await;
            }
            TransportSession::Doq(session) => {
                session.close();
                session.quic.wait_until_drained(CLOSE_LEAVES_WITHIN).await;
            }
        }
    }
}
