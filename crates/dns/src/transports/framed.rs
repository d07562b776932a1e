//! DNS messages on a byte stream, each behind its length in two bytes (RFC 1035 section 4.2.2, RFC
//! 7766). Queries are pipelined. Responses may come in any order and are matched by id. Not for:
//! opening the stream.

use crate::exchange::ExchangeLog;
use crate::message::{id_of, random_id};
use crate::transports::batch::QueryBatch;
use bytes::{Buf, BytesMut};
use resolab_record::Failure;
use resolab_transport::client::{MeasuredFailure, SetupLog, stream_failure};
use resolab_transport::receive_stamp::LastArrival;
use std::collections::HashMap;
use std::io;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

const LENGTH_BYTES: usize = 2;
/// The maximum number of queries written before a flush.
const FRAMES_AT_ONCE_COUNT: usize = 64;
/// The time allowed for reading the last answers after the resolver closed.
const LAST_ANSWERS_WITHIN: Duration = Duration::from_millis(200);

type PendingResponses = Arc<Mutex<HashMap<u16, ResponseWaiter>>>;
type ResponseResult = Result<StampedResponse, MeasuredFailure>;

/// The receiver of the responses with an id.
enum ResponseWaiter {
    /// A receiver of one response.
    One(oneshot::Sender<ResponseResult>),
    /// A receiver of several responses, until it has enough.
    Several(mpsc::UnboundedSender<ResponseResult>),
}

impl ResponseWaiter {
    fn has_given_up(&self) -> bool {
        match self {
            Self::One(sender) => sender.is_closed(),
            Self::Several(sender) => sender.is_closed(),
        }
    }

    /// Delivers a response; the receiver may have given up.
    fn hand(self, received: ResponseResult) {
        match self {
            Self::One(sender) => drop(sender.send(received)),
            Self::Several(sender) => drop(sender.send(received)),
        }
    }
}

/// A response, with the stamp of the stream's last arrival when the response was complete.
struct StampedResponse {
    message: Vec<u8>,
    last_arrival_wall_ns: Option<i64>,
}

/// One open stream; exchanges may overlap.
pub struct FramedConnection {
    frames: mpsc::UnboundedSender<Vec<u8>>,
    pending: PendingResponses,
    driver: JoinHandle<()>,
}

/// Puts the length in front of a message, so both are one write (RFC 7766 section 8).
pub fn frame(message: &[u8]) -> Vec<u8> {
    let mut framed = Vec::with_capacity(LENGTH_BYTES + message.len());
    framed.extend((message.len() as u16).to_be_bytes());
    framed.extend(message);
    framed
}

/// Takes one whole message off the front; `None` when incomplete.
pub fn take_message(buffer: &mut BytesMut) -> Option<Vec<u8>> {
    let length: [u8; LENGTH_BYTES] = buffer.get(..LENGTH_BYTES)?.try_into().ok()?;
    let end = LENGTH_BYTES + usize::from(u16::from_be_bytes(length));
    let message = buffer.get(LENGTH_BYTES..end)?.to_vec();
    buffer.advance(end);
    Some(message)
}

