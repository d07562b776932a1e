//! HTTP/2 (RFC 9113) as far as a client of DoH needs it, without any input or output of its own:
//! octets in, octets and events out.
//!
//! For: a load generator, to whom the general client's cost per request would be most of what it
//! measures. All of the protocol a server may use is read: HPACK with its dynamic table,
//! continuations, padding, settings, flow control, GOAWAY and resets.
//! Not for: push, request bodies larger than a DNS message, or anything but DoH.

mod connection;
mod frame;
mod request_block;
mod response_head;

pub use connection::{Event, Http2, Http2Error, Request};
pub use request_block::{DNS_MESSAGE, RequestBlock, write_string};
pub use response_head::is_dns_message;
