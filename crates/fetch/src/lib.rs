//! Names and documents fetched together by our own client, for studies of proposals: a shared
//! connection for query and page, names announced before their document.
//!
//! For: the times of one fetch, as a record. Not for: queries alone (`resolab-dns`), a browser's
//! page loads (`resolab-gateway`).

pub mod fetch;
pub mod fetch_names;
