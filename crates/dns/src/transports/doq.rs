//! DNS over dedicated QUIC connections (RFC 9250): a stream for each query, message id 0, FIN
//! after the query.

use crate::exchange::ExchangeLog;
use crate::iana::doq_error;
use crate::transports::batch::QueryBatch;
use crate::transports::framed::{frame, take_message};
use bytes::BytesMut;
use hickory_proto::op::Message;
use hickory_proto::rr::rdata::opt::EdnsCode;
use quinn::{Chunk, ConnectionError, ReadError, RecvStream, SendStream, VarInt, WriteError};
use resolab_record::Failure;
use resolab_transport::client::{
    MeasuredFailure, QuicClient, QuicConnection, SetupLog, StreamGuard, quic_failure,
};
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Poll, ready};
use std::time::Duration;

const REQUEST_CANCELLED: VarInt = VarInt::from_u32(doq_error::REQUEST_CANCELLED);
/// The id of every message (RFC 9250 section 4.2.1).
const DOQ_ID: u16 = 0;
/// The time a stream has to end after its response before being stopped.
const END_WITHIN: Duration = Duration::from_secs(5);

/// One open DoQ connection.
pub struct DoqSession {
    /// The QUIC connection carrying the queries.
    pub quic: Arc<QuicConnection>,
    /// The bytes before each query; empty when the connection carries queries only.
    prefix: &'static [u8],
    /// The error code of an orderly close.
    close_code: u32,
}

/// Opens a connection for queries only.
pub async fn open(
    resolver: SocketAddr,
    quic: &QuicClient,
    log: &Arc<SetupLog>,
) -> Result<DoqSession, MeasuredFailure> {
    let quic = quic.connect(resolver, Arc::clone(log)).await?;
    Ok(DoqSession::new(Arc::new(quic)))
}

impl DoqSession {
    /// Uses a QUIC connection opened by the caller, for queries only.
    pub fn new(quic: Arc<QuicConnection>) -> Self {
        Self::beside_others(quic, b"", doq_error::NO_ERROR)
    }

    /// Uses a QUIC connection opened by the caller, beside streams of another protocol. The prefix
    /// distinguishes queries from other streams; an orderly close has the other protocol's code.
    pub fn beside_others(
        quic: Arc<QuicConnection>,
        prefix: &'static [u8],
        close_code: u32,
    ) -> Self {
        Self {
            quic,
            prefix,
            close_code,
        }
    }

    /// Closes the connection.
    pub fn close(&self) {
        self.quic.close(self.close_code);
    }

    /// Sends a query and waits for the response. Sends the query again on the same connection when
    /// it went as rejected early data (RFC 9250 section 4.5).
    pub async fn exchange(
        &self,
        query: &[u8],
        log: &ExchangeLog,
    ) -> Result<Vec<u8>, MeasuredFailure> {
        let framed = [self.prefix, &frame(query)].concat();
        log.attempt(query);
        let mut result = self.try_exchange(&framed).await;
        if matches!(result, Err(StreamError::EarlyDataRejected)) {
            log.attempt(query);
            result = self.try_exchange(&framed).await;
        }
        let (answer, stream) = result.map_err(|error| self.failure_of(&error))?;
        log.complete(self.quic.log.last_arrival.wall_ns());
        stream.read_end().await;
        Ok(answer)
    }

    /// Sends a message with several questions, and takes responses from its stream until all
    /// questions are answered.
    pub(crate) async fn gather(
        &self,
        query: &[u8],
        batch: &QueryBatch,
    ) -> Result<(), MeasuredFailure> {
        let framed = [self.prefix, &frame(query)].concat();
        batch.attempt(query);
        let mut result = self.try_gather(&framed, batch).await;
        if matches!(result, Err(StreamError::EarlyDataRejected)) {
            batch.attempt(query);
            result = self.try_gather(&framed, batch).await;
        }
        result.map_err(|error| self.failure_of(&error))?
    }

    /// Returns the failure of the stream (outer), or of a response's contents (inner).
    async fn try_gather(
        &self,
        framed: &[u8],
        batch: &QueryBatch,
    ) -> Result<Result<(), MeasuredFailure>, StreamError> {
        let mut stream = self.send(framed).await?;
        let mut buffer = BytesMut::with_capacity(1024);
        loop {
            let Some(chunk) = stream.next().await? else {
                return Err(StreamError::Incomplete);
            };
            buffer.extend_from_slice(&chunk.bytes);
            while let Some(message) = take_message(&mut buffer) {
                match batch.take_expected(DOQ_ID, &message) {
                    Ok(false) => (),
                    Ok(true) => {
                        stream.read_end().await;
                        return Ok(Ok(()));
                    }
                    Err(failure) => return Ok(Err(failure)),
                }
            }
        }
    }

