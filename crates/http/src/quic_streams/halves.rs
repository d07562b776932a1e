//! The directions of a stream, with the interface of the h3 crate.

use super::WatchedRequestStream;
use super::errors::{cut_short, lost, read_error, stream_id, too_long, var_int, write_error};
use super::frame_guard::FrameGuard;
use crate::control_stream::ControlReader;
use bytes::{Buf, Bytes};
use h3::error::Code;
use h3::quic::{self, ConnectionErrorIncoming, StreamErrorIncoming, StreamId, WriteBuf};
use quinn::{Dir, StoppedError, VarInt, WriteError};
use resolab_transport::client::StreamGuard;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

/// Both directions of a request stream.
pub struct BidirectionalStream<B: Buf> {
    pub(super) send: StreamSender<B>,
    pub(super) receive: StreamReceiver,
}

impl<B: Buf> quic::BidiStream<B> for BidirectionalStream<B> {
    type SendStream = StreamSender<B>;
    type RecvStream = StreamReceiver;

    fn split(self) -> (StreamSender<B>, StreamReceiver) {
        (self.send, self.receive)
    }
}

impl<B: Buf> quic::RecvStream for BidirectionalStream<B> {
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

impl<B: Buf> quic::SendStream<B> for BidirectionalStream<B> {
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
pub struct StreamReceiver {
    pub(super) stream: quinn::RecvStream,
    /// Bytes already read by another reader.
    pub(super) first: Bytes,
    pub(super) observers: Vec<ControlReader>,
    /// Guard of request streams.
    pub(super) guard: Option<FrameGuard>,
    /// Never read: the watch ends with the stream.
    pub(super) _watched: Option<WatchedRequestStream>,
    /// Guard of a client's request; dropped after the stream.
    pub(super) beside: Option<StreamGuard>,
}

impl StreamReceiver {
    pub(super) fn new(stream: quinn::RecvStream) -> Self {
        Self {
            stream,
            first: Bytes::new(),
            observers: Vec::new(),
            guard: None,
            _watched: None,
            beside: None,
        }
    }
}

impl StreamReceiver {
    fn poll_bytes(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Option<Bytes>, StreamErrorIncoming>> {
        if !self.first.is_empty() {
            return Poll::Ready(Ok(Some(std::mem::take(&mut self.first))));
        }
        loop {
            // Nothing is lost when this future is dropped: it takes bytes only when it is ready.
            let chunk = std::pin::pin!(self.stream.read_chunk(usize::MAX, true));
            if let Poll::Ready(chunk) = chunk.poll(cx) {
                let chunk = chunk.map_err(read_error)?;
                return Poll::Ready(Ok(chunk.map(|chunk| chunk.bytes)));
            }
            ready!(poll_disturbed(&mut self.beside, cx));
        }
    }
}

impl quic::RecvStream for StreamReceiver {
    type Buf = Bytes;

    fn poll_data(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Option<Bytes>, StreamErrorIncoming>> {
        let bytes = ready!(self.poll_bytes(cx))?;
        if let Some(bytes) = &bytes {
            for observer in &mut self.observers {
                observer.feed(bytes);
            }
        }
        if let Some(guard) = &mut self.guard {
            match &bytes {
                Some(bytes) if !guard.allows(bytes) => {
                    // As HTTP/3's library does with a head that is too long.
                    self.stop_sending(Code::H3_REQUEST_CANCELLED.value());
                    return Poll::Ready(Err(too_long()));
                }
                None if !guard.is_between_frames() => return Poll::Ready(Err(cut_short())),
                Some(_) | None => (),
            }
        }
        Poll::Ready(Ok(bytes))
    }

    fn stop_sending(&mut self, error_code: u64) {
        // A stream that ended already needs no stopping.
        let _ = self.stream.stop(var_int(error_code));
    }

    fn recv_id(&self) -> StreamId {
        stream_id(self.stream.id())
    }
}

/// A stream with several writers; each writes whole frames while holding the lock.
pub(crate) type SharedStream = Arc<Mutex<quinn::SendStream>>;

/// The owner of a stream.
pub(super) enum StreamOwnership {
    Own(quinn::SendStream),
    Shared(SharedStream),
}

impl StreamOwnership {
    fn with<T>(&mut self, act: impl FnOnce(&mut quinn::SendStream) -> T) -> T {
        match self {
            Self::Own(stream) => act(stream),
            Self::Shared(stream) => act(&mut stream.lock().unwrap_or_else(PoisonError::into_inner)),
        }
    }

