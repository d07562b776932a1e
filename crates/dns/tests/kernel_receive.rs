//! The kernel's stamp of a response on a connection: there for every transport, of the response's
//! last part, and of its arrival rather than of its reading.

#![allow(clippy::unwrap_used)]

use crate::support::hold::Hold;
use crate::support::{PAUSE, TestResolver};
use resolab_dns::{
    ClientOptions, ConnectionPolicy, DnsClient, ForgetScope, PendingQuery, Question, SessionSlot,
    Upstream, UpstreamOutcome,
};
use resolab_record::{HandshakeMode, QueryPurpose, QueryRecord, TicketPolicy};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use tokio::sync::oneshot;

const DEADLINE: Duration = Duration::from_secs(5);
const CONNECTED: [&str; 5] = ["tcp", "tls", "https", "h3", "quic"];
/// What bringing the kernel's clock to the record's may be off by.
const CONVERSION_NS: u64 = 1_000;

async fn ask(client: &DnsClient, name: &str, slot: &mut SessionSlot) -> QueryRecord {
    let question = Question::parse(name, "A").unwrap();
    let asking = PendingQuery::begin(client, &question);
    let outcome = asking.ask(slot, DEADLINE).await;
    let record = asking.record(&outcome, QueryPurpose::Measured, 0, None);
    assert_eq!(record.failure, None, "{:?}", record.failure_detail);
    record
}

/// From handing the query over to the kernel's stamp of its response, which lies before completion.
fn received_after(record: &QueryRecord) -> Duration {
    let receive_ns = record.kernel_receive_ns.unwrap();
    assert!(receive_ns <= record.query_exchange_end_ns.unwrap() + CONVERSION_NS);
    assert_eq!(record.kernel_transmit_ns, None);
    let start_ns = record.query_exchange_start_ns.unwrap();
    Duration::from_nanos((receive_ns + CONVERSION_NS).checked_sub(start_ns).unwrap())
}

fn read_after(record: &QueryRecord) -> Duration {
    let receive_ns = record.kernel_receive_ns.unwrap();
    let end_ns = record.query_exchange_end_ns.unwrap();
    Duration::from_nanos((end_ns + CONVERSION_NS).checked_sub(receive_ns).unwrap())
}

#[tokio::test]
async fn it_is_of_the_last_part_and_every_query_has_its_own() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    for scheme in CONNECTED {
        let client = resolver.client(scheme, ClientOptions::default());
        let mut slot = None;
        // The first opens the connection.
        for name in ["a.test", "halves.test", "a.test", "late.test"] {
            let record = ask(&client, name, &mut slot).await;
            let waited = received_after(&record);
            assert!(
                name == "a.test" || waited >= PAUSE,
                "{scheme} {name}: {waited:?}"
            );
        }
        slot.unwrap().0.close().await;
    }
}

#[tokio::test]
async fn early_data_has_it_too() {
    let resolver = TestResolver::start(TicketPolicy::EarlyData).await;
    for scheme in &CONNECTED[1..] {
        let options = ClientOptions {
            handshake_mode: HandshakeMode::ZeroRtt,
            ..ClientOptions::default()
        };
        let client = resolver.client(scheme, options);
        let question = Question::parse("a.test", "A").unwrap();
        client.prime(&question, 0, DEADLINE).await.unwrap();
        let mut slot = None;
        let record = ask(&client, "halves.test", &mut slot).await;
        assert_eq!(record.early_data_accepted, Some(true), "{scheme}");
        assert!(received_after(&record) >= PAUSE, "{scheme}");
        slot.unwrap().0.close().await;
    }
}

#[tokio::test]
async fn of_two_outstanding_queries_each_has_what_came_until_its_own_end() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    for scheme in CONNECTED {
        let client = resolver.client(scheme, ClientOptions::default());
        let upstream = Upstream::new(client, ConnectionPolicy::default());
        let questions =
            ["a.test", "a.test", "late.test"].map(|name| Question::parse(name, "A").unwrap());
        let [first, soon, late] = questions
            .each_ref()
            .map(|question| PendingQuery::begin(&upstream.client, question));
        upstream.ask(&first, DEADLINE).await;
        let (soon_asked, late_asked) =
            tokio::join!(upstream.ask(&soon, DEADLINE), upstream.ask(&late, DEADLINE));
        let record = |asking: &PendingQuery<'_>, asked: &UpstreamOutcome| {
            asking.record(&asked.outcome, QueryPurpose::Measured, 0, None)
        };
        // Written after both have ended.
        let (soon, late) = (record(&soon, &soon_asked), record(&late, &late_asked));
        assert_eq!(late.connection_facts.outstanding_count, Some(1), "{scheme}");
        assert!(received_after(&late) >= PAUSE, "{scheme}");
        received_after(&soon);
        let instant_ns =
            |record: &QueryRecord| record.time_origin_ns + record.kernel_receive_ns.unwrap();
        assert!(instant_ns(&soon) < instant_ns(&late), "{scheme}");
        upstream.close(ForgetScope::Nothing).await;
    }
}

/// A resolver that goes on while the client's thread does not.
fn resolver_of_its_own() -> (TestResolver, Hold, oneshot::Sender<()>) {
    let (hand_over, resolver) = mpsc::channel();
    let (stop, stopped) = oneshot::channel::<()>();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let resolver = TestResolver::start(TicketPolicy::None).await;
            hand_over.send((resolver, Hold::begin())).unwrap();
            let _ = stopped.await;
        });
    });
    let (resolver, hold) = resolver.recv().unwrap();
    (resolver, hold, stop)
}

#[tokio::test]
async fn it_is_of_the_arrival_and_not_of_the_reading() {
    let (resolver, hold, _stop) = resolver_of_its_own();
    for scheme in CONNECTED {
        let client = resolver.client(scheme, ClientOptions::default());
        let mut slot = None;
        ask(&client, "a.test", &mut slot).await;
        let sleep_over_the_arrival = async {
            hold.block_until_written().await;
            thread::sleep(PAUSE);
        };
        let (record, ()) =
            tokio::join!(ask(&client, "held.test", &mut slot), sleep_over_the_arrival);
        hold.go_on();
        received_after(&record);
        let waited = read_after(&record);
        assert!(waited >= PAUSE, "{scheme}: {waited:?}");
        slot.unwrap().0.close().await;
    }
}
