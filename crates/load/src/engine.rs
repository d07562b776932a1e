//! What one worker thread runs: the engine of the plan's transport. Not for: the engines.

use crate::plan::WorkerPlan;
use crate::tally::Tally;
use crate::{doh, doh3, doq, dot, dotcp, doudp, waiting};
use resolab_record::DnsTransport;
use resolab_transport::client::TlsConfigError;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use thiserror::Error;

/// Why there was no load.
#[derive(Debug, Error)]
pub enum LoadError {
    /// No connection to begin with.
    #[error("connect to {resolver}: {reason}")]
    Connect {
        /// Whom.
        resolver: SocketAddr,
        /// What was wrong.
        reason: String,
    },
    /// The kernel refused something.
    #[error("{attempt}: {source}")]
    Kernel {
        /// What was attempted.
        attempt: &'static str,
        /// What was wrong.
        source: std::io::Error,
    },
    /// No TLS or QUIC.
    #[error(transparent)]
    Tls(#[from] TlsConfigError),
    /// A worker thread broke.
    #[error("run a worker: it panicked")]
    Panicked,
    /// Another worker failed; its error says why.
    #[error("start: another worker could not")]
    CalledOff,
    /// Not together.
    #[error("{0}")]
    Unsupported(&'static str),
}

impl LoadError {
    /// The kernel refused `attempt`.
    pub fn kernel(attempt: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Kernel { attempt, source }
    }
}

/// What is known of a worker while it runs. It alone writes the counts, anybody may read them.
#[derive(Debug, Default)]
pub struct LiveCounters {
    sent: AtomicU64,
    completed: AtomicU64,
    lost: AtomicU64,
    interrupted: AtomicU64,
    failed: AtomicU64,
    response_time_sum_ns: AtomicU64,
    stopped: Arc<AtomicBool>,
}

/// A reading of live counters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LiveCounts {
    /// Queries sent.
    pub sent: u64,
    /// Answered in time.
    pub completed: u64,
    /// No answer in time.
    pub lost: u64,
    /// Cut off.
    pub interrupted: u64,
    /// Failed otherwise.
    pub failed: u64,
    /// Sum of what the answered ones took.
    pub response_time_sum_ns: u64,
}

impl LiveCounters {
    /// Counters of a worker that ends when `stopped` becomes true.
    pub fn new(stopped: Arc<AtomicBool>) -> Self {
        Self {
            stopped,
            ..Self::default()
        }
    }

    /// Whether to end now, without waiting for answers.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Let others see the tally; cheap enough for every pass of a loop.
    pub fn publish(&self, tally: &Tally) {
        for (counter, count) in [
            (&self.sent, tally.sent_count),
            (&self.completed, tally.completed_count),
            (&self.lost, tally.lost_count),
            (&self.interrupted, tally.interrupted_count),
            (&self.failed, tally.failed_count),
            (&self.response_time_sum_ns, tally.response_time_sum_ns),
        ] {
            counter.store(count, Ordering::Relaxed);
        }
    }

    /// The counts now.
    pub fn read(&self) -> LiveCounts {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        LiveCounts {
            sent: of(&self.sent),
            completed: of(&self.completed),
            lost: of(&self.lost),
            interrupted: of(&self.interrupted),
            failed: of(&self.failed),
            response_time_sum_ns: of(&self.response_time_sum_ns),
        }
    }
}

/// Carry out a worker's share: connect, wait at the gate, send and receive until the end. Every
/// query sent has come to an end when it returns.
pub fn run(worker: &WorkerPlan, live: &LiveCounters) -> Result<Tally, LoadError> {
    waiting::wake_exactly();
    let tally = match worker.plan.resolver.transport {
        DnsTransport::Doudp => doudp::run(worker, live),
        DnsTransport::Dotcp => dotcp::run(worker, live),
        DnsTransport::Dot => dot::run(worker, live),
        DnsTransport::Doh => doh::run(worker, live),
        DnsTransport::Doh3 => doh3::run(worker, live),
        DnsTransport::Doq => doq::run(worker, live),
    };
    match &tally {
        Ok(tally) => live.publish(tally),
        Err(_) => worker.gate.call_off(),
    }
    tally
}
