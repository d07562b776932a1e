//! The plan of a load run, and each worker's share of the plan. Not for: executing the plan.

use crate::counting::slots::SLOTS_MAX;
use crate::gathering::GatheringRule;
use crate::names::QueryTemplates;
use crate::timing::schedule::Schedule;
use crate::timing::start_gate::StartGate;
use resolab_dns::ResolverAddress;
use resolab_record::DohMethod;
use resolab_transport::client::TlsClient;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// The distribution of the distances in a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArrivalProcess {
    /// All distances are equal.
    Constant,
    /// Distances are exponentially distributed: arrivals are a Poisson process.
    Poisson,
}

/// The pacing of queries.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LoadPacing {
    /// A query leaves when another query ends.
    Closed,
    /// Queries leave by a schedule.
    Open {
        /// The rate in queries per second, all workers together.
        rate_per_s: f64,
        /// The distribution of the distances between queries.
        arrivals: ArrivalProcess,
    },
}

/// The condition for the end of sending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SendLimit {
    /// Sending ends after this time.
    Duration(Duration),
    /// Sending ends after this number of queries.
    Count(u64),
}

/// The plan of a load run.
#[derive(Debug, Clone)]
pub struct LoadPlan {
    /// The resolver and the transport.
    pub resolver: ResolverAddress,
    /// The socket address of the resolver.
    pub resolver_address: SocketAddr,
    /// The TLS client for transports with TLS; `None` for the others.
    pub tls: Option<TlsClient>,
    /// True when certificates are checked; `None` without TLS.
    pub certificate_checked: Option<bool>,
    /// The HTTP method of DoH queries.
    pub doh_method: DohMethod,
    /// The queries, sent in order and repeated.
    pub names: Arc<QueryTemplates>,
    /// The number of threads sharing the load.
    pub threads: u32,
    /// The number of connections of all workers together; at least one per worker.
    pub connections: u32,
    /// The number of outstanding queries of all workers together; at least one per connection.
    pub outstanding: u32,
    /// The pacing of queries.
    pub pace: LoadPacing,
    /// The condition for the end of sending.
    pub extent: SendLimit,
    /// The time limit for an answer, and for a connection.
    pub timeout: Duration,
    /// The rule for gathering answers.
    pub gathering: GatheringRule,
    /// True to use UDP segmentation offload.
    pub segmentation_offload: bool,
    /// True to wait for the next send by spinning.
    pub spin: bool,
    /// The seed of a Poisson schedule.
    pub seed: u64,
}

/// The share of a worker in a plan.
#[derive(Debug, Clone)]
pub struct WorkerPlan {
    /// The plan of the whole run.
    pub plan: Arc<LoadPlan>,
    /// The number of the worker, from 0.
    pub index: u32,
    /// The number of connections to keep.
    pub connections: u32,
    /// The most outstanding queries of the worker.
    pub outstanding: u32,
    /// The number of queries to send at most; `None` when the end is a time.
    pub count: Option<u64>,
    /// The gate for all workers after connecting; the gate gives the start of the clock.
    pub gate: Arc<StartGate>,
}

impl LoadPlan {
    /// Returns the share of each worker.
    pub fn shares(self: &Arc<Self>, gate: &Arc<StartGate>) -> Vec<WorkerPlan> {
        let threads = u64::from(self.threads);
        let share = |whole: u64, index: u64| whole / threads + u64::from(index < whole % threads);
        (0..threads)
            .map(|index| WorkerPlan {
                plan: Arc::clone(self),
                index: index as u32,
                connections: share(u64::from(self.connections), index) as u32,
                outstanding: share(u64::from(self.outstanding), index) as u32,
                count: match self.extent {
                    SendLimit::Duration(_) => None,
                    SendLimit::Count(count) => Some(share(count, index)),
                },
                gate: Arc::clone(gate),
            })
            .collect()
    }
}

impl WorkerPlan {
    /// Returns the limit of outstanding queries for each connection of the worker.
    pub fn slot_counts(&self) -> Vec<usize> {
        let (outstanding, connections) = (self.outstanding, self.connections.max(1));
        (0..connections)
            .map(|index| outstanding / connections + u32::from(index < outstanding % connections))
            .map(|count| (count as usize).clamp(1, SLOTS_MAX))
            .collect()
    }

    /// Returns the schedule of this worker from `start_ns`; `None` in a closed loop.
    pub fn schedule(&self, start_ns: u64) -> Option<Schedule> {
        let LoadPacing::Open {
            rate_per_s,
            arrivals,
        } = self.plan.pace
        else {
            return None;
        };
        let (index, workers) = (self.index, self.plan.threads);
        Some(match arrivals {
            ArrivalProcess::Constant => Schedule::constant(start_ns, rate_per_s, index, workers),
            ArrivalProcess::Poisson => {
                Schedule::poisson(start_ns, rate_per_s, index, workers, self.plan.seed)
            }
        })
    }

    /// Returns the end of sending for a run started at `start_ns`; `u64::MAX` when a count ends the
    /// run.
    pub fn send_until_ns(&self, start_ns: u64) -> u64 {
        match self.plan.extent {
            SendLimit::Duration(duration) => start_ns + duration.as_nanos() as u64,
            SendLimit::Count(_) => u64::MAX,
        }
    }

    /// Returns the time limit for an answer, in ns.
    pub fn timeout_ns(&self) -> u64 {
        self.plan.timeout.as_nanos() as u64
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn plan(
        threads: u32,
        connections: u32,
        outstanding: u32,
        extent: SendLimit,
    ) -> Arc<LoadPlan> {
        Arc::new(LoadPlan {
            resolver: "udp://127.0.0.1".parse().unwrap(),
            resolver_address: "127.0.0.1:53".parse().unwrap(),
            tls: None,
            certificate_checked: None,
            doh_method: DohMethod::Get,
            names: Arc::new(QueryTemplates::parse("a.test A\n", None, false).unwrap()),
            threads,
            connections,
            outstanding,
            pace: LoadPacing::Closed,
            extent,
            timeout: Duration::from_secs(5),
            gathering: GatheringRule::Adaptive,
            segmentation_offload: false,
            spin: false,
            seed: 0,
        })
    }

    #[test]
    fn shares_add_up_to_the_whole_and_differ_by_one_at_most() {
        let plan = plan(3, 10, 100, SendLimit::Count(1000));
        let shares = plan.shares(&Arc::new(StartGate::new(3)));
        let all = |of: fn(&WorkerPlan) -> u64| shares.iter().map(of).collect::<Vec<_>>();
        assert_eq!(all(|share| u64::from(share.connections)), [4, 3, 3]);
        assert_eq!(all(|share| u64::from(share.outstanding)), [34, 33, 33]);
        assert_eq!(all(|share| share.count.unwrap()), [334, 333, 333]);
    }

    #[test]
    fn a_duration_ends_sending_and_a_count_does_not() {
        let gate = Arc::new(StartGate::new(1));
        let timed = plan(1, 1, 1, SendLimit::Duration(Duration::from_secs(2))).shares(&gate);
        assert_eq!(timed[0].send_until_ns(5), 2_000_000_005);
        assert_eq!(timed[0].count, None);
        let counted = plan(1, 1, 1, SendLimit::Count(7)).shares(&gate);
        assert_eq!(counted[0].send_until_ns(5), u64::MAX);
    }
}
