//! A request received from the browser. Not for: its exchange.

use super::{RequestBody, ResponseSink};
use http::Request;
use resolab_http::RequestPriority;
use resolab_record::HttpVersion;

/// A request received from the browser: its head, and both directions of its exchange.
pub(crate) struct IncomingRequest {
    pub head: Request<()>,
    pub request_body: RequestBody,
    pub response_sink: ResponseSink,
    pub version: HttpVersion,
    /// The priority updates sent by the browser beside the head; HTTP/3 only.
    pub priority: Option<RequestPriority>,
    pub received_ns: u64,
}
