//! HTTP/3 server transport over a quinn connection that tells which requests came as early data,
//! which the stock adapter keeps to itself.
//!
//! For: the server role. Not for: clients, or what is answered.
//!
//! A stream accepted before the handshake is complete can only carry early data: quinn drops 1-RTT
//! packets until then (RFC 9001 section 5.7).

use bytes::{Buf, Bytes};
use h3::error::Code;
use h3::quic::{self, ConnectionErrorIncoming, StreamErrorIncoming, StreamId, WriteBuf};
use quinn::{ConnectionError, ReadError, StoppedError, VarInt, WriteError};
use std::collections::HashSet;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

/// Ids of the request streams of one connection that were opened in early data.
#[derive(Debug, Clone, Default)]
pub struct EarlyStreams(Arc<Mutex<HashSet<u64>>>);

impl EarlyStreams {
    /// Whether this request stream was opened in early data.
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

type Waiting<T> = Pin<Box<dyn Future<Output = Result<T, ConnectionError>> + Send + Sync>>;
type BiStreams = (quinn::SendStream, quinn::RecvStream);

/// An accepted QUIC connection as the h3 crate wants it.
pub struct ServerQuic {
    connection: quinn::Connection,
    early: EarlyStreams,
    accepting_bi: Option<Waiting<BiStreams>>,
    accepting_uni: Option<Waiting<quinn::RecvStream>>,
    opener: StreamOpener,
}

impl ServerQuic {
    /// Wrap a connection; the second value tells early requests from others.
    pub fn new(connection: quinn::Connection) -> (Self, EarlyStreams) {
        let early = EarlyStreams::default();
        let wrapped = Self {
            opener: StreamOpener::new(connection.clone()),
            connection,
            early: early.clone(),
            accepting_bi: None,
            accepting_uni: None,
        };
        (wrapped, early)
    }
}

impl<B: Buf> quic::Connection<B> for ServerQuic {
    type RecvStream = Receiver;
    type OpenStreams = StreamOpener;