impl FramedConnection {
    /// Takes over an open stream. Each query is a separate write. The stream keeps writes until a
    /// flush, so queries queued at the same time leave together. In separate segments they would
    /// fill the congestion window, because the window counts segments.
    pub fn new<S>(stream: S, log: Arc<SetupLog>) -> Self
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (frames, queue) = mpsc::unbounded_channel();
        let pending = PendingResponses::default();
        let driver = tokio::spawn(drive(stream, queue, Arc::clone(&pending), log));
        Self {
            frames,
            pending,
            driver,
        }
    }

    /// Returns an id not used by any outstanding query.
    pub fn fresh_id(&self) -> u16 {
        let pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let id = random_id();
            if !pending.contains_key(&id) {
                return id;
            }
        }
    }

    /// Sends a query and waits for the response with its id.
    pub async fn exchange(
        &self,
        query: &[u8],
        log: &ExchangeLog,
    ) -> Result<Vec<u8>, MeasuredFailure> {
        let (sender, answer) = oneshot::channel();
        self.expect(id_of(query), ResponseWaiter::One(sender));
        let framed = frame(query);
        log.attempt(query);
        self.frames.send(framed).map_err(|_| closed_failure())?;
        let answer = answer.await.map_err(|_| closed_failure())??;
        log.complete(answer.last_arrival_wall_ns);
        Ok(answer.message)
    }

    /// Sends a message with several questions, and takes responses with its id until all questions
    /// are answered.
    pub async fn gather(&self, query: &[u8], batch: &QueryBatch) -> Result<(), MeasuredFailure> {
        let (sender, mut answers) = mpsc::unbounded_channel();
        self.expect(id_of(query), ResponseWaiter::Several(sender));
        let framed = frame(query);
        batch.attempt(query);
        self.frames.send(framed).map_err(|_| closed_failure())?;
        loop {
            let answer = answers.recv().await.ok_or_else(closed_failure)??;
            if batch.take_expected(id_of(query), &answer.message)? {
                return Ok(());
            }
        }
    }

    fn expect(&self, id: u16, waiting: ResponseWaiter) {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever gave up has no use for its late answer; its id can be had again.
        pending.retain(|_, waiting| !waiting.has_given_up());
        pending.insert(id, waiting);
    }

    /// Returns true when the stream takes no more queries.
    pub fn is_closed(&self) -> bool {
        self.frames.is_closed()
    }

    /// Closes the stream at once; waiting exchanges fail.
    pub fn abort(&self) {
        self.driver.abort();
        self.pending
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }

    /// Shuts the stream down, waiting `at_most` this time. Frames not written by then are lost.
    pub async fn close(mut self, at_most: Duration) {
        drop(self.frames);
        let driver = &mut self.driver;
        if tokio::time::timeout(at_most, driver).await.is_err() {
            self.driver.abort();
            let _ = self.driver.await;
        }
    }
}

fn closed_failure() -> MeasuredFailure {
    MeasuredFailure::new(Failure::QueryConnectionClosed, "it was closed")
}

/// Writes queries and delivers responses until either side ends; then fails the waiting exchanges.
async fn drive<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    mut queue: mpsc::UnboundedReceiver<Vec<u8>>,
    pending: PendingResponses,
    log: Arc<SetupLog>,
) {
    let result = transfer(&mut stream, &mut queue, &pending, &log.last_arrival).await;
    queue.close();
    let failure = match &result {
        Ok(()) => MeasuredFailure::new(Failure::QueryConnectionClosed, "the resolver closed it"),
        Err(error) => stream_failure(error, &log),
    };
    for (_, waiting) in pending
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .drain()
    {
        waiting.hand(Err(failure.clone()));
    }
    let _ = stream.shutdown().await;
}

/// Moves data in both directions. Writing never blocks reading: with both directions full, each
/// side would wait for the other to read.
async fn transfer<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    queue: &mut mpsc::UnboundedReceiver<Vec<u8>>,
    pending: &PendingResponses,
    last_arrival: &LastArrival,
) -> io::Result<()> {
    let (reader, writer) = tokio::io::split(stream);
    let mut reading = pin!(read_answers(reader, pending, last_arrival));
    let written = tokio::select! {
        // A query that is there does not wait for a look at what may have come.
        biased;
        written = write_queries(writer, queue) => written,
        ended = &mut reading => return ended,
    };
    if written.is_err() {
        // It may have answered others before it closed.
        queue.close();
        let _ = tokio::time::timeout(LAST_ANSWERS_WITHIN, reading).await;
    }
    written
}

async fn write_queries(
    mut writer: impl AsyncWrite + Unpin,
    queue: &mut mpsc::UnboundedReceiver<Vec<u8>>,
) -> io::Result<()> {
    let mut frames = Vec::new();
    while queue.recv_many(&mut frames, FRAMES_AT_ONCE_COUNT).await > 0 {
        for frame in frames.drain(..) {
            writer.write_all(&frame).await?;
        }
        writer.flush().await?;
    }
    Ok(())
}

