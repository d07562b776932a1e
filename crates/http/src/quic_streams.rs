//! HTTP/3 transport over a quinn connection, for both roles, with data hidden by the stock adapter.
//! The transport shows the requests received as early data. Control-stream frames unknown to the h3
//! crate are read and sent. Request streams may come with first bytes already read by another
//! reader.
//!
//! Not for: the content of requests and responses.
//!
//! A stream accepted before the handshake's end can only carry early data: quinn drops 1-RTT
//! packets until then (RFC 9001 section 5.7).

mod errors;
#[deny(clippy::disallowed_methods)] // pure
mod frame_guard;
mod halves;

pub(crate) use halves::SharedStream;
pub use halves::{BidirectionalStream, StreamReceiver, StreamSender};

use crate::control_stream::{ControlFrames, ControlReader, ControlWriter};
use crate::go_away::GoAway;
use crate::origins::Origins;
use crate::priorities::PriorityUpdates;
use bytes::{Buf, Bytes};
use errors::{close, connection_error, lost};
use frame_guard::FrameGuard;
use h3::error::Code;
use h3::quic::{self, ConnectionErrorIncoming, StreamErrorIncoming, StreamId};
use halves::StreamOwnership;
use quinn::{ConnectionError, StoppedError, VarInt};
use resolab_transport::client::QuicConnection;
use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use tokio::sync::mpsc;

/// Ids of a connection's request streams opened in early data.
#[derive(Debug, Clone, Default)]
pub struct EarlyStreams(Arc<Mutex<HashSet<u64>>>);

impl EarlyStreams {
    /// Returns true when this request stream was opened in early data.
    pub fn contains(&self, stream: StreamId) -> bool {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .contains(&stream.into_inner())
    }

    fn insert(&self, stream: u64) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(stream);
    }
}

/// Resolves when the peer no longer wants this side's data on a stream; `Ok(None)` when the peer
/// has received all data.
pub type CancellationFuture =
    Pin<Box<dyn Future<Output = Result<Option<VarInt>, StoppedError>> + Send + Sync>>;

/// The request streams cancelled by the peer, for servers, also while a stream is idle. Take a
/// stream's future before dropping the stream.
#[derive(Clone, Default)]
pub struct CancelledStreams(Arc<Mutex<HashMap<u64, CancellationFuture>>>);

impl CancelledStreams {
    /// Takes the future of a request stream; possible once.
    pub fn take(&self, stream: StreamId) -> Option<CancellationFuture> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.remove(&stream.into_inner())
    }

    fn watch(&self, stream: &quinn::SendStream) -> WatchedRequestStream {
        let id = u64::from(VarInt::from(stream.id()));
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(id, Box::pin(stream.stopped()));
        WatchedRequestStream {
            streams: self.clone(),
            id,
        }
    }
}

/// A request stream watched for cancellation, for the stream's whole life.
struct WatchedRequestStream {
    streams: CancelledStreams,
    id: u64,
}

impl Drop for WatchedRequestStream {
    fn drop(&mut self) {
        let all = self.streams.0.lock();
        all.unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}

type ConnectionFuture<T> = Pin<Box<dyn Future<Output = Result<T, ConnectionError>> + Send + Sync>>;
type BiStreams = (quinn::SendStream, quinn::RecvStream);

/// A request stream with first bytes already read by another reader.
pub struct PrereadStream {
    /// The sending direction of the stream.
    pub send: quinn::SendStream,
    /// The rest of the receiving direction.
    pub receive: quinn::RecvStream,
    /// The bytes already read from the stream.
    pub first: Bytes,
}

/// The source of request streams.
enum RequestSource {
    /// Streams accepted from the connection itself.
    Accepted(Option<ConnectionFuture<BiStreams>>),
    /// Streams accepted by another task.
    Handed(mpsc::UnboundedReceiver<PrereadStream>),
}

/// A QUIC connection with the interface of the h3 crate.
pub struct Http3Quic {
    connection: quinn::Connection,
    early: EarlyStreams,
    requests: RequestSource,
    accepting_uni: Option<ConnectionFuture<quinn::RecvStream>>,
    opener: StreamOpener,
    /// Receivers of frames from the peer's control stream, each for one type.
    control_frames: Vec<Arc<dyn ControlFrames>>,
    control_writer: Option<ControlWriter>,
    taken_back: Option<CancelledStreams>,
}

impl Http3Quic {
    fn new(connection: quinn::Connection, requests: RequestSource) -> Self {
        Self {
            opener: StreamOpener::new(connection.clone()),
            connection,
            early: EarlyStreams::default(),
            requests,
            accepting_uni: None,
            control_frames: Vec::new(),
            control_writer: None,
            taken_back: None,
        }
    }

