//! Messages piece by piece, for those who pass them on: bodies are read as fast as they are taken at
//! the other end, what is dropped before its end is reset, and interim responses and trailers are
//! told. For both roles, over HTTP/2 and HTTP/3.
//! Not for: exchanges whose whole response is wanted; those are the clients' `exchange`.

mod broken;
mod pushed;
mod reader;
mod response;
mod writer;

pub use broken::{BrokenOff, ResetReason};
pub use pushed::{PushedResponse, PushedResponses};
pub use reader::BodyReader;
pub use response::ResponseReader;
pub use writer::BodyWriter;

use crate::quic_streams::{Receiver, Sender};
use bytes::Bytes;

type ClientHalf<S> = h3::client::RequestStream<S, Bytes>;
type ServerHalf<S> = h3::server::RequestStream<S, Bytes>;
type SentRequest = ClientHalf<Sender<Bytes>>;
type ReceivedResponse = ClientHalf<Receiver>;
type ReceivedRequest = ServerHalf<Receiver>;
type SentResponse = ServerHalf<Sender<Bytes>>;

#[cfg(test)]
mod tests;
