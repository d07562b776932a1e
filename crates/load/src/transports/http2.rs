//! The part of HTTP/2 (RFC 9113) needed by a DoH client, without input or output: octets in, octets
//! and events out.
//!
//! For: a load generator. The cost per request of a general client would dominate the measurement.
//! The module reads every protocol feature a server may use: HPACK with the dynamic table,
//! continuations, padding, settings, flow control, GOAWAY and resets. Not for: push, request bodies
//! larger than a DNS message, or other protocols than DoH.

mod connection;
mod frame;
mod request_block;
mod response_head;

pub use connection::{DohRequest, Http2, Http2Error, RequestEnd};
pub use request_block::{DNS_MESSAGE, RequestBlock, write_string};
pub use response_head::is_dns_message;
