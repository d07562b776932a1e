//! The response to a sent request: interim heads (1xx), the head, then the body. Not for: sending
//! requests.

use super::ReceivedResponse;
use super::broken::BrokenMessage;
use super::pushed::PushedResponses;
use super::reader::BodyReader;
use crate::content_length::ContentLength;
use h2::client::ResponseFuture;
use h3::quic::StreamId;
use http::Response;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// A response not yet received.
pub struct ResponseReader {
    source: ResponseSource,
    stream: Option<StreamId>,
    is_early: bool,
}

enum ResponseSource {
    /// Over HTTP/2; the flag is true when the promises were taken.
    H2(ResponseFuture, bool),
    H3(PendingH3Response),
}

/// A response over HTTP/3; without a stream once the head was read.
struct PendingH3Response {
    stream: Option<Box<ReceivedResponse>>,
    is_to_head: bool,
}

/// A head, with the body when the head is the last.
pub type ReadHead = (Response<()>, Option<BodyReader>);

impl ResponseReader {
    pub(crate) fn h2(response: ResponseFuture) -> Self {
        Self {
            source: ResponseSource::H2(response, false),
            stream: None,
            is_early: false,
        }
    }

    /// Makes a reader over HTTP/3; `is_to_head` is true for the method HEAD.
    pub(crate) fn h3(stream: ReceivedResponse, is_to_head: bool) -> Self {
        Self {
            stream: Some(stream.id()),
            source: ResponseSource::H3(PendingH3Response {
                stream: Some(Box::new(stream)),
                is_to_head,
            }),
            is_early: false,
        }
    }

    /// Notes the request's timing: true when the head left before the handshake's end.
    pub(crate) fn with_early_request(mut self, is_early: bool) -> Self {
        self.is_early = is_early;
        self
    }

    /// Returns true when the request's head was handed to the connection before the handshake's
    /// end.
    pub fn request_left_early(&self) -> bool {
        self.is_early
    }

    /// Returns the request's stream; `None` over HTTP/2.
    pub fn stream(&self) -> Option<StreamId> {
        self.stream
    }

    /// Returns the push promises of the response. `None` over HTTP/3, where no program of ours
    /// pushes, and when already taken.
    pub fn pushes(&mut self) -> Option<PushedResponses> {
        match &mut self.source {
            ResponseSource::H2(response, is_taken) if !*is_taken => {
                *is_taken = true;
                Some(PushedResponses::h2(response.push_promises()))
            }
            ResponseSource::H2(..) | ResponseSource::H3(_) => None,
        }
    }

    /// Returns the next head: interim heads come without a body, the last head with the body.
    /// Nothing follows.
    pub async fn head(&mut self) -> Result<ReadHead, BrokenMessage> {
        match &mut self.source {
            ResponseSource::H2(response, _) => poll_fn(|cx| poll_h2(response, cx)).await,
            ResponseSource::H3(waiting) => waiting.head().await,
        }
    }
}

impl Drop for ResponseReader {
    /// Asks the server to stop, like the drop of a body.
    fn drop(&mut self) {
        if let ResponseSource::H3(waiting) = &mut self.source {
            drop(waiting.body(ContentLength::default()));
        }
    }
}

fn poll_h2(
    response: &mut ResponseFuture,
    cx: &mut Context<'_>,
) -> Poll<Result<ReadHead, BrokenMessage>> {
    if let Poll::Ready(Some(interim)) = response.poll_informational(cx) {
        return Poll::Ready(Ok((interim?, None)));
    }
    let head = ready!(Pin::new(response).poll(cx))?;
    let (head, body) = head.into_parts();
    let head = Response::from_parts(head, ());
    Poll::Ready(Ok((head, Some(BodyReader::h2(body)))))
}

impl PendingH3Response {
    async fn head(&mut self) -> Result<ReadHead, BrokenMessage> {
        let Some(stream) = &mut self.stream else {
            return Err(BrokenMessage::here("the response was read"));
        };
        let head = stream.recv_response().await?;
        if head.status().is_informational() {
            return Ok((head, None));
        }
        let length = ContentLength::from_response(&head, self.is_to_head);
        let body = self.body(length);
        Ok((head, body))
    }

    fn body(&mut self, length: ContentLength) -> Option<BodyReader> {
        let stream = self.stream.take()?;
        Some(BodyReader::h3_response(*stream, length))
    }
}
