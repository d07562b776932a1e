//! A query slot: sends a query, judges the answer, then takes the next query.

use super::connection_slot::{LoadConnectionSlot, NumberedConversation};
use super::outgoing_query::OutgoingQuery;
use super::protocol::{LoadExchangeError, QuicProtocol};
use super::worker::{ScheduledQuery, Worker};
use crate::counting::answer;
use bytes::Bytes;
use resolab_record::Failure;
use resolab_transport::clock::monotonic_ns;
use std::rc::Rc;
use std::time::Duration;
use tokio::time::sleep;

/// The pause before sending a refused query again.
const REFUSED_PAUSE: Duration = Duration::from_millis(1);

/// The reason for a query without an answer.
enum QueryFailure {
    /// The connection ended before the answer.
    Interrupted,
    Failed(Failure),
}

/// Sends queries one after another until no more follow.
pub async fn run<P: QuicProtocol>(
    worker: Rc<Worker<P>>,
    connection_slot: Rc<LoadConnectionSlot<P>>,
) {
    let patience = worker.share.plan.timeout;
    let mut held = None;
    loop {
        // Before a query is taken: another connection may be up and take it.
        held = connection_slot.conversation(held, patience).await;
        let Some(wanted) = worker.next().await else {
            return;
        };
        held = connection_slot.conversation(held, patience).await;
        if let Some(conversation) = &mut held {
            ask(&worker, &connection_slot, conversation, wanted).await;
        } else {
            unasked(&worker, wanted);
        }
    }
}

/// Counts a query as failed: no connection was available within the timeout.
fn unasked<P>(worker: &Worker<P>, wanted: ScheduledQuery) {
    let now_ns = monotonic_ns();
    let mut tally = worker.tally.borrow_mut();
    tally.note_sent(wanted.since_ns.unwrap_or(now_ns), now_ns, 0);
    tally.note_failure(worker.connect_failure.get());
}

async fn ask<P: QuicProtocol>(
    worker: &Worker<P>,
    connection_slot: &LoadConnectionSlot<P>,
    conversation: &mut NumberedConversation<P::Conversation>,
    wanted: ScheduledQuery,
) {
    let sending = OutgoingQuery::new(worker, wanted);
    let answer = receive_answer(worker, connection_slot, conversation, &sending);
    let result = sending.wait_within(worker.share.plan.timeout, answer).await;
    let instants = sending.instants();
    match result {
        Some(Ok(message)) => book(worker, wanted.index, instants, &message),
        Some(Err(QueryFailure::Interrupted)) => {
            let mut tally = worker.tally.borrow_mut();
            tally.note_interruption(Failure::QueryConnectionClosed);
        }
        Some(Err(QueryFailure::Failed(failure))) => worker.tally.borrow_mut().note_failure(failure),
        None => worker.tally.borrow_mut().note_loss(),
    }
}

/// Books a message as an answer, or as malformed.
fn book<P>(worker: &Worker<P>, index: u32, (wanted_ns, sent_ns): (u64, u64), message: &[u8]) {
    let received_ns = monotonic_ns();
    let query = worker.share.plan.names.get(index);
    let mut tally = worker.tally.borrow_mut();
    let is_ours = answer::id_of(message) == Some(0);
    match answer::read(query, message).filter(|_| is_ours) {
        Some(answer) => {
            let instants = (wanted_ns, sent_ns, received_ns);
            tally.note_completion(instants, answer, message.len());
            worker.wakes.note_answer(received_ns - sent_ns);
        }
        None => tally.note_failure(Failure::QueryMalformed),
    }
}

/// Returns the answer; sends the query again if certainly not processed.
async fn receive_answer<P: QuicProtocol>(
    worker: &Worker<P>,
    connection_slot: &LoadConnectionSlot<P>,
    conversation: &mut NumberedConversation<P::Conversation>,
    sending: &OutgoingQuery<'_, P>,
) -> Result<Bytes, QueryFailure> {
    let leaves = || sending.leaves();
    loop {
        let under_way = InFlightGuard::begin(connection_slot);
        let result = worker
            .protocol
            .exchange(&mut conversation.conversation, sending.index(), &leaves)
            .await;
        drop(under_way);
        match result {
            Ok(message) => return Ok(message),
            Err(LoadExchangeError::Failed(failure)) => return Err(QueryFailure::Failed(failure)),
            Err(LoadExchangeError::Refused) => {
                worker.tally.borrow_mut().refused_count += 1;
                sleep(REFUSED_PAUSE).await;
            }
            Err(LoadExchangeError::Ended { may_be_processed }) => {
                connection_slot.give_up(conversation.number);
                if may_be_processed {
                    return Err(QueryFailure::Interrupted);
                }
                // The deadline of the query ends this wait.
                if let Some(next) = connection_slot.conversation(None, Duration::MAX).await {
                    *conversation = next;
                }
            }
        }
    }
}

/// A guard counting a query as in flight on the slot, for any kind of end.
struct InFlightGuard<'a, P: QuicProtocol>(&'a LoadConnectionSlot<P>);

impl<'a, P: QuicProtocol> InFlightGuard<'a, P> {
    fn begin(connection_slot: &'a LoadConnectionSlot<P>) -> Self {
        connection_slot.count_in_flight(1);
        Self(connection_slot)
    }
}

impl<P: QuicProtocol> Drop for InFlightGuard<'_, P> {
    fn drop(&mut self) {
        self.0.count_in_flight(-1);
    }
}
