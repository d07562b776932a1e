//! DNS load: many queries over one transport, in a closed or an open loop, with what the answers
//! took as distributions.
//!
//! For: measuring servers and links under load at little cost per query. One engine per transport,
//! each run by worker threads that share nothing but a start line.
//! Not for: single queries with all their phases (`resolab-dns`), nor printing.

pub mod answer;
pub mod coalescing;
mod coalescing_runtime;
mod doh3;
mod doh_path;
mod doq;
pub mod engine;
mod exact_timer;
mod http2;
pub mod load;
pub mod names;
pub mod plan;
mod quic;
pub mod schedule;
pub mod start_gate;
pub mod summary;
pub mod tally;
pub mod waiting;

pub use engine::{LiveCounters, LoadError};
pub use load::{Progress, run};
pub use names::Names;
pub use plan::{Arrivals, Coalescing, Extent, LoadPlan, Pace, WorkerPlan};
pub use tally::Tally;
