//! Downstream connections: the browser's connections to the gateway, of every HTTP version.
//! Requests are passed on in order of arrival.
//!
//! Not for: the exchange of a request (`exchange`).

mod connection;
mod h1;
mod h2;
mod h3;
mod incoming_request;
mod queue;
pub(crate) mod quic;
mod request_body;
mod response_sink;
pub(crate) mod tcp;

pub(crate) use connection::DownstreamConnection;
pub(crate) use incoming_request::IncomingRequest;
pub(crate) use request_body::RequestBody;
pub(crate) use response_sink::{ResponseBodySink, ResponseSink};
