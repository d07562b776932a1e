//! Runs the cases of one family of hostile peers, all at once, and then looks for what they left.

use crate::hostile::pki::Pki;
use resolab_dns::bootstrap::GivenAddresses;
use resolab_dns::{ClientOptions, DnsClient, PendingQuery, Question, UdpRetryPolicy};
use resolab_record::{Failure, QueryPurpose, QueryRecord};
use std::future::Future;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::task::{JoinHandle, JoinSet};

const DEADLINE: Duration = Duration::from_millis(700);
/// For a machine that stops now and then; a hang is longer.
const SLACK: Duration = Duration::from_secs(4);
/// For QUIC connections to drain (RFC 9000 section 10.2).
const GONE_WITHIN: Duration = Duration::from_secs(8);
/// What all the cases of a family may add to the process's memory at most.
const GROWTH_MAX_BYTES: usize = 64 << 20;

/// Descriptors are the whole process's.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// A peer that is listening; it ends with the case.
pub struct Peer {
    pub url: String,
    pub task: JoinHandle<()>,
}

/// What must become of a query.
#[derive(Clone, Copy)]
pub struct Expected {
    pub failure: Option<Failure>,
    /// Part of the detail.
    pub detail: &'static str,
    /// Whether only the deadline ends it.
    pub at_deadline: bool,
    deadline: Duration,
}

impl Expected {
    /// For what takes its time.
    pub fn within(self, deadline: Duration) -> Self {
        Self { deadline, ..self }
    }
}

pub fn fails(failure: Failure, detail: &'static str) -> Expected {
    Expected {
        failure: Some(failure),
        detail,
        at_deadline: false,
        deadline: DEADLINE,
    }
}

pub fn times_out(failure: Failure) -> Expected {
    Expected {
        failure: Some(failure),
        detail: "deadline",
        at_deadline: true,
        deadline: DEADLINE,
    }
}

pub fn is_answered() -> Expected {
    Expected {
        failure: None,
        detail: "",
        at_deadline: false,
        deadline: DEADLINE,
    }
}

/// The cases of a family.
#[derive(Default)]
pub struct Family {
    cases: JoinSet<Result<(), String>>,
}

impl Family {
    /// One query to a peer that is made by `start`.
    pub fn case<F>(&mut self, name: impl Into<String>, expected: Expected, start: F)
    where
        F: Future<Output = Peer> + Send + 'static,
    {
        let name = name.into();
        self.cases.spawn(async move {
            let peer = start.await;
            let result = judge(&name, expected, &peer).await;
            peer.task.abort();
            let _ = peer.task.await;
            result
        });
    }
}

/// Run a family on a runtime of its own.
pub fn run<F: Future<Output = Family>>(cases: impl FnOnce() -> F) {
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    Pki::shared();
    // Its socket is the process's, not a query's.
    resolab_transport::stamped_udp::keep_stamping();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let before = (descriptors(), Handle::current().metrics().num_alive_tasks());
        let memory_before = resident_bytes();
        let mut family = cases().await;
        let mut wrong = Vec::new();
        while let Some(case) = family.cases.join_next().await {
            wrong.extend(case.unwrap_or_else(|error| Err(error.to_string())).err());
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        let grown = resident_bytes().saturating_sub(memory_before);
        assert!(grown < GROWTH_MAX_BYTES, "{grown} bytes more than before");
        let until = Instant::now() + GONE_WITHIN;
        loop {
            let after = (descriptors(), Handle::current().metrics().num_alive_tasks());
            if after.0 <= before.0 && after.1 <= before.1 {
                break;
            }
            let left = "left over: (descriptors, tasks)";
            assert!(Instant::now() < until, "{left} {before:?} -> {after:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

fn resident_bytes() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

async fn judge(name: &str, expected: Expected, peer: &Peer) -> Result<(), String> {
    let started = Instant::now();
    let record = ask(&peer.url, expected.deadline).await;
    let took = started.elapsed();
    let detail = record.failure_detail.clone().unwrap_or_default();
    let got = format!("{:?} ({detail}) after {took:?}", record.failure);
    if std::env::var_os("HOSTILE_SHOW").is_some() {
        eprintln!("{name}: {got}");
    }
    let complain = |what: String| Err(format!("{name}: {what}; got {got}"));
    if record.failure != expected.failure || !detail.contains(expected.detail) {
        return complain(format!(
            "expected {:?} ({})",
            expected.failure, expected.detail
        ));
    }
    if expected.at_deadline != detail.contains("deadline") {
        return complain("the deadline has a say in it".to_owned());
    }
    if took > expected.deadline + SLACK {
        return complain("too late".to_owned());
    }
    if record.failure.is_some() != record.query_response_time_ns.is_none() {
        return complain("a response time without a response".to_owned());
    }
    if detail.contains('\n') || (record.failure.is_some() && detail.is_empty()) {
        return complain("the detail is not one line".to_owned());
    }
    Ok(())
}

/// Ask and close.
pub async fn ask(url: &str, deadline: Duration) -> QueryRecord {
    let client = client(url);
    let question = Question::parse("a.test", "A").unwrap();
    let mut slot = None;
    let asking = PendingQuery::begin(&client, &question);
    let outcome = asking.ask(&mut slot, deadline).await;
    let record = asking.record(&outcome, QueryPurpose::Measured, 0, None);
    if let Some((session, _)) = slot {
        session.close().await;
    }
    record
}

fn client(url: &str) -> DnsClient {
    let resolver = url.parse().unwrap();
    let given = [format!("{}=127.0.0.1", crate::support::HOST)];
    let located = GivenAddresses::parse(&given)
        .unwrap()
        .locate(&resolver)
        .unwrap();
    let options = ClientOptions {
        ca_file: Some(Pki::shared().ca_file.clone()),
        udp_retry_policy: UdpRetryPolicy::System,
        ..ClientOptions::default()
    };
    DnsClient::new(resolver, located, &options).unwrap()
}

/// The URL of a peer on loopback.
pub fn url(scheme: &str, address: SocketAddr) -> String {
    match scheme {
        "udp" | "tcp" => format!("{scheme}://{address}"),
        _ => format!("{scheme}://{}:{}", crate::support::HOST, address.port()),
    }
}
