//! A response sent to the browser. Not for: receiving the response from upstream.

use super::h1::{BodyPiece, Http1Body};
use bytes::Bytes;
use h2::server::SendResponse;
use http::header::CONTENT_LENGTH;
use http::{HeaderMap, Response, Version};
use hyper::body::Frame;
use resolab_http::quic_streams::{CancellationFuture, StreamSender};
use resolab_http::streaming::{BodyWriter, BrokenMessage, ResetReason};
use std::future::poll_fn;
use tokio::sync::{mpsc, oneshot};

type H3Response = h3::server::RequestStream<StreamSender<Bytes>, Bytes>;

/// The maximum number of an HTTP/1.1 body's pieces waiting for hyper.
const PIECES_WAITING_COUNT: usize = 2;

/// The sender of a response, before its head.
pub(crate) enum ResponseSink {
    H1(oneshot::Sender<Response<Http1Body>>),
    H2(SendResponse<Bytes>),
    H3(Box<H3Response>, CancellationFuture),
}

/// The sender of a response's body, after its head.
pub(crate) enum ResponseBodySink {
    /// The body over HTTP/1.1, with the bytes left of the head's length: hyper stops reading after
    /// the last byte.
    H1(mpsc::Sender<BodyPiece>, Option<u64>),
    H2(BodyWriter),
    H3(BodyWriter, CancellationFuture),
}

impl ResponseSink {
    /// Sends an interim head. Does nothing over HTTP/1.1, because hyper only has interim 100.
    pub async fn interim(&mut self, head: Response<()>) -> Result<(), BrokenMessage> {
        match self {
            Self::H1(_) => Ok(()),
            Self::H2(respond) => {
                Ok(respond.send_informational(set_version(head, Version::HTTP_2))?)
            }
            Self::H3(stream, _) => Ok(stream.send_response(head).await?),
        }
    }

    /// Sends the head; `ends` also ends the response.
    pub async fn head(
        self,
        head: Response<()>,
        ends: bool,
    ) -> Result<ResponseBodySink, BrokenMessage> {
        match self {
            Self::H1(waiting) => {
                let (sender, pieces) = mpsc::channel(PIECES_WAITING_COUNT);
                let head = set_version(head, Version::HTTP_11);
                let length = head.headers().get(CONTENT_LENGTH);
                let left = length.and_then(|length| length.to_str().ok()?.parse().ok());
                let response = head.map(|()| Http1Body::new(pieces, ends));
                waiting.send(response).map_err(|_| connection_gone())?;
                Ok(ResponseBodySink::H1(
                    sender,
                    if ends { Some(0) } else { left },
                ))
            }
            Self::H2(mut respond) => {
                let stream = respond.send_response(set_version(head, Version::HTTP_2), ends)?;
                Ok(ResponseBodySink::H2(if ends {
                    BodyWriter::nothing()
                } else {
                    BodyWriter::h2(stream)
                }))
            }
            Self::H3(mut stream, taken_back) => {
                stream.send_response(head).await?;
                Ok(ResponseBodySink::H3(
                    BodyWriter::h3_response(*stream),
                    taken_back,
                ))
            }
        }
    }

    /// Fails the response before its head.
    pub fn fail(self, reason: ResetReason) {
        match self {
            // Without an answer hyper closes the connection.
            Self::H1(waiting) => drop(waiting),
            Self::H2(mut respond) => respond.send_reset(match reason {
                ResetReason::Cancelled => h2::Reason::CANCEL,
                ResetReason::Refused => h2::Reason::REFUSED_STREAM,
                ResetReason::Failed => h2::Reason::INTERNAL_ERROR,
            }),
            Self::H3(stream, _) => BodyWriter::h3_response(*stream).reset(reason),
        }
    }

    /// Waits until the browser does not want the response.
    pub async fn wait_until_unwanted(&mut self) {
        match self {
            Self::H1(waiting) => waiting.closed().await,
            Self::H2(respond) => drop(poll_fn(|cx| respond.poll_reset(cx)).await),
            Self::H3(_, taken_back) => drop(taken_back.await),
        }
    }
}

impl ResponseBodySink {
    /// Sends the next piece, as soon as the browser takes it.
    pub async fn send(&mut self, piece: Bytes) -> Result<(), BrokenMessage> {
        match self {
            Self::H1(pieces, left) => {
                *left = left.map(|left| left.saturating_sub(piece.len() as u64));
                let sent = pieces.send(Ok(Frame::data(piece))).await;
                sent.map_err(|_| connection_gone())
            }
            Self::H2(writer) | Self::H3(writer, _) => writer.send(piece).await,
        }
    }

    /// Ends the body after its last piece.
    pub async fn finish(&mut self, trailers: Option<HeaderMap>) -> Result<(), BrokenMessage> {
        match self {
            Self::H1(pieces, left) => {
                if let Some(trailers) = trailers.filter(|_| left.is_none()) {
                    let sent = pieces.send(Ok(Frame::trailers(trailers))).await;
                    sent.map_err(|_| connection_gone())?;
                }
                Ok(())
            }
            Self::H2(writer) | Self::H3(writer, _) => writer.finish(trailers).await,
        }
    }

    /// Fails the rest of the response.
    pub async fn fail(self, reason: ResetReason) {
        match self {
            // An error in its body makes hyper break the connection off, whole or not.
            Self::H1(pieces, _) => drop(pieces.send(Err(connection_gone())).await),
            Self::H2(mut writer) | Self::H3(mut writer, _) => writer.reset(reason),
        }
    }

    /// Waits until the browser does not want the rest.
    pub async fn wait_until_unwanted(&mut self) {
        match self {
            Self::H1(_, Some(0)) => std::future::pending().await,
            Self::H1(pieces, _) => pieces.closed().await,
            Self::H2(writer) => writer.wait_until_unwanted().await,
            Self::H3(_, taken_back) => drop(taken_back.await),
        }
    }
}

fn set_version(mut head: Response<()>, version: Version) -> Response<()> {
    *head.version_mut() = version;
    head
}

fn connection_gone() -> BrokenMessage {
    BrokenMessage {
        reason: ResetReason::Cancelled,
        detail: "the browser is gone".to_owned(),
    }
}
