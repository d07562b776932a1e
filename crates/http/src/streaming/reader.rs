//! Reads a body in pieces. Not for: the head before the body.

use super::broken::{BrokenMessage, ResetReason};
use super::{ReceivedRequest, ReceivedResponse};
use crate::content_length::ContentLength;
use bytes::{Buf, Bytes};
use h2::RecvStream;
use h3::error::StreamError;
use http::HeaderMap;
use std::future::poll_fn;
use std::task::{Context, Poll, Waker, ready};

/// A body, read in pieces. The request for the next piece returns the previous piece to the
/// sender's window. A drop before the end asks the sender to stop.
pub struct BodyReader {
    source: BodySource,
    stage: ReadingStage,
    /// Length of a body over HTTP/3; the HTTP/2 library counts by itself.
    length: ContentLength,
    /// Bytes of HTTP/2 handed out and not yet returned to the window.
    unreleased_bytes: usize,
    /// A piece already read by a check for the body's begin.
    first: Option<Bytes>,
}

enum BodySource {
    H2(RecvStream),
    Response(ReceivedResponse),
    Request(ReceivedRequest),
}

/// The stage of reading a body.
enum ReadingStage {
    Data,
    Trailers,
    Ended(Option<HeaderMap>),
}

impl BodyReader {
    /// Makes a reader for a message over HTTP/2.
    pub fn h2(stream: RecvStream) -> Self {
        Self::new(BodySource::H2(stream), ContentLength::default())
    }

    /// Makes a reader for a request over HTTP/3 with these fields in the head.
    pub fn h3_request(stream: ReceivedRequest, fields: &HeaderMap) -> Self {
        Self::new(
            BodySource::Request(stream),
            ContentLength::from_request(fields),
        )
    }

    pub(super) fn h3_response(stream: ReceivedResponse, length: ContentLength) -> Self {
        Self::new(BodySource::Response(stream), length)
    }

    fn new(source: BodySource, length: ContentLength) -> Self {
        Self {
            source,
            stage: ReadingStage::Data,
            length,
            unreleased_bytes: 0,
            first: None,
        }
    }

    /// Returns the next piece; `None` when all were read.
    pub async fn data(&mut self) -> Result<Option<Bytes>, BrokenMessage> {
        poll_fn(|cx| self.poll_data(cx)).await
    }

    /// Returns the trailers after the last piece.
    pub async fn trailers(&mut self) -> Result<Option<HeaderMap>, BrokenMessage> {
        poll_fn(|cx| self.poll_trailers(cx)).await?;
        match &mut self.stage {
            ReadingStage::Ended(trailers) => Ok(trailers.take()),
            ReadingStage::Data | ReadingStage::Trailers => Ok(None),
        }
    }

    /// Resolves when the first piece or the end of the body is known.
    pub async fn has_begun(&mut self) {
        match poll_fn(|cx| self.poll_data(cx)).await {
            Ok(Some(first)) => self.first = Some(first),
            Ok(None) => drop(poll_fn(|cx| self.poll_trailers(cx)).await),
            // Whoever reads it is told.
            Err(_) => (),
        }
    }

    /// Returns true when the body is known to be empty, without trailers. Waits for nothing.
    pub fn is_empty_by_now(&mut self) -> bool {
        let cx = &mut Context::from_waker(Waker::noop());
        if self.first.is_none()
            && let Poll::Ready(Ok(Some(first))) = self.poll_data(cx)
        {
            self.first = Some(first);
        }
        let is_over = self.first.is_none() && matches!(self.poll_trailers(cx), Poll::Ready(Ok(())));
        is_over && matches!(self.stage, ReadingStage::Ended(None))
    }

    fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, BrokenMessage>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Ok(Some(first)));
        }
        while matches!(self.stage, ReadingStage::Data) {
            match ready!(self.poll_frame(cx))? {
                // HTTP/2 can end a body with a frame that has nothing in it.
                Some(piece) if piece.is_empty() => (),
                None => {
                    self.length.end()?;
                    self.stage = ReadingStage::Trailers;
                }
                Some(piece) => {
                    self.length.take(piece.len())?;
                    return Poll::Ready(Ok(Some(piece)));
                }
            }
        }
        Poll::Ready(Ok(None))
    }

    fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, BrokenMessage>> {
        Poll::Ready(Ok(match &mut self.source {
            BodySource::H2(stream) => {
                release(stream, &mut self.unreleased_bytes);
                let piece = ready!(stream.poll_data(cx)).transpose()?;
                self.unreleased_bytes = piece.as_ref().map_or(0, Bytes::len);
                piece
            }
            BodySource::Response(stream) => join_piece(ready!(stream.poll_recv_data(cx)))?,
            BodySource::Request(stream) => join_piece(ready!(stream.poll_recv_data(cx)))?,
        }))
    }

    fn poll_trailers(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BrokenMessage>> {
        if !matches!(self.stage, ReadingStage::Trailers) {
            return match self.stage {
                ReadingStage::Data => Poll::Pending,
                ReadingStage::Trailers | ReadingStage::Ended(_) => Poll::Ready(Ok(())),
            };
        }
        let trailers = match &mut self.source {
            BodySource::H2(stream) => ready!(stream.poll_trailers(cx))?,
            BodySource::Response(stream) => ready!(stream.poll_recv_trailers(cx))?,
            BodySource::Request(stream) => ready!(stream.poll_recv_trailers(cx))?,
        };
        self.stage = ReadingStage::Ended(trailers);
        Poll::Ready(Ok(()))
    }
}

impl Drop for BodyReader {
    /// Stops the stream. The HTTP/2 library stops by itself; the HTTP/3 library would use a
    /// meaningless code.
    fn drop(&mut self) {
        if matches!(self.stage, ReadingStage::Ended(_)) {
            return;
        }
        let code = ResetReason::Cancelled.h3();
        match &mut self.source {
            BodySource::H2(_) => (),
            BodySource::Response(stream) => stream.stop_sending(code),
            // Who sends a request and is answered before its end has done nothing wrong.
            BodySource::Request(stream) => stream.stop_sending(h3::error::Code::H3_NO_ERROR),
        }
    }
}

fn release(stream: &mut RecvStream, bytes: &mut usize) {
    if *bytes > 0 {
        // A stream that has ended has no window any more.
        let _ = stream.flow_control().release_capacity(*bytes);
        *bytes = 0;
    }
}

/// Returns the piece as contiguous bytes.
fn join_piece(
    piece: Result<Option<impl Buf>, StreamError>,
) -> Result<Option<Bytes>, BrokenMessage> {
    let piece = piece?;
    Ok(piece.map(|mut piece| piece.copy_to_bytes(piece.remaining())))
}
