//! A request's body as sent by the browser. Not for: sending the body upstream.

use bytes::Bytes;
use http::HeaderMap;
use hyper::body::{Body as _, Incoming};
use resolab_http::streaming::{BodyReader, BrokenMessage, ResetReason};
use std::future::poll_fn;
use std::pin::Pin;

/// The body of a request.
pub(crate) enum RequestBody {
    /// The body over HTTP/2 and HTTP/3.
    Streamed(Box<BodyReader>),
    /// The body over HTTP/1.1, and the trailers read with it.
    H1(Incoming, Option<HeaderMap>),
}

impl RequestBody {
    /// Returns true when the body is already known to be empty.
    pub fn is_empty_by_now(&mut self) -> bool {
        match self {
            Self::Streamed(reader) => reader.is_empty_by_now(),
            Self::H1(body, _) => body.is_end_stream(),
        }
    }

    /// Returns the next piece; `None` after the last piece.
    pub async fn piece(&mut self) -> Result<Option<Bytes>, BrokenMessage> {
        match self {
            Self::Streamed(reader) => reader.data().await,
            Self::H1(body, trailers) => piece_of(body, trailers).await,
        }
    }

    /// Returns the trailers after the last piece.
    pub async fn trailers(&mut self) -> Result<Option<HeaderMap>, BrokenMessage> {
        match self {
            Self::Streamed(reader) => reader.trailers().await,
            Self::H1(_, trailers) => Ok(trailers.take()),
        }
    }
}

async fn piece_of(
    body: &mut Incoming,
    trailers: &mut Option<HeaderMap>,
) -> Result<Option<Bytes>, BrokenMessage> {
    loop {
        let frame = poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await;
        let Some(frame) = frame else {
            return Ok(None);
        };
        let frame = frame.map_err(|error| BrokenMessage {
            reason: ResetReason::Cancelled,
            detail: error.to_string(),
        })?;
        match frame.into_data() {
            Ok(piece) => return Ok(Some(piece)),
            Err(frame) => *trailers = frame.into_trailers().ok(),
        }
    }
}
