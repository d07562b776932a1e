//! DNS over a byte stream, each message behind its length (RFC 1035 section 4.2.2): DoTCP and DoT.
//! Answers leave at their due times, in any order (RFC 7766 section 6.2.1.1). Answers due together
//! leave in one write.

use crate::connections::OpenConnection;
use crate::connections::ending::ConnectionEnding;
use crate::partial::{PartialAnswers, PartialResponse};
use crate::state::{EdgeState, QueryArrival, QueryRecordDraft, QueryReply};
use bytes::{Buf, BytesMut};
use resolab_record::{DnsTransport, Failure};
use resolab_transport::clock::monotonic_ns;
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout};

/// The maximum number of waiting queries on a connection; at the maximum, reading pauses.
const PENDING_COUNT_MAX: usize = 128;
/// The initial read buffer, in bytes; a longer message makes the buffer grow to its length.
const READ_BYTES: usize = 16_384;
/// The maximum of answers written at once, in bytes.
const WRITE_BYTES_MAX: usize = 65_536;

/// Serves a connection until the client, the idle timeout or a command ends the connection.
pub async fn serve<S>(
    state: &Arc<EdgeState>,
    connection: &Arc<OpenConnection>,
    mut stream: S,
    transport: DnsTransport,
) -> ConnectionEnding
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut queries = ConnectionQueries {
        state,
        connection,
        transport,
        received: BytesMut::with_capacity(READ_BYTES),
        message: Vec::new(),
        framed: Vec::new(),
        unsent: Vec::new(),
        pending: JoinSet::new(),
        overdue_at: None,
    };
    let ending = tokio::select! {
        () = connection.close_wanted() => Ok(ConnectionEnding::from_note("closed by command")),
        ending = queries.exchange(&mut stream) => ending,
    };
    queries.abandon();
    // The peer may be gone already; what matters was said in `ending`.
    let _ = stream.shutdown().await;
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "of the system's errors those with a meaning here are named"
    )]
    ending.unwrap_or_else(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            ConnectionEnding::from_note("ended without close_notify").ended_by_client(true)
        }
        io::ErrorKind::TimedOut => {
            ConnectionEnding::from_failure(Failure::Other, "the client reads no answers")
        }
        _ => ConnectionEnding::from_failure(Failure::Other, error.to_string()),
    })
}

/// The result of a delayed query at its due time.
enum DelayedAnswer {
    /// The response, if there is one.
    Reply(QueryReply),
    /// The known answers of a message with several questions, and the remaining answers.
    Parts(Vec<PartialResponse>, Box<PartialAnswers>),
    /// The query has no further answers.
    Over,
}

/// The queries of one connection.
struct ConnectionQueries<'a> {
    state: &'a Arc<EdgeState>,
    connection: &'a Arc<OpenConnection>,
    transport: DnsTransport,
    received: BytesMut,
    /// The buffer of the current answer.
    message: Vec<u8>,
    /// The answers to be written, each behind its length.
    framed: Vec<u8>,
    /// The notes for the records of the answers in `framed`.
    unsent: Vec<QueryRecordDraft>,
    /// The queries with answers not yet due.
    pending: JoinSet<DelayedAnswer>,
    /// The deadline for the rest of an incomplete message.
    overdue_at: Option<Instant>,
}

