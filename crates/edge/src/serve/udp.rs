//! DoUDP: batches of datagrams in and out, from the address of the query. Immediate answers cost no
//! task and no allocation; other answers get a task each.

use super::datagrams::{BATCH_COUNT, Batch};
use crate::partial::PartialAnswers;
use crate::state::{EdgeState, QueryArrival, QueryPlan, QueryRecordDraft};
use resolab_record::DnsTransport;
use resolab_transport::clock::monotonic_ns;
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::sync::Arc;
use tokio::io::Interest;
use tokio::net::UdpSocket;
use tokio::sync::Semaphore;

/// The maximum number of waiting queries; above, queries get no answer.
const PENDING_COUNT_MAX: usize = 65_536;

/// Serves a socket until the task is dropped.
pub async fn serve(state: Arc<EdgeState>, socket: UdpSocket) {
    let mut listener = UdpListener {
        state,
        socket: Arc::new(socket),
        batch: Batch::new(),
        notes: Vec::with_capacity(BATCH_COUNT),
        pending: Arc::new(Semaphore::new(PENDING_COUNT_MAX)),
    };
    loop {
        let count = listener.receive().await;
        let name = listener.state.doh.as_ref().map(|doh| doh.name.as_str());
        if listener.state.policies.black_hole.swallows(name) {
            continue;
        }
        listener.answer(count);
        listener.send().await;
    }
}

struct UdpListener {
    state: Arc<EdgeState>,
    socket: Arc<UdpSocket>,
    batch: Batch,
    /// The notes for the records of the prepared answers, in the same order.
    notes: Vec<QueryRecordDraft>,
    pending: Arc<Semaphore>,
}

impl UdpListener {
    async fn receive(&mut self) -> usize {
        loop {
            // An error is an ICMP message about an earlier answer: nothing to do about it.
            let _ = self.socket.readable().await;
            let mut received = 0;
            let (batch, socket) = (&mut self.batch, &self.socket);
            let tried = socket.try_io(Interest::READABLE, || {
                received = batch.receive(socket.as_fd())?;
                if received < BATCH_COUNT {
                    // The queue was empty: what comes from now on makes the socket readable anew,
                    // and asking it once more is saved.
                    return Err(io::ErrorKind::WouldBlock.into());
                }
                Ok(())
            });
            drop(tried);
            if received > 0 {
                return received;
            }
        }
    }

    fn answer(&mut self, count: usize) {
        let received_ns = monotonic_ns();
        for place in 0..count {
            let peer = self.batch.peer(place);
            let (message, answer) = self.batch.query(place);
            answer.clear();
            let Some(peer) = peer else { continue };
            let arrival = arrival(message, peer, received_ns);
            if let Some(answers) = PartialAnswers::begin(&self.state, None, &arrival) {
                self.answer_in_parts(answers, peer);
                continue;
            }
            let plan = self.state.plan(&arrival, answer);
            if plan.is_unanswered() {
                answer.clear();
                self.state.write_query(plan.note, false);
            } else if plan.is_due() {
                self.notes.push(plan.note);
            } else {
                let (message, answer) = (message.to_vec(), std::mem::take(answer));
                self.answer_later(message, answer, plan, peer, received_ns);
            }
        }
        self.batch.line_up(count);
    }

    fn answer_later(
        &self,
        message: Vec<u8>,
        answer: Vec<u8>,
        plan: QueryPlan,
        peer: SocketAddr,
        received_ns: u64,
    ) {
        let Ok(permit) = Arc::clone(&self.pending).try_acquire_owned() else {
            self.state.write_query(plan.note, false);
            return;
        };
        let (state, socket) = (Arc::clone(&self.state), Arc::clone(&self.socket));
        tokio::spawn(async move {
            let arrival = arrival(&message, peer, received_ns);
            let reply = state.finish(&arrival, plan, answer).await;
            let sent = match &reply.answer {
                Some(answer) => socket.send_to(&answer.message, peer).await.is_ok(),
                None => false,
            };
            state.write_query(reply.note, sent);
            drop(permit);
        });
    }

    fn answer_in_parts(&self, mut answers: PartialAnswers, peer: SocketAddr) {
        let Ok(permit) = Arc::clone(&self.pending).try_acquire_owned() else {
            return;
        };
        let socket = Arc::clone(&self.socket);
        tokio::spawn(async move {
            while let Some(responses) = answers.next().await {
                for response in responses {
                    let sent = socket.send_to(&response.message, peer).await.is_ok();
                    answers.write_notes(response.notes, sent);
                }
            }
            drop(permit);
        });
    }

    /// Sends the prepared answers. Answers refused by the kernel (no route, an ICMP error) are
    /// skipped.
    async fn send(&mut self) {
        let total = self.batch.lined_up_count();
        let mut position = 0;
        while position < total {
            let (batch, socket) = (&mut self.batch, &self.socket);
            let tried = socket.try_io(Interest::WRITABLE, || batch.send(socket.as_fd(), position));
            let (advanced, is_sent) = match tried {
                Ok(count) => (count, true),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let _ = self.socket.writable().await;
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => (1, false),
            };
            for note in self.notes.drain(..advanced) {
                self.state.write_query(note, is_sent);
            }
            position += advanced;
        }
    }
}

fn arrival(message: &[u8], peer: SocketAddr, received_ns: u64) -> QueryArrival<'_> {
    QueryArrival {
        message,
        transport: DnsTransport::Doudp,
        peer,
        connection: None,
        in_early_data: None,
        received_ns,
    }
}
