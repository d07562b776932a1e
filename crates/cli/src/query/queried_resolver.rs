//! One resolver of `resolab-core query` and the queries to it: one, several together, several
//! outstanding. Not for: which queries and in which order.

use resolab_dns::{
    ConnectionPolicy, DnsClient, ForgetScope, MessagePosition, PendingQuery, Question, Upstream,
    UpstreamOutcome,
};
use resolab_record::{QueryPurpose, QueryRecord, Record};
use resolab_terminal::output;
use resolab_transport::clock::monotonic_ns;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;

/// Numbers of a query within the run.
#[derive(Clone, Copy)]
struct QueryNumbers {
    sequence: u64,
    group_sequence: Option<u64>,
}

/// One resolver, the connection to it if one is kept, and how many queries it got.
pub(super) struct QueriedResolver {
    upstream: Upstream,
    deadline: Duration,
    sequence: AtomicU64,
    group_sequence: AtomicU64,
}

impl QueriedResolver {
    pub fn new(client: DnsClient, policy: ConnectionPolicy, deadline: Duration) -> Self {
        Self {
            upstream: Upstream::new(client, policy),
            deadline,
            sequence: AtomicU64::new(0),
            group_sequence: AtomicU64::new(0),
        }
    }

    /// Fetch what a new connection needs, if the next query will open one.
    pub async fn prepare(&self, question: &Question) -> io::Result<()> {
        if self.upstream.has_connection() {
            return Ok(());
        }
        let sequence = self.sequence.load(Ordering::Relaxed);
        let client = &self.upstream.client;
        match client.prime(question, sequence, self.deadline).await {
            Some(record) => write(record),
            None => Ok(()),
        }
    }

    /// Ask once and write what became of it.
    pub async fn ask(&self, question: &Question) -> io::Result<()> {
        let position = self.next(None);
        write(self.answer(question, monotonic_ns(), position).await)
    }

    /// Ask all at the same time, as a browser asks for the addresses of both kinds and for HTTPS
    /// records: one opens the connection where there is none, the others wait for it.
    pub async fn ask_together(self: &Arc<Self>, questions: &[Arc<Question>]) -> io::Result<()> {
        let group_sequence = self.group_sequence.fetch_add(1, Ordering::Relaxed);
        let time_origin_ns = monotonic_ns();
        let mut queries = JoinSet::new();
        for question in questions {
            let position = self.next(Some(group_sequence));
            let (target, question) = (Arc::clone(self), Arc::clone(question));
            queries.spawn(async move { target.answer(&question, time_origin_ns, position).await });
        }
        let mut records = queries.join_all().await;
        records.sort_by_key(|record| record.sequence);
        records.into_iter().try_for_each(write)
    }

    /// Ask all in one message, or one by one at the same time.
    pub async fn ask_several(
        &self,
        questions: &[Arc<Question>],
        one_by_one: bool,
    ) -> io::Result<()> {
        let count = questions.len() as u64;
        let position = MessagePosition {
            first_sequence: self.sequence.fetch_add(count, Ordering::Relaxed),
            message_sequence: self.group_sequence.fetch_add(1, Ordering::Relaxed),
            one_by_one,
        };
        let questions: Vec<_> = questions
            .iter()
            .map(|question| (**question).clone())
            .collect();
        let asked = self
            .upstream
            .ask_several(&questions, position, self.deadline);
        asked.await.into_iter().try_for_each(write)
    }

    async fn answer(
        &self,
        question: &Question,
        time_origin_ns: u64,
        position: QueryNumbers,
    ) -> QueryRecord {
        let asking = PendingQuery::begin_at(time_origin_ns, &self.upstream.client, question);
        let UpstreamOutcome {
            outcome,
            previous_end,
        } = self.upstream.ask(&asking, self.deadline).await;
        let purpose = QueryPurpose::Measured;
        let mut record = asking.record(&outcome, purpose, position.sequence, None);
        record.group_sequence = position.group_sequence;
        record.limit_ns = Some(self.deadline.as_nanos() as u64);
        record.connection_facts.previous_connection_end = previous_end;
        record
    }

    fn next(&self, group_sequence: Option<u64>) -> QueryNumbers {
        QueryNumbers {
            sequence: self.sequence.fetch_add(1, Ordering::Relaxed),
            group_sequence,
        }
    }

    /// Close the connection for being idle when it is; never returns.
    pub async fn watch_idle(&self) {
        self.upstream.watch_idle().await;
    }

    /// Close the connection.
    pub async fn close(&self) {
        self.upstream.close(ForgetScope::Nothing).await;
    }
}

fn write(record: QueryRecord) -> io::Result<()> {
    output::write_record(&Record::Query(Box::new(record)))
}
