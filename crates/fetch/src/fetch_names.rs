//! A document and the addresses of its names, over HTTP/2. The names are asked when found in the
//! document, or when announced earlier. A 103 response, the HTTPS record of the document's own
//! name, or pushed answers announce names (docs/method/announced-names.md).
//!
//! For: the time a reader of the document waits for names. Not for: loading pages (only the
//! document is fetched), or the time until the document's own name and its first byte are there
//! (`fetch`).

#[deny(clippy::disallowed_methods)] // pure: time is an argument
mod announced_names;
mod client;
mod look_ups;
mod record;
mod run;

pub use announced_names::NAMES_KEY;
pub use client::{FetchNamesClient, FetchNamesError, FetchNamesOptions};
