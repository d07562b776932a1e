//! Writes a body in pieces. Not for: the head before the body.

use super::broken::{BrokenMessage, ResetReason};
use super::{SentRequest, SentResponse};
use bytes::Bytes;
use h2::SendStream;
use http::HeaderMap;
use std::future::poll_fn;

/// A body, written in pieces, each once the receiver's window has room. A drop before the end
/// resets the stream.
pub struct BodyWriter {
    sink: BodySink,
    is_over: bool,
}

enum BodySink {
    H2(SendStream<Bytes>),
    Request(SentRequest),
    Response(SentResponse),
    /// No body, as declared by the head.
    Nothing,
}

impl BodyWriter {
    /// Makes a writer for a message over HTTP/2.
    pub fn h2(stream: SendStream<Bytes>) -> Self {
        Self::new(BodySink::H2(stream))
    }

    /// Makes a writer for a response over HTTP/3, after the head.
    pub fn h3_response(stream: SentResponse) -> Self {
        Self::new(BodySink::Response(stream))
    }

    pub(crate) fn h3_request(stream: SentRequest) -> Self {
        Self::new(BodySink::Request(stream))
    }

    /// Makes a writer for a message ended with the head.
    pub fn nothing() -> Self {
        Self {
            sink: BodySink::Nothing,
            is_over: true,
        }
    }

    fn new(sink: BodySink) -> Self {
        Self {
            sink,
            is_over: false,
        }
    }

    /// Hands a piece to the connection, once the window has room.
    pub async fn send(&mut self, piece: Bytes) -> Result<(), BrokenMessage> {
        if piece.is_empty() {
            return Ok(());
        }
        match &mut self.sink {
            BodySink::H2(stream) => send_h2(stream, piece).await,
            BodySink::Request(stream) => Ok(stream.send_data(piece).await?),
            BodySink::Response(stream) => Ok(stream.send_data(piece).await?),
            BodySink::Nothing => Err(BrokenMessage::here("a body after a message without one")),
        }
    }

    /// Ends the body, with trailers if there are any.
    pub async fn finish(&mut self, trailers: Option<HeaderMap>) -> Result<(), BrokenMessage> {
        if self.is_over {
            return Ok(());
        }
        match (&mut self.sink, trailers) {
            (BodySink::H2(stream), Some(trailers)) => stream.send_trailers(trailers)?,
            (BodySink::H2(stream), None) => stream.send_data(Bytes::new(), true)?,
            (BodySink::Request(stream), trailers) => {
                if let Some(trailers) = trailers {
                    stream.send_trailers(trailers).await?;
                }
                stream.finish().await?;
            }
            (BodySink::Response(stream), trailers) => {
                if let Some(trailers) = trailers {
                    stream.send_trailers(trailers).await?;
                }
                stream.finish().await?;
            }
            (BodySink::Nothing, _) => (),
        }
        self.is_over = true;
        Ok(())
    }

    /// Resets the stream with a reason.
    pub fn reset(&mut self, reason: ResetReason) {
        if std::mem::replace(&mut self.is_over, true) {
            return;
        }
        match &mut self.sink {
            BodySink::H2(stream) => stream.send_reset(reason.h2()),
            BodySink::Request(stream) => stream.stop_stream(reason.h3()),
            BodySink::Response(stream) => stream.stop_stream(reason.h3()),
            BodySink::Nothing => (),
        }
    }

    /// Resolves when an HTTP/2 receiver no longer wants the body. Never resolves over HTTP/3, where
    /// the stream's own [`crate::quic_streams::CancellationFuture`] resolves.
    pub async fn wait_until_unwanted(&mut self) {
        if let BodySink::H2(stream) = &mut self.sink {
            let _ = poll_fn(|cx| stream.poll_reset(cx)).await;
        } else {
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for BodyWriter {
    /// Resets an unfinished body. The HTTP/3 library would end the stream as if the body were
    /// whole.
    fn drop(&mut self) {
        self.reset(ResetReason::Cancelled);
    }
}

async fn send_h2(stream: &mut SendStream<Bytes>, mut piece: Bytes) -> Result<(), BrokenMessage> {
    while !piece.is_empty() {
        stream.reserve_capacity(piece.len());
        let room = poll_fn(|cx| stream.poll_capacity(cx)).await;
        let gone = || BrokenMessage {
            reason: ResetReason::Cancelled,
            detail: "the receiver does not want it any more".to_owned(),
        };
        let room = room.ok_or_else(gone)??;
        let part = piece.split_to(room.min(piece.len()));
        stream.send_data(part, false)?;
    }
    Ok(())
}
