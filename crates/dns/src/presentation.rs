//! Presentation form: names, types, classes and record data in the syntax of zone files (RFC 1035
//! section 5.1, RFC 3597, RFC 9460). The text is ASCII, and reading it returns the same bytes.
//!
//! For: every text made from a message, and typed names and types. Not for: zone files
//! (`resolab-edge`).

pub mod characters;
pub mod names;
pub mod numbers;
mod record_data;
mod service;
mod special;

pub use names::{name_text, read_name};
pub use numbers::{class_text, read_class, read_type, type_number_text, type_text};
pub use record_data::{data_text, record_data_text, wire_name_text};
