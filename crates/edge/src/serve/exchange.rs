//! An HTTP exchange from the request to the last byte of the reply, for every version.
//!
//! For: waiting the server's time and writing bodies at the client's pace. Not for: framing.

use super::doq::frame;
use super::http_record::PendingRecord;
use crate::connections::OpenConnection;
use crate::http::reply;
use crate::http_message::{HttpReply, HttpRequest, ReplyFate};
use crate::partial::PartialAnswers;
use crate::state::EdgeState;
use crate::web::EarlyMessages;
use bytes::Bytes;
use http::Response;
use resolab_transport::clock::monotonic_ns;
use resolab_transport::exact_timer::wait_until;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// The largest piece of a body passed on at once, in bytes.
const PIECE_BYTES: usize = 64 * 1_024;

/// The destination of a reply; `None` means a lost client.
pub trait ReplySink: Send {
    /// Sends the head; `end` without a body.
    fn head(&mut self, head: Response<()>, end: bool) -> impl Future<Output = Option<()>> + Send;

    /// Waits until the client takes bytes, and returns their number, at most `wanted_bytes`.
    fn wait_for_capacity(
        &mut self,
        wanted_bytes: usize,
    ) -> impl Future<Output = Option<usize>> + Send;

    /// Sends bytes of the body; `end` with the last bytes.
    fn send_piece(&mut self, bytes: Bytes, end: bool) -> impl Future<Output = Option<()>> + Send;
}

/// A decided reply before its due time.
pub struct DecidedReply {
    reply: HttpReply,
    pending: PendingRecord,
    start_ns: u64,
}

/// Decides on the reply. A query's own delay is always waited for, because the query's record
/// states the outcome.
pub async fn decide(state: &Arc<EdgeState>, request: &HttpRequest<'_>) -> DecidedReply {
    let mut reply = reply(state, request).await;
    let pending = PendingRecord::new(state, request, &mut reply);
    DecidedReply {
        reply,
        pending,
        start_ns: monotonic_ns(),
    }
}

impl DecidedReply {
    /// Returns the messages ahead of the reply, if any.
    pub fn early_messages(&self) -> Option<&EarlyMessages> {
        self.reply.early_messages.as_deref()
    }
}

/// Waits the server's time before the reply. `None` when the client has given up (`given_up`), or
/// when there is never a reply.
pub async fn hold(
    decided: DecidedReply,
    connection: &OpenConnection,
    given_up: impl Future<Output = ()> + Send,
) -> Option<(HttpReply, PendingRecord)> {
    let DecidedReply {
        reply,
        mut pending,
        start_ns,
    } = decided;
    if reply.fate == ReplyFate::Withheld {
        drop(pending);
        let patience = connection.limits.idle_timeout;
        let _ = timeout(patience, given_up).await;
        return None;
    }
    if let Some(wait) = reply.wait.filter(|wait| !wait.is_zero()) {
        tokio::select! {
            () = wait_until(start_ns + wait.as_nanos() as u64) => {}
            // A flood of requests taken back must not pile up.
            () = given_up => return None,
        }
        pending.note_wait(monotonic_ns() - start_ns);
    }
    if reply.fate == ReplyFate::Reset {
        return None;
    }
    Some((reply, pending))
}

/// Writes the reply. `None` when the client broke off, or took no bytes for the idle timeout. The
/// record has the reason.
pub async fn write(
    mut pending: PendingRecord,
    reply: HttpReply,
    sink: &mut impl ReplySink,
) -> Option<()> {
    let patience = pending.patience();
    if let Some(answers) = reply.parts {
        return write_parts(&pending, reply.head, *answers, sink).await;
    }
    let mut body = reply.body;
    wait_within(patience, sink.head(reply.head, body.is_empty())).await?;
    while !body.is_empty() {
        let wanted = body.len().min(PIECE_BYTES as u64) as usize;
        let room = wait_within(patience, sink.wait_for_capacity(wanted)).await?;
        if room == 0 {
            continue;
        }
        let piece = body.next(room.min(wanted));
        pending.first_body_byte();
        wait_within(patience, sink.send_piece(piece, body.is_empty())).await?;
    }
    pending.finish();
    Some(())
}

/// Writes partial responses, each at its time. With a withheld response, the reply stays open until
/// the client leaves or the idle timeout passes.
async fn write_parts(
    pending: &PendingRecord,
    head: Response<()>,
    mut answers: PartialAnswers,
    sink: &mut impl ReplySink,
) -> Option<()> {
    let patience = pending.patience();
    wait_within(patience, sink.head(head, false)).await?;
    while let Some(responses) = answers.next().await {
        let count = responses.len();
        for (place, response) in responses.into_iter().enumerate() {
            let is_last = answers.is_over() && place + 1 == count;
            let piece = Bytes::from(frame(&response.message));
            let sent = write_piece(sink, piece, is_last, patience).await;
            answers.write_notes(response.notes, sent.is_some());
            sent?;
        }
    }
    if !answers.is_over() {
        tokio::time::sleep(patience).await;
        return None;
    }
    Some(())
}

async fn write_piece(
    sink: &mut impl ReplySink,
    mut piece: Bytes,
    is_last: bool,
    patience: Duration,
) -> Option<()> {
    while !piece.is_empty() {
        let room = wait_within(patience, sink.wait_for_capacity(piece.len())).await?;
        let part = piece.split_to(room.min(piece.len()));
        if !part.is_empty() {
            let ends = is_last && piece.is_empty();
            wait_within(patience, sink.send_piece(part, ends)).await?;
        }
    }
    Some(())
}

async fn wait_within<T>(patience: Duration, step: impl Future<Output = Option<T>>) -> Option<T> {
    timeout(patience, step).await.ok().flatten()
}
