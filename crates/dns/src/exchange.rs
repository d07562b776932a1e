//! The log of one exchange. Other tasks can read the log while the exchange runs, so the known
//! facts survive a deadline.

use crate::edns::cookie::SentCookie;
use crate::edns::sent::SentEdns;
use crate::kernel_stamps::KernelStamps;
use resolab_transport::client::TimedPhase;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The log of one query on its connection.
#[derive(Debug, Default)]
pub struct ExchangeLog {
    /// From handing the query to the connection to the complete response.
    pub query_exchange: TimedPhase,
    attempt_count: AtomicU32,
    repeat_count: AtomicU32,
    query_bytes: AtomicU32,
    sent_edns: Mutex<Option<Arc<SentEdns>>>,
    goes_on_by_tcp: AtomicBool,
    pub(crate) kernel_stamps: KernelStamps,
    position: Mutex<Option<PipelinePosition>>,
}

/// A query's position among the queries of its connection, taken when the query is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PipelinePosition {
    /// The query's index on its connection, from 0.
    pub query_index: u32,
    /// The number of other queries without a response.
    pub outstanding_count: u32,
}

impl ExchangeLog {
    /// Counts an attempt, just before the query is handed to the connection.
    pub fn attempt(&self, query: &[u8]) {
        self.query_bytes
            .store(query.len() as u32, Ordering::Relaxed);
        if self.attempt_count.fetch_add(1, Ordering::Relaxed) > 0 {
            self.kernel_stamps.forget_connection();
        }
        self.query_exchange.begin();
    }

    /// Restarts the exchange after the query's connection has ended. The exchange begins when the
    /// next connection gets the query. The time before counts in the response time alone.
    pub(crate) fn restart(&self) {
        self.query_exchange.forget();
        self.repeat_count.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of connections ended before the query was answered. The query was sent
    /// again after each end.
    pub fn repeat_count(&self) -> u32 {
        self.repeat_count.load(Ordering::Relaxed)
    }

    /// Records the complete response; on a connection, with the stamp of the last arrival.
    pub(crate) fn complete(&self, last_arrival_wall_ns: Option<i64>) {
        self.query_exchange.finish();
        self.kernel_stamps
            .note_connection_arrival(last_arrival_wall_ns);
    }

    /// Keeps the EDNS of the query to send next.
    pub(crate) fn set_sent_edns(&self, sent: SentEdns) {
        *self
            .sent_edns
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(sent));
    }

    /// Returns the EDNS of the last query sent.
    pub(crate) fn sent_edns(&self) -> Option<Arc<SentEdns>> {
        self.sent_edns
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Returns the cookie sent last, if any.
    pub fn sent_cookie(&self) -> Option<SentCookie> {
        self.sent_edns()?.cookie.clone()
    }

    /// Moves a query sent by UDP to TCP from now on.
    pub(crate) fn switch_to_tcp(&self) {
        self.goes_on_by_tcp.store(true, Ordering::Relaxed);
    }

    /// Returns true when the query has moved to TCP.
    pub(crate) fn is_switched_to_tcp(&self) -> bool {
        self.goes_on_by_tcp.load(Ordering::Relaxed)
    }

    /// Sets the query's position on its present connection.
    pub(crate) fn set_position(&self, position: PipelinePosition) {
        *self.position.lock().unwrap_or_else(PoisonError::into_inner) = Some(position);
    }

    /// Copies the position of another query in the same message.
    pub(crate) fn copy_position(&self, other: &Self) {
        if let Some(position) = other.position() {
            self.set_position(position);
        }
    }

    /// Returns the query's position on the last connection given the query.
    pub fn position(&self) -> Option<PipelinePosition> {
        *self.position.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts attempts made by a layer below.
    pub fn add_attempts(&self, count: u32) {
        self.attempt_count.fetch_add(count, Ordering::Relaxed);
    }

    /// Returns the number of times the query was sent.
    pub fn attempt_count(&self) -> u32 {
        self.attempt_count.load(Ordering::Relaxed)
    }

    /// Returns the query's length in bytes.
    pub fn query_bytes(&self) -> u32 {
        self.query_bytes.load(Ordering::Relaxed)
    }
}