    /// Makes the client side; origins named by the server go into `origins`.
    pub(crate) fn client(client: &Arc<QuicConnection>, origins: Origins) -> Self {
        let mut quic = Self::new(client.connection.clone(), RequestSource::Accepted(None));
        quic.opener.client = Some(Arc::clone(client));
        quic.control_frames.push(Arc::new(origins));
        quic
    }

    /// Adds `go_away` as the receiver of the server's GOAWAY.
    #[must_use]
    pub(crate) fn with_go_away(mut self, go_away: GoAway) -> Self {
        self.control_frames.push(Arc::new(go_away));
        self
    }

    /// Makes a writer for our own frames, usable at any time.
    pub(crate) fn control_writer(&mut self) -> ControlWriter {
        let writer = ControlWriter::default();
        self.opener.control_writer = Some(writer.clone());
        self.control_writer = Some(writer.clone());
        writer
    }

    /// Returns the priority updates from the client, for requests already sent. Server side.
    pub fn priority_updates(&mut self) -> PriorityUpdates {
        let updates = PriorityUpdates::default();
        self.control_frames.push(Arc::new(updates.clone()));
        updates
    }

    /// Makes the server side of a connection with HTTP/3 alone.
    pub fn server(connection: quinn::Connection) -> Self {
        Self::new(connection, RequestSource::Accepted(None))
    }

    /// Makes the server side of a connection with request streams accepted by another task.
    pub fn handed(
        connection: quinn::Connection,
        requests: mpsc::UnboundedReceiver<PrereadStream>,
    ) -> Self {
        Self::new(connection, RequestSource::Handed(requests))
    }

    /// Sends these bytes, whole frames, on the control stream right after SETTINGS.
    #[must_use]
    pub fn with_control_frames(mut self, frames: Bytes) -> Self {
        self.opener.control_tail = Some(frames).filter(|frames| !frames.is_empty());
        self
    }

    /// Ends every request stream with a longer head, or any other longer frame.
    #[must_use]
    pub fn with_heads_of_at_most(mut self, bytes: u32) -> Self {
        self.opener.guard = FrameGuard::with_head_limit(bytes);
        self
    }

    /// Watches every request stream for cancellation.
    pub fn taken_back_streams(&mut self) -> CancelledStreams {
        self.taken_back.get_or_insert_default().clone()
    }

    /// Returns the set of early request streams.
    pub fn early_streams(&self) -> EarlyStreams {
        self.early.clone()
    }

    fn poll_request(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<PrereadStream, ConnectionErrorIncoming>> {
        let connection = &self.connection;
        match &mut self.requests {
            RequestSource::Accepted(accepting) => {
                let waiting = accepting.get_or_insert_with(|| {
                    let connection = connection.clone();
                    Box::pin(async move { connection.accept_bi().await })
                });
                let accepted = ready!(waiting.as_mut().poll(cx));
                *accepting = None;
                Poll::Ready(accepted.map_err(connection_error).map(|(send, receive)| {
                    PrereadStream {
                        send,
                        receive,
                        first: Bytes::new(),
                    }
                }))
            }
            RequestSource::Handed(streams) => {
                // Nobody hands streams over any more once the connection has ended.
                let ended = || {
                    let reason = connection.close_reason();
                    connection_error(reason.unwrap_or(ConnectionError::LocallyClosed))
                };
                Poll::Ready(ready!(streams.poll_recv(cx)).ok_or_else(ended))
            }
        }
    }
}

impl<B: Buf> quic::Connection<B> for Http3Quic {
    type RecvStream = StreamReceiver;
    type OpenStreams = StreamOpener;

