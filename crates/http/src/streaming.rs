//! Messages in pieces, for a forwarding gateway. Bodies are read at the pace of the other end. A
//! message dropped before the end is reset. Interim responses and trailers are passed on. For both
//! roles, over HTTP/2 and HTTP/3. Not for: exchanges with the whole response at once (see the
//! clients' `exchange`).

mod broken;
mod pushed;
mod reader;
mod response;
mod writer;

pub use broken::{BrokenMessage, ResetReason};
pub use pushed::{PushedResponse, PushedResponses};
pub use reader::BodyReader;
pub use response::ResponseReader;
pub use writer::BodyWriter;

use crate::quic_streams::{StreamReceiver, StreamSender};
use bytes::Bytes;

type ClientHalf<S> = h3::client::RequestStream<S, Bytes>;
type ServerHalf<S> = h3::server::RequestStream<S, Bytes>;
type SentRequest = ClientHalf<StreamSender<Bytes>>;
type ReceivedResponse = ClientHalf<StreamReceiver>;
type ReceivedRequest = ServerHalf<StreamReceiver>;
type SentResponse = ServerHalf<StreamSender<Bytes>>;

#[cfg(test)]
mod tests;
