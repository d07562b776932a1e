//! DNS load: many queries over one transport, in a closed or an open loop, with what the answers
//! took as distributions.
//!
//! For: measuring servers and links under load at little cost per query. One engine per transport,
//! each run by worker threads that share nothing but a start line.
//! Not for: single queries with all their phases (`resolab-dns`), nor printing.

pub mod answer;
pub mod engine;
pub mod gathering;
pub mod load;
pub mod names;
pub mod plan;
pub mod schedule;
pub mod start_gate;
pub mod summary;
pub mod tally;
pub mod waiting;

mod carrier;
mod closed_loop;
mod datagrams;
mod doh;
mod doh3;
mod doh_conversation;
mod doh_path;
mod doq;
mod dot;
mod dotcp;
mod doudp;
mod framed;
mod gathering_runtime;
mod http2;
mod matching;
mod open_loop;
mod quic;
mod readiness;
mod slots;
mod standstill;
mod stream;
mod streams;
mod supply;

pub use engine::{LiveCounters, LoadError};
pub use load::{Progress, run};
pub use names::Names;
pub use plan::{Arrivals, Extent, Gathering, LoadPlan, Pace, WorkerPlan};
pub use tally::Tally;
