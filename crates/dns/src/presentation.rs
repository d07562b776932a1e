//! Presentation form: names, types, classes and record data as zone files have them (RFC 1035
//! section 5.1, RFC 3597, RFC 9460), in ASCII, so that whoever reads the text gets the same bytes.
//!
//! For: every text made of what came in a message, and names and types that were typed. Not for:
//! zone files; those are `resolab-edge`'s.

pub mod characters;
pub mod names;
pub mod numbers;
mod record_data;
mod service;
mod special;

pub use names::{name_text, read_name};
pub use numbers::{class_text, read_class, read_type, type_number_text, type_text};
pub use record_data::{data_text, record_data_text, wire_name_text};
