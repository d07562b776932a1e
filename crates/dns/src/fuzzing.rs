//! Doors for the fuzz targets to what is private, open only in their build (`--cfg fuzzing`).
//! Not for: anybody else.

use crate::transports::http_message::DnsBody;
use bytes::{Bytes, BytesMut};
use http::Response;
use http::header::CONTENT_TYPE;

/// All whole messages of a stream that comes in these pieces, and how many bytes are left over.
pub fn take_messages<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> (Vec<Vec<u8>>, usize) {
    let mut buffer = BytesMut::new();
    let mut messages = Vec::new();
    for piece in pieces {
        buffer.extend_from_slice(piece);
        messages.extend(std::iter::from_fn(|| {
            crate::transports::framed::take_message(&mut buffer)
        }));
    }
    (messages, buffer.len())
}

/// The DNS message of a DoH response with this head; `None` when it is refused, or no HTTP library
/// would hand it out.
pub fn read_http_response(status: u16, media_type: &[u8], body: &[u8]) -> Option<Vec<u8>> {
    let response = Response::builder()
        .status(status)
        .header(CONTENT_TYPE, media_type)
        .body(Bytes::copy_from_slice(body))
        .ok()?;
    DnsBody::of(response).ok().map(|body| body.message)
}

pub use crate::stub::fuzzing::stub_replies;
