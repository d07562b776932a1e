//! An HTTP exchange from the request to the last byte of the reply, for every version.
//!
//! For: waiting the server's time and writing bodies at the client's pace. Not for: framing.

use super::doq::framed;
use super::http_record::Pending;
use crate::connections::OpenConnection;
use crate::http::reply;
use crate::http_message::{Fate, HttpReply, HttpRequest};
use crate::partial::PartialAnswers;
use crate::web::Ahead;
use crate::world::World;
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
    fn room(&mut self, wanted_bytes: usize) -> impl Future<Output = Option<usize>> + Send;

    /// Sends bytes of the body; `end` with the last bytes.
    fn piece(&mut self, bytes: Bytes, end: bool) -> impl Future<Output = Option<()>> + Send;
}

/// A decided reply before its due time.
pub struct Decided {
    reply: HttpReply,
    pending: Pending,
    start_ns: u64,
}

/// Decides on the reply. A query's own delay is always waited for, because the query's record
/// states the outcome.
pub async fn decide(world: &Arc<World>, request: &HttpRequest<'_>) -> Decided {
    let mut reply = reply(world, request).await;
    let pending = Pending::new(world, request, &mut reply);
    Decided {
        reply,
        pending,
        start_ns: monotonic_ns(),
    }
}

impl Decided {
    /// Returns the messages ahead of the reply, if any.
    pub fn ahead(&self) -> Option<&Ahead> {
        self.reply.ahead.as_deref()
    }
}

/// Waits the server's time before the reply. `None` when the client has given up (`given_up`), or
/// when there is never a reply.
pub async fn hold(
    decided: Decided,
    connection: &OpenConnection,
    given_up: impl Future<Output = ()> + Send,
) -> Option<(HttpReply, Pending)> {
    let Decided {
        reply,
        mut pending,
        start_ns,
    } = decided;
    if reply.fate == Fate::Withheld {
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
        pending.waited(monotonic_ns() - start_ns);
    }
    if reply.fate == Fate::Reset {
        return None;
    }
    Some((reply, pending))
}

/// Writes the reply. `None` when the client broke off, or took no bytes for the idle timeout. The
/// record has the reason.
pub async fn write(
    mut pending: Pending,
    reply: HttpReply,
    sink: &mut impl ReplySink,
) -> Option<()> {
    let patience = pending.patience();
    if let Some(answers) = reply.parts {
        return write_parts(&pending, reply.head, *answers, sink).await;
    }
    let mut body = reply.body;
    within(patience, sink.head(reply.head, body.is_empty())).await?;
    while !body.is_empty() {
        let wanted = body.len().min(PIECE_BYTES as u64) as usize;
        let room = within(patience, sink.room(wanted)).await?;
        if room == 0 {
            continue;
        }
        let piece = body.next(room.min(wanted));
        pending.first_body_byte();
        within(patience, sink.piece(piece, body.is_empty())).await?;
    }
    pending.finish();
    Some(())
}

/// Writes partial responses, each at its time. With a withheld response, the reply stays open until
/// the client leaves or the idle timeout passes.
async fn write_parts(
    pending: &Pending,
    head: Response<()>,
    mut answers: PartialAnswers,
    sink: &mut impl ReplySink,
) -> Option<()> {
    let patience = pending.patience();
    within(patience, sink.head(head, false)).await?;
    while let Some(responses) = answers.next().await {
        let count = responses.len();
        for (place, response) in responses.into_iter().enumerate() {
            let is_last = answers.is_over() && place + 1 == count;
            let piece = Bytes::from(framed(&response.message));
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
        let room = within(patience, sink.room(piece.len())).await?;
        let part = piece.split_to(room.min(piece.len()));
        if !part.is_empty() {
            let ends = is_last && piece.is_empty();
            within(patience, sink.piece(part, ends)).await?;
        }
    }
    Some(())
}

async fn within<T>(patience: Duration, step: impl Future<Output = Option<T>>) -> Option<T> {
    timeout(patience, step).await.ok().flatten()
}