async fn read_answers(
    mut reader: impl AsyncRead + Unpin,
    pending: &PendingResponses,
    last_arrival: &LastArrival,
) -> io::Result<()> {
    let mut buffer = BytesMut::with_capacity(2048);
    while reader.read_buf(&mut buffer).await? > 0 {
        while let Some(message) = take_message(&mut buffer) {
            let id = id_of(&message);
            let answer = StampedResponse {
                message,
                last_arrival_wall_ns: last_arrival.wall_ns(),
            };
            let mut pending = pending.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(ResponseWaiter::Several(sender)) = pending.get(&id) {
                let _ = sender.send(Ok(answer));
            } else if let Some(waiting) = pending.remove(&id) {
                waiting.hand(Ok(answer));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::future::join_all;
    use std::pin::Pin;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::task::{Context, Poll};
    use tokio::io::{DuplexStream, ReadBuf};

    const BUFFER_BYTES: usize = 4096;

    fn connection() -> (FramedConnection, DuplexStream) {
        let (near, far) = tokio::io::duplex(BUFFER_BYTES);
        (FramedConnection::new(near, Arc::default()), far)
    }

    async fn read_message(stream: &mut DuplexStream) -> Vec<u8> {
        let length = stream.read_u16().await.unwrap();
        let mut message = vec![0; usize::from(length)];
        stream.read_exact(&mut message).await.unwrap();
        message
    }

    #[tokio::test]
    async fn answers_in_another_order_find_their_queries() {
        let (connection, mut far) = connection();
        let logs = [ExchangeLog::default(), ExchangeLog::default()];
        let server = async {
            let first = read_message(&mut far).await;
            let second = read_message(&mut far).await;
            let both = [frame(&second), frame(&first)].concat();
            // In pieces that respect no border.
            for piece in both.chunks(3) {
                far.write_all(piece).await.unwrap();
                tokio::task::yield_now().await;
            }
        };
        let (first, second, ()) = tokio::join!(
            connection.exchange(b"\x00\x01one", &logs[0]),
            connection.exchange(b"\x00\x02other", &logs[1]),
            server,
        );
        assert_eq!(
            (first.unwrap(), second.unwrap()),
            (b"\0\x01one".into(), b"\0\x02other".into())
        );
        assert!(logs[0].query_exchange.end_ns() >= logs[0].query_exchange.start_ns());
        assert_eq!(logs[0].attempt_count(), 1);
    }

    #[tokio::test]
    async fn what_is_given_up_on_at_a_close_ends_with_it() {
        let (connection, mut far) = connection();
        let short = Duration::from_millis(50);
        // Written as far as there is room.
        let query = vec![7; 2 * BUFFER_BYTES];
        let log = ExchangeLog::default();
        let asked = tokio::time::timeout(short, connection.exchange(&query, &log));
        assert!(asked.await.is_err());
        connection.close(short).await;
        let mut written = Vec::new();
        let reading = far.read_to_end(&mut written);
        let ended = tokio::time::timeout(Duration::from_secs(10), reading).await;
        assert!(ended.unwrap().unwrap() <= BUFFER_BYTES);
    }

    #[derive(Default)]
    struct WriteCounts {
        writes: AtomicU32,
        flushes: AtomicU32,
    }

    /// A stream counting its writes and flushes.
    struct CountedStream(DuplexStream, Arc<WriteCounts>);

    impl AsyncRead for CountedStream {
        fn poll_read(
            self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            Pin::new(&mut self.get_mut().0).poll_read(cx, buffer)
        }
    }

    impl AsyncWrite for CountedStream {
        fn poll_write(
            self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            self.1.writes.fetch_add(1, Ordering::Relaxed);
            Pin::new(&mut self.get_mut().0).poll_write(cx, bytes)
        }

        fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            self.1.flushes.fetch_add(1, Ordering::Relaxed);
            Pin::new(&mut self.get_mut().0).poll_flush(cx)
        }

        fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.get_mut().0).poll_shutdown(cx)
        }
    }

    #[tokio::test]
    async fn queries_that_are_there_are_writes_of_their_own_before_one_flush() {
        let (near, mut far) = tokio::io::duplex(BUFFER_BYTES);
        let counts = Arc::new(WriteCounts::default());
        let stream = CountedStream(near, Arc::clone(&counts));
        let connection = FramedConnection::new(stream, Arc::default());
        let exchanges = (0..20_u8).map(|id| {
            let connection = &connection;
            async move {
                connection
                    .exchange(&[0, id, b'q'], &ExchangeLog::default())
                    .await
            }
        });
        let serve = async {
            for _ in 0..20 {
                let query = read_message(&mut far).await;
                far.write_all(&frame(&query)).await.unwrap();
            }
        };
        let (answers, ()) = tokio::join!(join_all(exchanges), serve);
        assert!(answers.iter().all(Result::is_ok));
        assert_eq!(counts.writes.load(Ordering::Relaxed), 20);
        assert_eq!(counts.flushes.load(Ordering::Relaxed), 1);
    }

    /// Serves queries in turn: reads the next query only after writing the previous answer.
    async fn answer_in_turn(mut far: DuplexStream, count: usize) {
        for _ in 0..count {
            let mut answer = read_message(&mut far).await;
            answer.resize(2 * BUFFER_BYTES, 0);
            far.write_all(&frame(&answer)).await.unwrap();
        }
    }

    #[tokio::test]
    async fn more_queries_and_answers_than_buffers_hold_do_not_block_each_other() {
        const COUNT: usize = 20;
        let (connection, far) = connection();
        let connection = Arc::new(connection);
        let mut asking = tokio::task::JoinSet::new();
        for id in 0..COUNT {
            let connection = Arc::clone(&connection);
            asking.spawn(async move {
                let mut query = vec![0; BUFFER_BYTES / 2];
                query[1] = id as u8;
                connection.exchange(&query, &ExchangeLog::default()).await
            });
        }
        let all = async { tokio::join!(answer_in_turn(far, COUNT), asking.join_all()).1 };
        let answers = tokio::time::timeout(Duration::from_secs(5), all).await;
        for answer in answers.expect("both sides wait for the other to read") {
            assert_eq!(answer.unwrap().len(), 2 * BUFFER_BYTES);
        }
    }

    #[tokio::test]
    async fn an_abort_fails_what_waits() {
        let (connection, mut far) = connection();
        let log = ExchangeLog::default();
        let abort = async {
            read_message(&mut far).await;
            connection.abort();
        };
        let (answer, ()) = tokio::join!(connection.exchange(b"\x00\x01x", &log), abort);
        assert_eq!(answer.unwrap_err().failure, Failure::QueryConnectionClosed);
        assert!(far.read_u8().await.is_err());
    }

    #[tokio::test]
    async fn a_close_that_takes_too_long_ends_the_stream() {
        // Full, and nobody reads: what was to be written never is.
        let (connection, mut far) = connection();
        let unread = vec![0; 3 * BUFFER_BYTES];
        connection.frames.send(frame(&unread)).unwrap();
        tokio::task::yield_now().await;
        connection.close(Duration::from_millis(20)).await;
        let mut left = Vec::new();
        // It would go on for ever, and bring all, if the stream were still there.
        far.read_to_end(&mut left).await.unwrap();
        assert_eq!(left.len(), BUFFER_BYTES);
    }

    #[tokio::test]
    async fn answers_that_came_before_the_end_count() {
        let (connection, mut far) = connection();
        let log = ExchangeLog::default();
        let server = async {
            let query = read_message(&mut far).await;
            far.write_all(&frame(&query)).await.unwrap();
            drop(far);
            // The write of this one fails before the answer to the first is read.
            connection.frames.send(frame(b"\x00\x02y")).unwrap();
        };
        let (answer, ()) = tokio::join!(connection.exchange(b"\x00\x01x", &log), server);
        assert_eq!(answer.unwrap(), b"\x00\x01x");
    }

    #[tokio::test]
    async fn a_closed_stream_fails_what_waits_and_what_comes() {
        let (connection, mut far) = connection();
        let log = ExchangeLog::default();
        let server = async {
            read_message(&mut far).await;
            drop(far);
        };
        let (answer, ()) = tokio::join!(connection.exchange(b"\x00\x01x", &log), server);
        assert_eq!(answer.unwrap_err().failure, Failure::QueryConnectionClosed);
        assert!(connection.is_closed());
        let answer = connection.exchange(b"\x00\x01x", &log).await;
        assert_eq!(answer.unwrap_err().failure, Failure::QueryConnectionClosed);
    }
}
