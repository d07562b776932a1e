//! A name and a page fetched together over QUIC: on connections of their own, on one HTTP/3
//! connection, or on one under the private ALPN; on one, the page's request can leave beside the
//! query.
//!
//! For: how soon name and first page byte can be there together. Not for: loading pages (one
//! request, no parsing, no cache), nor for queries alone; those are `client`'s.

mod client;
mod knowledge;
mod page;
mod priming;
mod record;
mod run;
mod sharing;

pub use client::{FetchClient, FetchError, FetchOptions};
pub use knowledge::Knowledge;
pub use page::{PageAddress, PageAddressError};
