//! A pending query and its clock. Not for: asking (`attempt`, `answer`) and recording.

use crate::client::DnsClient;
use crate::exchange::ExchangeLog;
use crate::question::Question;
use resolab_transport::clock::monotonic_ns;
use std::sync::Arc;
use std::time::Duration;

/// A pending query; its clock runs.
pub struct PendingQuery<'a> {
    pub(crate) client: &'a DnsClient,
    pub(crate) question: &'a Question,
    pub(crate) time_origin_ns: u64,
    pub(crate) exchange: Arc<ExchangeLog>,
}

impl<'a> PendingQuery<'a> {
    /// Starts a query's clock now.
    pub fn begin(client: &'a DnsClient, question: &'a Question) -> Self {
        Self::begin_at(monotonic_ns(), client, question)
    }

    /// Starts a query's clock at a time just past.
    pub fn begin_at(time_origin_ns: u64, client: &'a DnsClient, question: &'a Question) -> Self {
        Self {
            client,
            question,
            time_origin_ns,
            exchange: Arc::default(),
        }
    }

    /// Returns the remaining time before a deadline.
    pub(crate) fn remaining_time(&self, deadline: Duration) -> Duration {
        let passed_ns = monotonic_ns().saturating_sub(self.time_origin_ns);
        deadline.saturating_sub(Duration::from_nanos(passed_ns))
    }

    /// Returns the query's start, `CLOCK_MONOTONIC` in ns.
    pub fn time_origin_ns(&self) -> u64 {
        self.time_origin_ns
    }
}
