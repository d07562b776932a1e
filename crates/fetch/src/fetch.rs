//! A name and a page fetched together over QUIC: on separate connections, on one HTTP/3 connection,
//! or on one connection with the private ALPN. On a shared connection, the page's request can leave
//! together with the query.
//!
//! For: the time until name and first page byte are both there. Not for: loading pages (there is
//! one request, no parsing, no cache), or queries alone (`client`).

mod client;
mod page;
mod page_coverage;
mod priming;
mod record;
mod run;
mod sharing;

pub use client::{FetchClient, FetchError, FetchOptions};
pub use page::{PageAddress, PageAddressError};
pub use page_coverage::PageCoverage;
