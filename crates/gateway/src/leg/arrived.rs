//! A request as it came on a leg. Not for: what becomes of it.

use super::{Down, Up};
use http::Request;
use resolab_http::RequestPriority;
use resolab_record::HttpVersion;

/// A request as it came on a leg: its head, and both directions of its exchange.
pub(crate) struct Arrived {
    pub head: Request<()>,
    pub up: Up,
    pub down: Down,
    pub version: HttpVersion,
    /// What the browser says of its priority beside its head; over HTTP/3.
    pub priority: Option<RequestPriority>,
    pub received_ns: u64,
}
