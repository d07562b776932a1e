//! The zone: the names served by the edge (`names`), and the text forms of their records.

mod contents;
mod entries;
pub mod file;
mod names;
mod service;

#[cfg(fuzzing)]
pub use contents::is_well_formed;
pub use contents::parse_content;
pub use names::{DEFAULT_TTL_S, Lookup, RecordSet, Zone};