    fn poll_accept_recv(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<StreamReceiver, ConnectionErrorIncoming>> {
        if let Some(writer) = &self.control_writer {
            writer.drive(cx);
        }
        let connection = &self.connection;
        let waiting = self.accepting_uni.get_or_insert_with(|| {
            let connection = connection.clone();
            Box::pin(async move { connection.accept_uni().await })
        });
        let accepted = ready!(waiting.as_mut().poll(cx));
        self.accepting_uni = None;
        let frames = self.control_frames.iter().map(Arc::clone);
        let observers = frames.map(ControlReader::new).collect();
        Poll::Ready(
            accepted
                .map(|stream| StreamReceiver {
                    observers,
                    ..StreamReceiver::new(stream)
                })
                .map_err(connection_error),
        )
    }

    fn poll_accept_bidi(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<BidirectionalStream<B>, ConnectionErrorIncoming>> {
        let stream = ready!(self.poll_request(cx))?;
        if stream.receive.is_0rtt() {
            self.early
                .insert(u64::from(VarInt::from(stream.receive.id())));
        }
        let taken_back = self.taken_back.as_ref();
        let watched = taken_back.map(|taken_back| taken_back.watch(&stream.send));
        Poll::Ready(Ok(BidirectionalStream {
            send: StreamSender::new(stream.send),
            receive: StreamReceiver {
                first: stream.first,
                guard: Some(self.opener.guard.clone()),
                _watched: watched,
                ..StreamReceiver::new(stream.receive)
            },
        }))
    }

    fn opener(&self) -> StreamOpener {
        self.opener.clone()
    }
}

impl<B: Buf> quic::OpenStreams<B> for Http3Quic {
    type BidiStream = BidirectionalStream<B>;
    type SendStream = StreamSender<B>;

    fn poll_open_bidi(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<BidirectionalStream<B>, StreamErrorIncoming>> {
        self.opener.poll_open_bidi(cx)
    }

    fn poll_open_send(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<StreamSender<B>, StreamErrorIncoming>> {
        self.opener.poll_open_send(cx)
    }

    fn close(&mut self, code: Code, reason: &[u8]) {
        close(&self.connection, code, reason);
    }
}

/// An opener of streams from our side.
pub struct StreamOpener {
    connection: quinn::Connection,
    /// Frames for the first unidirectional stream: the control stream (the h3 crate opens the
    /// control stream before the streams of QPACK).
    control_tail: Option<Bytes>,
    /// Writer for the same stream.
    control_writer: Option<ControlWriter>,
    /// Guard of every request stream.
    guard: FrameGuard,
    /// The connection, on the client's side only.
    client: Option<Arc<QuicConnection>>,
    opening_bi: Option<ConnectionFuture<BiStreams>>,
    opening_uni: Option<ConnectionFuture<quinn::SendStream>>,
}

impl StreamOpener {
    fn new(connection: quinn::Connection) -> Self {
        Self {
            connection,
            control_tail: None,
            control_writer: None,
            guard: FrameGuard::default(),
            client: None,
            opening_bi: None,
            opening_uni: None,
        }
    }
}

impl Clone for StreamOpener {
    fn clone(&self) -> Self {
        Self {
            guard: self.guard.clone(),
            client: self.client.clone(),
            ..Self::new(self.connection.clone())
        }
    }
}

/// Opens the next stream, once the server permits. quinn wakes no waiting task when the permission
/// comes with the rejection of early data.
async fn open_bi(
    connection: &quinn::Connection,
    client: Option<&QuicConnection>,
) -> Result<BiStreams, ConnectionError> {
    let Some(client) = client.filter(|client| client.log.handshake().is_none()) else {
        return connection.open_bi().await;
    };
    tokio::select! {
        biased;
        opened = connection.open_bi() => opened,
        () = client.log.handshake_ended() => connection.open_bi().await,
    }
}

impl<B: Buf> quic::OpenStreams<B> for StreamOpener {
    type BidiStream = BidirectionalStream<B>;
    type SendStream = StreamSender<B>;

    fn poll_open_bidi(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<BidirectionalStream<B>, StreamErrorIncoming>> {
        let connection = &self.connection;
        let waiting = self.opening_bi.get_or_insert_with(|| {
            let (connection, client) = (connection.clone(), self.client.clone());
            Box::pin(async move { open_bi(&connection, client.as_deref()).await })
        });
        let opened = ready!(waiting.as_mut().poll(cx));
        self.opening_bi = None;
        let (send, receive) = opened.map_err(lost)?;
        let guard = || self.client.as_ref().map(|client| client.stream_guard());
        let mut send = StreamSender::new_request(send);
        send.beside = guard();
        Poll::Ready(Ok(BidirectionalStream {
            send,
            receive: StreamReceiver {
                guard: Some(self.guard.clone()),
                beside: guard(),
                ..StreamReceiver::new(receive)
            },
        }))
    }

    fn poll_open_send(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<StreamSender<B>, StreamErrorIncoming>> {
        let connection = &self.connection;
        let waiting = self.opening_uni.get_or_insert_with(|| {
            let connection = connection.clone();
            Box::pin(async move { connection.open_uni().await })
        });
        let opened = ready!(waiting.as_mut().poll(cx));
        self.opening_uni = None;
        let stream = opened.map_err(lost)?;
        let mut sender = match self.control_writer.take() {
            Some(writer) => {
                let stream = Arc::new(Mutex::new(stream));
                writer.open(Arc::clone(&stream));
                StreamSender::from_ownership(StreamOwnership::Shared(stream))
            }
            None => StreamSender::new(stream),
        };
        sender.tail = self.control_tail.take();
        Poll::Ready(Ok(sender))
    }

    fn close(&mut self, code: Code, reason: &[u8]) {
        close(&self.connection, code, reason);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
