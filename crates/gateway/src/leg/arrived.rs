//! A request as it came on a leg.

use super::{Down, Up};
use http::Request;
use resolab_record::HttpVersion;

/// A request as it came on a leg: its head, and both directions of its exchange.
pub(crate) struct Arrived {
    pub head: Request<()>,
    pub up: Up,
    pub down: Down,
    pub version: HttpVersion,
    pub received_ns: u64,
}