    fn poll_accept_recv(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Receiver, ConnectionErrorIncoming>> {
        let connection = &self.connection;
        let waiting = self.accepting_uni.get_or_insert_with(|| {
            let connection = connection.clone();
            Box::pin(async move { connection.accept_uni().await })
        });
        let accepted = ready!(waiting.as_mut().poll(cx));
        self.accepting_uni = None;
        Poll::Ready(accepted.map(Receiver).map_err(connection_error))
    }

    fn poll_accept_bidi(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Exchange<B>, ConnectionErrorIncoming>> {
        let connection = &self.connection;
        let waiting = self.accepting_bi.get_or_insert_with(|| {
            let connection = connection.clone();
            Box::pin(async move { connection.accept_bi().await })
        });
        let accepted = ready!(waiting.as_mut().poll(cx));
        self.accepting_bi = None;
        let (send, receive) = accepted.map_err(connection_error)?;
        if receive.is_0rtt() {
            self.early.insert(u64::from(VarInt::from(receive.id())));
        }
        Poll::Ready(Ok(Exchange {
            send: Sender::new(send),
            receive: Receiver(receive),
        }))
    }

    fn opener(&self) -> StreamOpener {
        self.opener.clone()
    }
}

impl<B: Buf> quic::OpenStreams<B> for ServerQuic {
    type BidiStream = Exchange<B>;
    type SendStream = Sender<B>;

    fn poll_open_bidi(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Exchange<B>, StreamErrorIncoming>> {
        self.opener.poll_open_bidi(cx)
    }

    fn poll_open_send(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Sender<B>, StreamErrorIncoming>> {
        self.opener.poll_open_send(cx)
    }

    fn close(&mut self, code: Code, reason: &[u8]) {
        close(&self.connection, code, reason);
    }
}

/// Opens streams from the server's side.
pub struct StreamOpener {
    connection: quinn::Connection,
    opening_bi: Option<Waiting<BiStreams>>,
    opening_uni: Option<Waiting<quinn::SendStream>>,
}

impl StreamOpener {
    fn new(connection: quinn::Connection) -> Self {
        Self {
            connection,
            opening_bi: None,
            opening_uni: None,
        }
    }
}

impl Clone for StreamOpener {
    fn clone(&self) -> Self {
        Self::new(self.connection.clone())
    }
}

impl<B: Buf> quic::OpenStreams<B> for StreamOpener {
    type BidiStream = Exchange<B>;
    type SendStream = Sender<B>;

    fn poll_open_bidi(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Exchange<B>, StreamErrorIncoming>> {
        let connection = &self.connection;
        let waiting = self.opening_bi.get_or_insert_with(|| {
            let connection = connection.clone();
            Box::pin(async move { connection.open_bi().await })
        });
        let opened = ready!(waiting.as_mut().poll(cx));
        self.opening_bi = None;
        let (send, receive) = opened.map_err(lost)?;
        Poll::Ready(Ok(Exchange {
            send: Sender::new(send),
            receive: Receiver(receive),
        }))
    }

    fn poll_open_send(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Sender<B>, StreamErrorIncoming>> {
        let connection = &self.connection;
        let waiting = self.opening_uni.get_or_insert_with(|| {
            let connection = connection.clone();
            Box::pin(async move { connection.open_uni().await })
        });
        let opened = ready!(waiting.as_mut().poll(cx));
        self.opening_uni = None;
        Poll::Ready(opened.map(Sender::new).map_err(lost))
    }

    fn close(&mut self, code: Code, reason: &[u8]) {
        close(&self.connection, code, reason);
    }
}

/// Both directions of a request stream.
pub struct Exchange<B: Buf> {
    send: Sender<B>,
    receive: Receiver,
}

impl<B: Buf> quic::BidiStream<B> for Exchange<B> {
    type SendStream = Sender<B>;
    type RecvStream = Receiver;

    fn split(self) -> (Sender<B>, Receiver) {
        (self.send, self.receive)
    }
}

impl<B: Buf> quic::RecvStream for Exchange<B> {
    type Buf = Bytes;

    fn poll_data(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Option<Bytes>, StreamErrorIncoming>> {
        self.receive.poll_data(cx)
    }

    fn stop_sending(&mut self, error_code: u64) {
        self.receive.stop_sending(error_code);
    }

    fn recv_id(&self) -> StreamId {
        self.receive.recv_id()
    }
}

impl<B: Buf> quic::SendStream<B> for Exchange<B> {
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), StreamErrorIncoming>> {
        self.send.poll_ready(cx)
    }

    fn send_data<T: Into<WriteBuf<B>>>(&mut self, data: T) -> Result<(), StreamErrorIncoming> {
        self.send.send_data(data)
    }

    fn poll_finish(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), StreamErrorIncoming>> {
        self.send.poll_finish(cx)
    }

    fn reset(&mut self, reset_code: u64) {
        self.send.reset(reset_code);
    }

    fn send_id(&self) -> StreamId {
        self.send.send_id()
    }
}

/// The receiving direction of a stream.
pub struct Receiver(quinn::RecvStream);

impl quic::RecvStream for Receiver {
    type Buf = Bytes;

    fn poll_data(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Option<Bytes>, StreamErrorIncoming>> {
        // Nothing is lost when this future is dropped: it takes bytes only when it is ready.
        let chunk = std::pin::pin!(self.0.read_chunk(usize::MAX, true));
        let chunk = ready!(chunk.poll(cx)).map_err(read_error)?;
        Poll::Ready(Ok(chunk.map(|chunk| chunk.bytes)))
    }

    fn stop_sending(&mut self, error_code: u64) {
        // A stream that ended already needs no stopping.
        let _ = self.0.stop(var_int(error_code));
    }

    fn recv_id(&self) -> StreamId {
        stream_id(self.0.id())
    }
}

/// The sending direction of a stream.
pub struct Sender<B: Buf> {
    stream: quinn::SendStream,
    writing: Option<WriteBuf<B>>,
    /// Whether the client took the request back, asked once a write has to wait: quinn does not
    /// say so to a write that waits for room in the connection's send window.
    stopped: Option<Stopped>,
}

type Stopped = Pin<Box<dyn Future<Output = Result<Option<VarInt>, StoppedError>> + Send + Sync>>;

impl<B: Buf> Sender<B> {
    fn new(stream: quinn::SendStream) -> Self {
        Self {
            stream,
            writing: None,
            stopped: None,
        }
    }

    fn poll_stopped(&mut self, cx: &mut Context<'_>) -> Poll<StreamErrorIncoming> {
        let stream = &self.stream;
        let stopped = self
            .stopped
            .get_or_insert_with(|| Box::pin(stream.stopped()));
        let end = ready!(stopped.as_mut().poll(cx));
        self.stopped = None;
        Poll::Ready(match end {
            Ok(code) => write_error(WriteError::Stopped(code.unwrap_or_default())),
            Err(StoppedError::ConnectionLost(error)) => lost(error),
            Err(other) => StreamErrorIncoming::Unknown(Box::new(io::Error::other(other))),
        })
    }
}

impl<B: Buf> quic::SendStream<B> for Sender<B> {
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), StreamErrorIncoming>> {
        while let Some(data) = self
            .writing
            .as_mut()
            .filter(|data| Buf::has_remaining(*data))
        {
            let stream = Pin::new(&mut self.stream);
            match stream.poll_write(cx, data.chunk()) {
                Poll::Ready(written) => data.advance(written.map_err(write_error)?),
                Poll::Pending => return self.poll_stopped(cx).map(Err),
            }
        }
        self.writing = None;
        Poll::Ready(Ok(()))
    }

    fn send_data<T: Into<WriteBuf<B>>>(&mut self, data: T) -> Result<(), StreamErrorIncoming> {
        if self.writing.is_some() {
            let connection_error =
                ConnectionErrorIncoming::InternalError("data sent before poll_ready".to_owned());
            return Err(StreamErrorIncoming::ConnectionErrorIncoming { connection_error });
        }
        self.writing = Some(data.into());
        Ok(())
    }

    fn poll_finish(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), StreamErrorIncoming>> {
        Poll::Ready(
            self.stream
                .finish()
                .map_err(|e| StreamErrorIncoming::Unknown(Box::new(e))),
        )
    }

    fn reset(&mut self, reset_code: u64) {
        // A stream that ended already needs no reset.
        let _ = self.stream.reset(var_int(reset_code));
    }

    fn send_id(&self) -> StreamId {
        stream_id(self.stream.id())
    }
}

fn close(connection: &quinn::Connection, code: Code, reason: &[u8]) {
    connection.close(var_int(code.value()), reason);
}

fn var_int(value: u64) -> VarInt {
    VarInt::from_u64(value).unwrap_or(VarInt::MAX)
}

fn stream_id(id: quinn::StreamId) -> StreamId {
    StreamId::try_from(u64::from(VarInt::from(id))).expect("stream ids are below 2^62")
}

fn connection_error(error: ConnectionError) -> ConnectionErrorIncoming {
    match error {
        ConnectionError::ApplicationClosed(close) => ConnectionErrorIncoming::ApplicationClose {
            error_code: close.error_code.into_inner(),
        },
        ConnectionError::TimedOut => ConnectionErrorIncoming::Timeout,
        other => ConnectionErrorIncoming::Undefined(Arc::new(other)),
    }
}

fn lost(error: ConnectionError) -> StreamErrorIncoming {
    StreamErrorIncoming::ConnectionErrorIncoming {
        connection_error: connection_error(error),
    }
}

fn read_error(error: ReadError) -> StreamErrorIncoming {
    match error {
        ReadError::Reset(code) => StreamErrorIncoming::StreamTerminated {
            error_code: code.into_inner(),
        },
        ReadError::ConnectionLost(error) => lost(error),
        other => StreamErrorIncoming::Unknown(Box::new(io::Error::other(other))),
    }
}

fn write_error(error: WriteError) -> StreamErrorIncoming {
    match error {
        WriteError::Stopped(code) => StreamErrorIncoming::StreamTerminated {
            error_code: code.into_inner(),
        },
        WriteError::ConnectionLost(error) => lost(error),
        other => StreamErrorIncoming::Unknown(Box::new(io::Error::other(other))),
    }
}
