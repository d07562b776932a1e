//! Answers a message with several questions. Each question gets the same answer as a single query.
//! Known answers leave at once, in the smallest possible number of messages.
//!
//! For: every transport alike. Not for: sockets, and not for combining messages, see
//! `resolab_dns::partial`.

use crate::connections::OpenConnection;
use crate::dns::answer::datagram_limit;
use crate::dns::wire::{Edns, MESSAGE_BYTES_MAX, Query};
use crate::state::{EdgeState, QueryArrival, QueryRecordDraft, QueryReply};
use resolab_dns::partial::{LengthLimits, MultiQuestionMessage};
use resolab_record::DnsTransport;
use std::sync::Arc;
use tokio::runtime::Handle;
use tokio::task::JoinSet;

/// A response message, with the notes of its questions.
pub struct PartialResponse {
    /// The message in its sent form.
    pub message: Vec<u8>,
    /// The notes for the records of the message's questions.
    pub notes: Vec<QueryRecordDraft>,
}

/// The remaining answers of one message.
pub struct PartialAnswers {
    state: Arc<EdgeState>,
    several: MultiQuestionMessage,
    room: LengthLimits,
    /// The answers known and not yet sent.
    known: Vec<(Vec<u8>, QueryRecordDraft)>,
    pending: JoinSet<QueryReply>,
    is_over: bool,
    is_withheld: bool,
    keepalive_asked: bool,
}

/// The transport and client of a message, kept until the last answer.
struct MessageOrigin {
    connection: Option<Arc<OpenConnection>>,
    transport: DnsTransport,
    peer: std::net::SocketAddr,
    in_early_data: Option<bool>,
    received_ns: u64,
}

impl PartialAnswers {
    /// Begins to answer a message. `None` without several questions, for a client not accepting
    /// partial responses, or with partial responses switched off.
    pub fn begin(
        state: &Arc<EdgeState>,
        connection: Option<&Arc<OpenConnection>>,
        arrival: &QueryArrival<'_>,
    ) -> Option<Self> {
        if !state.gives_partial_responses {
            return None;
        }
        let several = MultiQuestionMessage::read(arrival.message)?;
        let singles: Vec<_> = several.singles().collect();
        // What is no query alone, for one bad option of all, is FORMERR as a whole.
        if singles.iter().any(|single| Query::parse(single).is_err()) {
            return None;
        }
        let mut answers = Self {
            state: Arc::clone(state),
            room: length_limits(state, arrival.transport, &several),
            several,
            known: Vec::new(),
            pending: JoinSet::new(),
            is_over: false,
            is_withheld: false,
            keepalive_asked: false,
        };
        let origin = Arc::new(MessageOrigin {
            connection: connection.map(Arc::clone),
            transport: arrival.transport,
            peer: arrival.peer,
            in_early_data: arrival.in_early_data,
            received_ns: arrival.received_ns,
        });
        for single in singles {
            answers.plan(&origin, single);
        }
        Some(answers)
    }

    fn plan(&mut self, origin: &Arc<MessageOrigin>, single: Vec<u8>) {
        let mut answer = Vec::new();
        let plan = self.state.plan(&origin.arrival(&single), &mut answer);
        self.keepalive_asked |= plan.keepalive_asked;
        if plan.is_unanswered() {
            self.is_withheld = true;
            self.state.write_query(plan.note, false);
        } else if plan.is_due() {
            self.known.push((answer, plan.note));
        } else {
            let (state, origin) = (Arc::clone(&self.state), Arc::clone(origin));
            self.pending
                .spawn(async move { state.finish(&origin.arrival(&single), plan, answer).await });
        }
    }

    /// Returns the known answers, waiting for at least one; `None` when there are no more answers.
    pub async fn next(&mut self) -> Option<Vec<PartialResponse>> {
        loop {
            while let Some(finished) = self.pending.try_join_next() {
                self.take(finished.ok());
            }
            if !self.known.is_empty() {
                return Some(self.combine());
            }
            let finished = self.pending.join_next().await?;
            self.take(finished.ok());
        }
    }

    fn take(&mut self, reply: Option<QueryReply>) {
        let Some(reply) = reply else {
            self.is_withheld = true;
            return;
        };
        if let Some(answer) = reply.answer {
            self.known.push((answer.message, reply.note));
        } else {
            self.is_withheld = true;
            self.state.write_query(reply.note, false);
        }
    }

    fn combine(&mut self) -> Vec<PartialResponse> {
        let (answers, notes): (Vec<_>, Vec<_>) = self.known.drain(..).unzip();
        self.is_over = self.pending.is_empty() && !self.is_withheld;
        let answers: Vec<_> = answers.iter().map(Vec::as_slice).collect();
        let mut notes = notes.into_iter();
        let combined = self.several.combine(&answers, self.is_over, self.room);
        let responses = combined
            .into_iter()
            .map(|combined| PartialResponse {
                message: combined.message,
                notes: notes.by_ref().take(combined.count).collect(),
            })
            .collect();
        // Of answers that cannot be put together; their questions are as good as dropped.
        for note in notes {
            self.is_over = false;
            self.is_withheld = true;
            self.state.write_query(note, false);
        }
        responses
    }

    /// Returns true when every question was answered.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Returns true when the message had an edns-tcp-keepalive option.
    pub fn keepalive_asked(&self) -> bool {
        self.keepalive_asked
    }

    /// Writes the records of messages sent, or failed to send.
    pub fn write_notes(&self, notes: Vec<QueryRecordDraft>, sent: bool) {
        for note in notes {
            self.state.write_query(note, sent);
        }
    }
}

impl Drop for PartialAnswers {
    /// Writes the records of the remaining questions after the client has gone.
    fn drop(&mut self) {
        for (_, note) in self.known.drain(..) {
            self.state.write_query(note, false);
        }
        let mut pending = std::mem::take(&mut self.pending);
        if !pending.is_empty()
            && let Ok(runtime) = Handle::try_current()
        {
            let state = Arc::clone(&self.state);
            runtime.spawn(async move {
                while let Some(reply) = pending.join_next().await {
                    if let Ok(reply) = reply {
                        state.write_query(reply.note, false);
                    }
                }
            });
        }
    }
}

impl MessageOrigin {
    fn arrival<'a>(&'a self, message: &'a [u8]) -> QueryArrival<'a> {
        QueryArrival {
            message,
            transport: self.transport,
            peer: self.peer,
            connection: self.connection.as_deref(),
            in_early_data: self.in_early_data,
            received_ns: self.received_ns,
        }
    }
}

fn length_limits(
    state: &EdgeState,
    transport: DnsTransport,
    several: &MultiQuestionMessage,
) -> LengthLimits {
    let stream = |padding_block_bytes| LengthLimits {
        limit_bytes: MESSAGE_BYTES_MAX,
        padding_block_bytes,
    };
    match transport {
        DnsTransport::Doudp => LengthLimits {
            limit_bytes: datagram_limit(Some(Edns::with_payload(several.udp_payload_bytes()))),
            padding_block_bytes: 0,
        },
        DnsTransport::Dotcp => stream(0),
        DnsTransport::Dot | DnsTransport::Doh | DnsTransport::Doh3 | DnsTransport::Doq => {
            stream(usize::from(state.padding_block_bytes))
        }
    }
}
