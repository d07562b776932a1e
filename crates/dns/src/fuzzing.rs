//! Gives the fuzz targets access to private functions, in their build only (`--cfg fuzzing`).
//! Not for: any other caller.

use crate::transports::http_message::DnsBody;
use bytes::{Bytes, BytesMut};
use http::Response;
use http::header::CONTENT_TYPE;

/// Returns all whole messages of a stream arriving in these pieces, and the number of bytes left
/// over.
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

/// Reads the DNS message of a DoH response with this head. `None` when the response is refused, or
/// when no HTTP library would deliver it.
pub fn read_http_response(status: u16, media_type: &[u8], body: &[u8]) -> Option<Vec<u8>> {
    let response = Response::builder()
        .status(status)
        .header(CONTENT_TYPE, media_type)
        .body(Bytes::copy_from_slice(body))
        .ok()?;
    DnsBody::from_response(response)
        .ok()
        .map(|body| body.message)
}

pub use crate::stub::fuzzing::stub_replies;