    fn id(&self) -> quinn::StreamId {
        match self {
            Self::Own(stream) => stream.id(),
            Self::Shared(stream) => stream.lock().unwrap_or_else(PoisonError::into_inner).id(),
        }
    }
}

/// The sending direction of a stream. A message dropped within a frame is reset; otherwise the
/// truncated message would seem whole. A request is also reset between frames. (A response is not:
/// the HTTP/3 library refuses a too long head with a response, and leaves the end to the drop.)
pub struct StreamSender<B: Buf> {
    pub(super) stream: StreamOwnership,
    pub(super) writing: Option<WriteBuf<B>>,
    /// Bytes following the first write.
    pub(super) tail: Option<Bytes>,
    /// Resolves when the peer cancels the request. Polled once a write has to wait: quinn does not
    /// report the cancellation to a write waiting for room in the connection's send window.
    pub(super) stopped: Option<StopFuture>,
    is_request: bool,
    is_finished: bool,
    /// Guard of a client's request; dropped after the stream.
    pub(super) beside: Option<StreamGuard>,
}

fn poll_disturbed(beside: &mut Option<StreamGuard>, cx: &mut Context<'_>) -> Poll<()> {
    match beside {
        Some(beside) => beside.poll_disturbed(cx),
        None => Poll::Pending,
    }
}

pub(super) type StopFuture =
    Pin<Box<dyn Future<Output = Result<Option<VarInt>, StoppedError>> + Send + Sync>>;

impl<B: Buf> StreamSender<B> {
    pub(super) fn new(stream: quinn::SendStream) -> Self {
        Self::from_ownership(StreamOwnership::Own(stream))
    }

    pub(super) fn new_request(stream: quinn::SendStream) -> Self {
        let mut sender = Self::new(stream);
        sender.is_request = true;
        sender
    }

    pub(super) fn from_ownership(stream: StreamOwnership) -> Self {
        Self {
            stream,
            writing: None,
            tail: None,
            stopped: None,
            is_request: false,
            is_finished: false,
            beside: None,
        }
    }

    fn reset_with(&mut self, code: VarInt) {
        // A stream that ended already needs no reset.
        let _ = self.stream.with(|stream| stream.reset(code));
    }

    fn poll_stopped(&mut self, cx: &mut Context<'_>) -> Poll<StreamErrorIncoming> {
        let stream = &mut self.stream;
        let stopped = self
            .stopped
            .get_or_insert_with(|| Box::pin(stream.with(|stream| stream.stopped())));
        let end = ready!(stopped.as_mut().poll(cx));
        self.stopped = None;
        Poll::Ready(match end {
            Ok(code) => write_error(WriteError::Stopped(code.unwrap_or_default())),
            Err(StoppedError::ConnectionLost(error)) => lost(error),
            Err(other) => StreamErrorIncoming::Unknown(Box::new(io::Error::other(other))),
        })
    }
}

impl<B: Buf> Drop for StreamSender<B> {
    fn drop(&mut self) {
        let is_in_frame = self.writing.as_ref().is_some_and(Buf::has_remaining);
        let is_message = self.stream.id().dir() == Dir::Bi;
        if is_message && !self.is_finished && (self.is_request || is_in_frame) {
            self.reset_with(var_int(Code::H3_REQUEST_CANCELLED.value()));
        }
    }
}

impl<B: Buf> quic::SendStream<B> for StreamSender<B> {
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), StreamErrorIncoming>> {
        while let Some(data) = self
            .writing
            .as_mut()
            .filter(|data| Buf::has_remaining(*data))
        {
            let write =
                |stream: &mut quinn::SendStream| Pin::new(stream).poll_write(cx, data.chunk());
            match self.stream.with(write) {
                Poll::Ready(written) => data.advance(written.map_err(write_error)?),
                Poll::Pending if poll_disturbed(&mut self.beside, cx).is_ready() => (),
                Poll::Pending => return self.poll_stopped(cx).map(Err),
            }
        }
        if self.writing.is_some() {
            while let Some(tail) = self.tail.as_mut().filter(|tail| !tail.is_empty()) {
                let write = |stream: &mut quinn::SendStream| Pin::new(stream).poll_write(cx, tail);
                let written = ready!(self.stream.with(write)).map_err(write_error)?;
                tail.advance(written);
            }
            self.tail = None;
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
        self.is_finished = true;
        Poll::Ready(
            self.stream
                .with(quinn::SendStream::finish)
                .map_err(|e| StreamErrorIncoming::Unknown(Box::new(e))),
        )
    }

    fn reset(&mut self, reset_code: u64) {
        self.reset_with(var_int(reset_code));
    }

    fn send_id(&self) -> StreamId {
        stream_id(self.stream.id())
    }
}
