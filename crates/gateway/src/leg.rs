//! Downstream connections: the browser's connections to the gateway, of every HTTP version.
//! Requests are passed on in order of arrival.
//!
//! Not for: the exchange of a request (`exchange`).

mod arrived;
mod down;
mod h1;
mod h2;
mod h3;
mod held;
mod queue;
pub(crate) mod quic;
pub(crate) mod tcp;
mod up;

pub(crate) use arrived::IncomingRequest;
pub(crate) use down::{ResponseBodySink, ResponseSink};
pub(crate) use held::DownstreamConnection;
pub(crate) use up::RequestBody;
