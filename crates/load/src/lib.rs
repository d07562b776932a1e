//! DNS load: many queries over one transport, in a closed or an open loop, with what the answers
//! took as distributions.
//!
//! For: measuring servers and links under load at little cost per query. One engine per transport,
//! each run by worker threads that share nothing but a start line.
//! Not for: single queries with all their phases (`resolab-dns`), nor printing.
//!
//! From top to bottom, each using only what comes after it: `run` starts the workers and ends with
//! `summary`'s record, which `condition` judges; `transports` are the engines; `loops` decide when
//! they send; `plan` says what is wanted; then `gathering`, `counting`, and at the bottom `sockets`,
//! `timing`, `names` and `error`.

#[deny(clippy::disallowed_methods)] // pure: time is an argument
mod condition;
mod counting;
mod error;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing;
mod gathering;
mod loops;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
mod names;
mod plan;
mod run;
mod sockets;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
mod summary;
mod timing;
mod transports;

pub use condition::Condition;
pub use counting::LONGEST_NS;
pub use counting::slots::SLOTS_MAX;
pub use error::LoadError;
pub use gathering::Gathering;
pub use names::Names;
pub use plan::{Arrivals, Extent, LoadPlan, Pace};
pub use run::{Progress, run};
pub use timing::split_mix::SplitMix64;
