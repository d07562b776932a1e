//! The engines, one per transport, and the choice of a worker's engine. Not for: the times of
//! sending (`loops`) or the counts (`counting`).

mod doh;
mod doh3;
mod doh_conversation;
mod doh_path;
mod doq;
mod dot;
mod dotcp;
mod doudp;
mod framed;
pub mod http2;
mod quic;
mod stream_protocol;
mod streams;

use crate::counting::{LiveCounters, Tally};
use crate::error::LoadError;
use crate::plan::WorkerPlan;
use crate::timing::waiting;
use resolab_record::DnsTransport;

/// Runs a worker's share: connects, waits at the gate, sends and receives until the end. At return,
/// every sent query has an end.
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
    if let Ok(tally) = &tally {
        live.publish(tally);
    }
    tally
}
