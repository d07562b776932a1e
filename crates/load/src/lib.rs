//! DNS load: many queries over one transport, in a closed or an open loop, with distributions of
//! the response times.
//!
//! For: measuring servers and links under load at little cost per query. Each transport has an
//! engine. Worker threads run the engine and share only a start line. Not for: single queries with
//! all their phases (`resolab-dns`), nor printing.
//!
//! The modules from top to bottom; each uses only later modules. `run` starts the workers and ends
//! with a record of `summary`, judged by `condition`. `transports` are the engines; `loops` decide
//! when the engines send. `plan` describes the run. Then follow `gathering`, `counting`, and at the
//! bottom `sockets`, `timing`, `names` and `error`.

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
pub use gathering::GatheringRule;
pub use names::QueryTemplates;
pub use plan::{ArrivalProcess, LoadPacing, LoadPlan, SendLimit};
pub use run::{ProgressCallback, run};
