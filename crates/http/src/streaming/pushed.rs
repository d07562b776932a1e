//! Responses pushed by a server with another response (RFC 9113 section 8.4), over HTTP/2. Not for:
//! judging the permission to push; the owner of the connection judges.

use super::broken::BrokenMessage;
use super::reader::BodyReader;
use bytes::{Bytes, BytesMut};
use h2::client::{PushPromises, PushedResponseFuture};
use http::{Request, Response};

/// The push promises of one response.
pub struct PushedResponses(PushPromises);

/// A promised response still to come.
pub struct PushedResponse(PushedResponseFuture);

impl PushedResponses {
    pub(crate) fn h2(promises: PushPromises) -> Self {
        Self(promises)
    }

    /// Returns the next promise: the answered request, and the response to come. `None` when no
    /// more can come.
    pub async fn next(&mut self) -> Option<Result<(Request<()>, PushedResponse), BrokenMessage>> {
        let promise = self.0.push_promise().await?;
        Some(promise.map_err(BrokenMessage::from).map(|promise| {
            let (request, response) = promise.into_parts();
            (request, PushedResponse(response))
        }))
    }
}

impl PushedResponse {
    /// Reads the whole response, with at most `body_max_bytes` of body.
    pub async fn read_whole(self, body_max_bytes: usize) -> Result<Response<Bytes>, BrokenMessage> {
        let (head, stream) = self.0.await?.into_parts();
        let mut reader = BodyReader::h2(stream);
        let mut body = BytesMut::new();
        while let Some(piece) = reader.data().await? {
            body.extend_from_slice(&piece);
            if body.len() > body_max_bytes {
                return Err(BrokenMessage::here("the pushed response is too large"));
            }
        }
        Ok(Response::from_parts(head, body.freeze()))
    }
}
