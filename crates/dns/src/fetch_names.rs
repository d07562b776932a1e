//! A document and the addresses of the names it needs, over HTTP/2: asked when the document says them,
//! or announced before that, by a 103, by the HTTPS record of the document's own name, or by the answers
//! themselves, pushed (docs/method/announced-names.md).
//!
//! For: how long names keep who reads the document waiting. Not for: loading pages (nothing but the
//! document is fetched), nor for when the document's own name and its first byte are there; that is
//! `fetch`'s.

#[deny(clippy::disallowed_methods)] // pure: time is an argument
mod announcing;
mod client;
mod look_ups;
mod record;
mod run;

pub use announcing::NAMES_KEY;
pub use client::{FetchNamesClient, FetchNamesError, FetchNamesOptions};