impl ConnectionQueries<'_> {
    async fn exchange<S>(&mut self, stream: &mut S) -> io::Result<ConnectionEnding>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        loop {
            let (may_read, is_waiting) = (
                self.pending.len() < PENDING_COUNT_MAX,
                !self.pending.is_empty(),
            );
            tokio::select! {
                read = stream.read_buf(&mut self.received), if may_read => {
                    if read? == 0 {
                        return self.finish(stream).await;
                    }
                    self.answer_received(stream).await?;
                }
                finished = self.pending.join_next(), if is_waiting => {
                    if let Some(Ok(due)) = finished {
                        self.push_due(due);
                    }
                    self.push_finished();
                    self.write(stream).await?;
                    self.answer_received(stream).await?;
                }
                () = sleep(self.connection.limits.idle_timeout), if !is_waiting => {
                    return Ok(ConnectionEnding::from_note("idle"));
                }
                () = wait_until(self.overdue_at) => {
                    self.connection.tallies.slow_peers.add();
                    return Ok(ConnectionEnding::from_note("a query did not become complete in time"));
                }
            }
        }
    }

    /// Sends the remaining answers after the client's end of sending (RFC 7766 section 6.2.3).
    async fn finish<S: AsyncWrite + Unpin>(
        &mut self,
        stream: &mut S,
    ) -> io::Result<ConnectionEnding> {
        if !self.received.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        while let Some(due) = self.pending.join_next().await {
            if let Ok(due) = due {
                self.push_due(due);
            }
            self.write(stream).await?;
        }
        Ok(ConnectionEnding::orderly())
    }

    /// Answers every whole message received, and writes the due answers.
    async fn answer_received<S: AsyncWrite + Unpin>(&mut self, stream: &mut S) -> io::Result<()> {
        let received_ns = monotonic_ns();
        while self.pending.len() < PENDING_COUNT_MAX
            && let Some(length) = message_bytes(&self.received)?
        {
            self.overdue_at = None;
            self.received.advance(2);
            let message = self.received.split_to(length);
            self.answer_one(&message, received_ns);
            if self.framed.len() >= WRITE_BYTES_MAX {
                self.write(stream).await?;
            }
        }
        if self.received.is_empty() || message_bytes(&self.received)?.is_some() {
            self.overdue_at = None;
        } else {
            let patience = self.connection.limits.message_timeout;
            self.overdue_at
                .get_or_insert_with(|| Instant::now() + patience);
        }
        self.write(stream).await
    }

    fn answer_one(&mut self, message: &[u8], received_ns: u64) {
        let arrival = arrival(self.connection, self.transport, message, received_ns);
        if let Some(answers) = PartialAnswers::begin(self.state, Some(self.connection), &arrival) {
            self.await_parts(Box::new(answers));
            return;
        }
        let plan = self.state.plan(&arrival, &mut self.message);
        if plan.is_unanswered() {
            self.state.write_query(plan.note, false);
        } else if plan.is_due() {
            push_framed(&mut self.framed, &self.message);
            self.unsent.push(plan.note);
        } else {
            let (state, connection) = (Arc::clone(self.state), Arc::clone(self.connection));
            let (query, answer) = (message.to_vec(), std::mem::take(&mut self.message));
            let transport = self.transport;
            self.pending.spawn(async move {
                let arrival = self::arrival(&connection, transport, &query, received_ns);
                DelayedAnswer::Reply(state.finish(&arrival, plan, answer).await)
            });
        }
    }

    fn await_parts(&mut self, mut answers: Box<PartialAnswers>) {
        self.pending.spawn(async move {
            match answers.next().await {
                Some(responses) => DelayedAnswer::Parts(responses, answers),
                None => DelayedAnswer::Over,
            }
        });
    }

    fn push_due(&mut self, due: DelayedAnswer) {
        match due {
            DelayedAnswer::Reply(reply) => self.push_reply(reply),
            DelayedAnswer::Parts(responses, answers) => {
                for response in responses {
                    push_framed(&mut self.framed, &response.message);
                    self.unsent.extend(response.notes);
                }
                self.await_parts(answers);
            }
            DelayedAnswer::Over => (),
        }
    }

    fn push_reply(&mut self, reply: QueryReply) {
        match reply.answer {
            Some(answer) => {
                push_framed(&mut self.framed, &answer.message);
                self.unsent.push(reply.note);
            }
            None => self.state.write_query(reply.note, false),
        }
    }

    fn push_finished(&mut self) {
        while let Some(due) = self.pending.try_join_next() {
            if let Ok(due) = due {
                self.push_due(due);
            }
        }
    }

    /// Writes the due answers, with a time limit for clients not reading.
    async fn write<S: AsyncWrite + Unpin>(&mut self, stream: &mut S) -> io::Result<()> {
        if self.framed.is_empty() {
            return Ok(());
        }
        let write = async {
            stream.write_all(&self.framed).await?;
            stream.flush().await
        };
        let written = timeout(self.connection.limits.idle_timeout, write)
            .await
            .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
        self.framed.clear();
        for note in self.unsent.drain(..) {
            self.state.write_query(note, written.is_ok());
        }
        written
    }

    /// Writes the records of the remaining queries after the end of the connection.
    fn abandon(&mut self) {
        for note in self.unsent.drain(..) {
            self.state.write_query(note, false);
        }
        let mut pending = std::mem::take(&mut self.pending);
        if pending.is_empty() {
            return;
        }
        let state = Arc::clone(self.state);
        tokio::spawn(async move {
            while let Some(due) = pending.join_next().await {
                match due {
                    Ok(DelayedAnswer::Reply(reply)) => state.write_query(reply.note, false),
                    Ok(DelayedAnswer::Parts(responses, answers)) => {
                        for response in responses {
                            answers.write_notes(response.notes, false);
                        }
                    }
                    Ok(DelayedAnswer::Over) | Err(_) => (),
                }
            }
        });
    }
}

/// Resolves at an instant, never without an instant.
async fn wait_until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}

fn arrival<'a>(
    connection: &'a OpenConnection,
    transport: DnsTransport,
    message: &'a [u8],
    received_ns: u64,
) -> QueryArrival<'a> {
    QueryArrival {
        message,
        transport,
        peer: connection.peer,
        connection: Some(connection),
        in_early_data: connection.is_in_early_data(),
        received_ns,
    }
}

/// Returns the length of the next message when the whole message is there, without the length
/// field.
fn message_bytes(received: &[u8]) -> io::Result<Option<usize>> {
    let Some(prefix) = received.first_chunk::<2>() else {
        return Ok(None);
    };
    let length = usize::from(u16::from_be_bytes(*prefix));
    if length == 0 {
        let error = io::Error::new(io::ErrorKind::InvalidData, "empty DNS message");
        return Err(error);
    }
    Ok((received.len() >= 2 + length).then_some(length))
}

fn push_framed(framed: &mut Vec<u8>, message: &[u8]) {
    framed.extend_from_slice(&(message.len() as u16).to_be_bytes());
    framed.extend_from_slice(message);
}