    /// Returns the response and its stream, possibly not yet ended.
    async fn try_exchange(&self, framed: &[u8]) -> Result<(Vec<u8>, QueryStream), StreamError> {
        let mut stream = self.send(framed).await?;
        let mut buffer = BytesMut::with_capacity(1024);
        loop {
            let Some(chunk) = stream.next().await? else {
                return Err(StreamError::Incomplete);
            };
            buffer.extend_from_slice(&chunk.bytes);
            if let Some(message) = take_message(&mut buffer) {
                if !buffer.is_empty() {
                    return Err(StreamError::MoreThanOne);
                }
                return Ok((message, stream));
            }
        }
    }

    async fn send(&self, framed: &[u8]) -> Result<QueryStream, StreamError> {
        let (send, receive) = self.quic.connection.open_bi().await?;
        let mut stream = QueryStream {
            send,
            receive,
            is_done: false,
            beside: self.quic.stream_guard(),
        };
        stream.send.write_all(framed).await?;
        // Fails only on a stream that was reset, which reading it reports.
        let _ = stream.send.finish();
        Ok(stream)
    }

    /// Refuses a response with an edns-tcp-keepalive option, and ends the connection. The server
    /// must not send the option (RFC 9250 sections 4.3.3 and 5.5.2).
    pub fn check(&self, response: &Message) -> Result<(), MeasuredFailure> {
        let edns = response.edns.as_ref();
        if edns.is_none_or(|edns| edns.option(EdnsCode::Keepalive).is_none()) {
            return Ok(());
        }
        self.quic.close(doq_error::PROTOCOL_ERROR);
        let detail = "the response has an edns-tcp-keepalive option, which DoQ forbids";
        Err(MeasuredFailure::new(Failure::QueryMalformed, detail))
    }

    fn failure_of(&self, error: &StreamError) -> MeasuredFailure {
        let detail = match error {
            StreamError::Connection(error) => return quic_failure(error, &self.quic.log),
            StreamError::EarlyDataRejected => "early data was rejected twice".to_owned(),
            StreamError::Refused(code) => format!("the resolver ended the stream with code {code}"),
            StreamError::Incomplete => "the stream ended before the response".to_owned(),
            StreamError::MoreThanOne => {
                let detail = "the stream has more than one response";
                return MeasuredFailure::new(Failure::QueryMalformed, detail);
            }
        };
        MeasuredFailure::new(Failure::QueryConnectionClosed, detail)
    }
}

/// A query's stream, cancelled when dropped early (RFC 9250 section 4.3.1).
struct QueryStream {
    send: SendStream,
    receive: RecvStream,
    is_done: bool,
    /// The connection's guard, dropped after both halves.
    beside: StreamGuard,
}

impl QueryStream {
    async fn next(&mut self) -> Result<Option<Chunk>, ReadError> {
        poll_fn(|cx| {
            loop {
                let chunk = pin!(self.receive.read_chunk(usize::MAX, true));
                if let Poll::Ready(chunk) = chunk.poll(cx) {
                    return Poll::Ready(chunk);
                }
                ready!(self.beside.poll_disturbed(cx));
            }
        })
        .await
    }

    /// Reads the stream's end behind the response. Dropping a stream before its end stops the
    /// stream (STOP_SENDING): one more packet for every query, telling the server that no client
    /// wanted the response. A later end is no part of the exchange, so a separate task waits for
    /// it.
    async fn read_end(mut self) {
        let has_ended = {
            let mut next = pin!(self.next());
            poll_fn(|cx| Poll::Ready(next.as_mut().poll(cx).is_ready())).await
        };
        if has_ended {
            self.leave();
        } else {
            tokio::spawn(async move {
                if tokio::time::timeout(END_WITHIN, self.next()).await.is_ok() {
                    self.leave();
                }
            });
        }
    }

    /// Marks the stream as done, so dropping cancels no query.
    fn leave(&mut self) {
        self.is_done = true;
    }
}

impl Drop for QueryStream {
    fn drop(&mut self) {
        if !self.is_done {
            let _ = self.receive.stop(REQUEST_CANCELLED);
            let _ = self.send.reset(REQUEST_CANCELLED);
        }
    }
}

enum StreamError {
    Connection(ConnectionError),
    EarlyDataRejected,
    Refused(VarInt),
    Incomplete,
    /// A violation of RFC 9250 section 4.2. Only bytes arriving with the response are checked: the
    /// exchange does not wait for the stream's end.
    MoreThanOne,
}

impl From<ConnectionError> for StreamError {
    fn from(error: ConnectionError) -> Self {
        Self::Connection(error)
    }
}

impl From<WriteError> for StreamError {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::ConnectionLost(error) => Self::Connection(error),
            WriteError::ZeroRttRejected => Self::EarlyDataRejected,
            WriteError::Stopped(code) => Self::Refused(code),
            WriteError::ClosedStream => Self::Incomplete,
        }
    }
}

impl From<ReadError> for StreamError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::ConnectionLost(error) => Self::Connection(error),
            ReadError::ZeroRttRejected => Self::EarlyDataRejected,
            ReadError::Reset(code) => Self::Refused(code),
            ReadError::ClosedStream | ReadError::IllegalOrderedRead => Self::Incomplete,
        }
    }
}
