//! One query under way at a time: asked, answered and judged, then the next.

use super::lane::{Lane, NumberedConversation};
use super::protocol::{QuicProtocol, Trouble};
use super::worker::{Wanted, Worker};
use crate::counting::answer;
use bytes::Bytes;
use resolab_record::Failure;
use resolab_transport::clock::monotonic_ns;
use std::rc::Rc;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// Before a query that was refused is asked again.
const REFUSED_PAUSE: Duration = Duration::from_millis(1);

/// Ask one query after another until there are no more.
pub async fn run<P: QuicProtocol>(worker: Rc<Worker<P>>, lane: Rc<Lane<P>>) {
    let patience = worker.share.plan.timeout;
    let mut held = None;
    loop {
        // Before a query is taken: another connection may be up and take it.
        held = lane.conversation(held, patience).await;
        let Some(wanted) = worker.next().await else {
            return;
        };
        held = lane.conversation(held, patience).await;
        if let Some(conversation) = &mut held {
            ask(&worker, &lane, conversation, wanted).await;
        } else {
            unasked(&worker, wanted);
        }
    }
}

/// There has been no connection for as long as a query may take.
fn unasked<P>(worker: &Worker<P>, wanted: Wanted) {
    let now_ns = monotonic_ns();
    let mut tally = worker.tally.borrow_mut();
    tally.sent(wanted.since_ns.unwrap_or(now_ns), now_ns, 0);
    tally.failed(worker.connect_failure.get());
}

async fn ask<P: QuicProtocol>(
    worker: &Worker<P>,
    lane: &Lane<P>,
    conversation: &mut NumberedConversation<P::Conversation>,
    wanted: Wanted,
) {
    let sent_ns = monotonic_ns();
    let plan = &worker.share.plan;
    let wanted_ns = wanted.since_ns.unwrap_or(sent_ns);
    let query_bytes = plan.names.get(wanted.index).message.len();
    worker
        .tally
        .borrow_mut()
        .sent(wanted_ns, sent_ns, query_bytes);
    let answer = answered(worker, lane, conversation, wanted.index);
    match timeout(plan.timeout, answer).await {
        Ok(Ok(message)) => book(worker, wanted.index, (wanted_ns, sent_ns), &message),
        Ok(Err(failure)) => {
            let mut tally = worker.tally.borrow_mut();
            if failure == Failure::QueryConnectionClosed {
                tally.interrupted(failure);
            } else {
                tally.failed(failure);
            }
        }
        Err(_) => worker.tally.borrow_mut().lost(),
    }
}

/// Book an answer, or what is none.
fn book<P>(worker: &Worker<P>, index: u32, (wanted_ns, sent_ns): (u64, u64), message: &[u8]) {
    let received_ns = monotonic_ns();
    let query = worker.share.plan.names.get(index);
    let mut tally = worker.tally.borrow_mut();
    let is_ours = answer::id_of(message) == Some(0);
    match answer::read(query, message).filter(|_| is_ours) {
        Some(answer) => {
            let instants = (wanted_ns, sent_ns, received_ns);
            tally.completed(instants, answer, message.len());
            worker.wakes.answered(received_ns - sent_ns);
        }
        None => tally.failed(Failure::QueryMalformed),
    }
}

/// The answer; asked again where the query was certainly not processed.
async fn answered<P: QuicProtocol>(
    worker: &Worker<P>,
    lane: &Lane<P>,
    conversation: &mut NumberedConversation<P::Conversation>,
    index: u32,
) -> Result<Bytes, Failure> {
    loop {
        let under_way = InFlight::begin(lane);
        let result = worker
            .protocol
            .exchange(&mut conversation.conversation, index)
            .await;
        drop(under_way);
        match result {
            Ok(message) => return Ok(message),
            Err(Trouble::Failed(failure)) => return Err(failure),
            Err(Trouble::Refused) => {
                worker.tally.borrow_mut().refused_count += 1;
                sleep(REFUSED_PAUSE).await;
            }
            Err(Trouble::Ended { may_be_processed }) => {
                lane.give_up(conversation.number);
                if may_be_processed {
                    return Err(Failure::QueryConnectionClosed);
                }
                // The deadline of the query ends this wait.
                if let Some(next) = lane.conversation(None, Duration::MAX).await {
                    *conversation = next;
                }
            }
        }
    }
}

/// A query counted as under way on its lane, however it ends.
struct InFlight<'a, P: QuicProtocol>(&'a Lane<P>);

impl<'a, P: QuicProtocol> InFlight<'a, P> {
    fn begin(lane: &'a Lane<P>) -> Self {
        lane.count_in_flight(1);
        Self(lane)
    }
}

impl<P: QuicProtocol> Drop for InFlight<'_, P> {
    fn drop(&mut self) {
        self.0.count_in_flight(-1);
    }
}
