//! What a load run is to do, and each worker's share of it. Not for: doing it.

use crate::counting::slots::SLOTS_MAX;
use crate::gathering::Gathering;
use crate::names::Names;
use crate::timing::schedule::Schedule;
use crate::timing::start_gate::StartGate;
use resolab_dns::ResolverAddress;
use resolab_record::DohMethod;
use resolab_transport::client::TlsClient;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// How a schedule's distances are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrivals {
    /// All the same.
    Constant,
    /// Exponentially distributed: arrivals are a Poisson process.
    Poisson,
}

/// When queries are sent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pace {
    /// When another one has come to its end.
    Closed,
    /// By a schedule.
    Open {
        /// Queries a second, all workers together.
        rate_per_s: f64,
        /// How the distances between them are drawn.
        arrivals: Arrivals,
    },
}

/// When sending ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// After this time.
    Duration(Duration),
    /// After this number of queries.
    Count(u64),
}

/// A load run.
#[derive(Debug, Clone)]
pub struct LoadPlan {
    /// Whom to ask, and over which transport.
    pub resolver: ResolverAddress,
    /// Where that is.
    pub resolver_address: SocketAddr,
    /// TLS of the transports that have it, `None` for the others.
    pub tls: Option<TlsClient>,
    /// Whether certificates are checked; `None` without TLS.
    pub certificate_checked: Option<bool>,
    /// How DoH queries travel.
    pub doh_method: DohMethod,
    /// What is asked, in order, round and round.
    pub names: Arc<Names>,
    /// Threads that share the load.
    pub threads: u32,
    /// Connections of all workers together; at least one a worker.
    pub connections: u32,
    /// Queries without an answer, all workers together; at least one a connection.
    pub outstanding: u32,
    /// When queries are sent.
    pub pace: Pace,
    /// When sending ends.
    pub extent: Extent,
    /// How long an answer is waited for, and a connection.
    pub timeout: Duration,
    /// How answers are gathered.
    pub gathering: Gathering,
    /// UDP segmentation offload.
    pub segmentation_offload: bool,
    /// Wait for the next send by spinning.
    pub spin: bool,
    /// Seed of a Poisson schedule.
    pub seed: u64,
}

/// One worker's share of a plan.
#[derive(Debug, Clone)]
pub struct WorkerPlan {
    /// The plan of the whole run.
    pub plan: Arc<LoadPlan>,
    /// Which worker, from 0.
    pub index: u32,
    /// Connections to keep.
    pub connections: u32,
    /// Queries without an answer to have at most.
    pub outstanding: u32,
    /// Queries to send at most; `None` when the end is a time.
    pub count: Option<u64>,
    /// Where all workers meet when their connections stand; it says when the clock starts.
    pub gate: Arc<StartGate>,
}

impl LoadPlan {
    /// The workers' shares.
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
                    Extent::Duration(_) => None,
                    Extent::Count(count) => Some(share(count, index)),
                },
                gate: Arc::clone(gate),
            })
            .collect()
    }
}

impl WorkerPlan {
    /// Queries without an answer each of its connections may have.
    pub fn slot_counts(&self) -> Vec<usize> {
        let (outstanding, connections) = (self.outstanding, self.connections.max(1));
        (0..connections)
            .map(|index| outstanding / connections + u32::from(index < outstanding % connections))
            .map(|count| (count as usize).clamp(1, SLOTS_MAX))
            .collect()
    }

    /// The schedule of this worker from `start_ns`; `None` in a closed loop.
    pub fn schedule(&self, start_ns: u64) -> Option<Schedule> {
        let Pace::Open {
            rate_per_s,
            arrivals,
        } = self.plan.pace
        else {
            return None;
        };
        let (index, workers) = (self.index, self.plan.threads);
        Some(match arrivals {
            Arrivals::Constant => Schedule::constant(start_ns, rate_per_s, index, workers),
            Arrivals::Poisson => {
                Schedule::poisson(start_ns, rate_per_s, index, workers, self.plan.seed)
            }
        })
    }

    /// When sending ends, for a run that started at `start_ns`; never, when a count ends it.
    pub fn send_until_ns(&self, start_ns: u64) -> u64 {
        match self.plan.extent {
            Extent::Duration(duration) => start_ns + duration.as_nanos() as u64,
            Extent::Count(_) => u64::MAX,
        }
    }

    /// How long an answer is waited for.
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
        extent: Extent,
    ) -> Arc<LoadPlan> {
        Arc::new(LoadPlan {
            resolver: "udp://127.0.0.1".parse().unwrap(),
            resolver_address: "127.0.0.1:53".parse().unwrap(),
            tls: None,
            certificate_checked: None,
            doh_method: DohMethod::Get,
            names: Arc::new(Names::parse("a.test A\n", None, false).unwrap()),
            threads,
            connections,
            outstanding,
            pace: Pace::Closed,
            extent,
            timeout: Duration::from_secs(5),
            gathering: Gathering::Adaptive,
            segmentation_offload: false,
            spin: false,
            seed: 0,
        })
    }

    #[test]
    fn shares_add_up_to_the_whole_and_differ_by_one_at_most() {
        let plan = plan(3, 10, 100, Extent::Count(1000));
        let shares = plan.shares(&Arc::new(StartGate::new(3)));
        let all = |of: fn(&WorkerPlan) -> u64| shares.iter().map(of).collect::<Vec<_>>();
        assert_eq!(all(|share| u64::from(share.connections)), [4, 3, 3]);
        assert_eq!(all(|share| u64::from(share.outstanding)), [34, 33, 33]);
        assert_eq!(all(|share| share.count.unwrap()), [334, 333, 333]);
    }

    #[test]
    fn a_duration_ends_sending_and_a_count_does_not() {
        let gate = Arc::new(StartGate::new(1));
        let timed = plan(1, 1, 1, Extent::Duration(Duration::from_secs(2))).shares(&gate);
        assert_eq!(timed[0].send_until_ns(5), 2_000_000_005);
        assert_eq!(timed[0].count, None);
        let counted = plan(1, 1, 1, Extent::Count(7)).shares(&gate);
        assert_eq!(counted[0].send_until_ns(5), u64::MAX);
    }
}
