//! The zone: the names served by the edge (`names`), and the text forms of their records.

mod entries;
pub mod file;
mod names;
mod record_data;
mod service;

pub use names::{DEFAULT_TTL_S, Lookup, RecordSet, Zone};
#[cfg(fuzzing)]
pub use record_data::is_well_formed;
pub use record_data::parse_content;
