//! The log of one exchange, readable from outside while it runs, so that a deadline leaves what is
//! known.

use crate::cookie::SentCookie;
use crate::kernel_stamps::KernelStamps;
use crate::sent_edns::SentEdns;
use resolab_transport::client::Phase;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What happened to one query on its connection.
#[derive(Debug, Default)]
pub struct ExchangeLog {
    /// Query handed to the connection, response complete.
    pub query_exchange: Phase,
    attempt_count: AtomicU32,
    repeat_count: AtomicU32,
    query_bytes: AtomicU32,
    sent_edns: Mutex<Option<Arc<SentEdns>>>,
    goes_on_by_tcp: AtomicBool,
    pub(crate) kernel_stamps: KernelStamps,
    place: Mutex<Option<Place>>,
}

/// Where a query stood among those of its connection when it was handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Position, from 0.
    pub query_index: u32,
    /// Others without a response.
    pub outstanding_count: u32,
}

impl ExchangeLog {
    /// The query is about to be handed over, for the first time or again.
    pub fn attempt(&self, query: &[u8]) {
        self.query_bytes
            .store(query.len() as u32, Ordering::Relaxed);
        if self.attempt_count.fetch_add(1, Ordering::Relaxed) > 0 {
            self.kernel_stamps.forget_connection();
        }
        self.query_exchange.begin();
    }

    /// The connection the query was handed to has ended, and another takes its place: the exchange
    /// begins when that has the query. What it took till then is in the response time alone.
    pub(crate) fn begin_anew(&self) {
        self.query_exchange.forget();
        self.repeat_count.fetch_add(1, Ordering::Relaxed);
    }

    /// Connections that ended before the query was answered, after each of which it was asked again.
    pub fn repeat_count(&self) -> u32 {
        self.repeat_count.load(Ordering::Relaxed)
    }

    /// The response is complete; on a connection, with the stamp of what that brought last.
    pub(crate) fn complete(&self, last_arrival_wall_ns: Option<i64>) {
        self.query_exchange.finish();
        self.kernel_stamps
            .received_on_connection(last_arrival_wall_ns);
    }

    /// What the EDNS of the query about to be handed over says.
    pub(crate) fn set_sent_edns(&self, sent: SentEdns) {
        *self
            .sent_edns
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(sent));
    }

    /// What the EDNS of the last query handed over says.
    pub(crate) fn sent_edns(&self) -> Option<Arc<SentEdns>> {
        self.sent_edns
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The cookie sent last, if any.
    pub fn sent_cookie(&self) -> Option<SentCookie> {
        self.sent_edns()?.cookie.clone()
    }

    /// A query that went by UDP is to go by TCP from now on.
    pub(crate) fn go_on_by_tcp(&self) {
        self.goes_on_by_tcp.store(true, Ordering::Relaxed);
    }

    /// Whether it is.
    pub(crate) fn goes_on_by_tcp(&self) -> bool {
        self.goes_on_by_tcp.load(Ordering::Relaxed)
    }

    /// Where the query stands on the connection it is handed to now.
    pub(crate) fn set_place(&self, place: Place) {
        *self.place.lock().unwrap_or_else(PoisonError::into_inner) = Some(place);
    }

    /// The query is in the same message as another.
    pub(crate) fn copy_place(&self, other: &Self) {
        if let Some(place) = other.place() {
            self.set_place(place);
        }
    }

    /// Where it stood on the last connection it was handed to.
    pub fn place(&self) -> Option<Place> {
        *self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Count attempts a layer below made.
    pub fn add_attempts(&self, count: u32) {
        self.attempt_count.fetch_add(count, Ordering::Relaxed);
    }

    /// Times the query was sent.
    pub fn attempt_count(&self) -> u32 {
        self.attempt_count.load(Ordering::Relaxed)
    }

    /// Length of the query.
    pub fn query_bytes(&self) -> u32 {
        self.query_bytes.load(Ordering::Relaxed)
    }
}
