//! DoUDP against servers on loopback: retries, kernel stamps, and look-ups of the resolver's name
//! inside the clock.

#![allow(clippy::unwrap_used)]

use crate::support;
use crate::support::client;
use hickory_proto::op::{Message, ResponseCode};
use hickory_proto::rr::rdata::A;
use hickory_proto::rr::{RData, Record, RecordType};
use resolab_dns::bootstrap::GivenAddresses;
use resolab_dns::{ClientOptions, DnsClient, PendingQuery, Question, UdpRetryPolicy};
use resolab_record::{Bootstrap, Failure, QueryPurpose, QueryRecord, RetryPolicy};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::UdpSocket;

const DEADLINE: Duration = Duration::from_secs(5);

async fn ask_within(client: &DnsClient, deadline: Duration) -> QueryRecord {
    let question = Question::parse("a.test", "A").unwrap();
    let asking = PendingQuery::begin(client, &question);
    let outcome = asking.ask(&mut None, deadline).await;
    asking.record(&outcome, QueryPurpose::Measured, 0, None)
}

async fn ask(client: &DnsClient) -> QueryRecord {
    ask_within(client, DEADLINE).await
}

fn with_policy(udp_retry_policy: UdpRetryPolicy) -> ClientOptions {
    ClientOptions {
        udp_retry_policy,
        ..ClientOptions::default()
    }
}

async fn bind() -> (UdpSocket, String) {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let url = format!("udp://{}", socket.local_addr().unwrap());
    (socket, url)
}

async fn receive(server: &UdpSocket) -> (Message, SocketAddr) {
    let mut buffer = [0; 4096];
    let (length, from) = server.recv_from(&mut buffer).await.unwrap();
    (Message::from_vec(&buffer[..length]).unwrap(), from)
}

async fn answer(server: &UdpSocket, query: Message, to: SocketAddr) {
    let bytes = query.into_response().to_vec().unwrap();
    server.send_to(&bytes, to).await.unwrap();
}

/// Answer every query after a while.
async fn serve(server: &UdpSocket, delay: Duration) {
    loop {
        let (query, from) = receive(server).await;
        tokio::time::sleep(delay).await;
        answer(server, query, from).await;
    }
}

#[tokio::test]
async fn the_kernel_stamps_lie_inside_what_this_process_saw() {
    let (server, url) = bind().await;
    let client = client(&url, &ClientOptions::default());
    let ask_all = async {
        let mut records = Vec::new();
        for _ in 0..50 {
            records.push(ask(&client).await);
        }
        records
    };
    let records = tokio::select! {
        records = ask_all => records,
        () = serve(&server, Duration::from_millis(1)) => unreachable!(),
    };
    for record in &records {
        let transmit_ns = record.kernel_transmit_ns.unwrap();
        let receive_ns = record.kernel_receive_ns.unwrap();
        // The pair of clock readings that brings them together may be off by some nanoseconds.
        assert!(transmit_ns + 1_000 > record.query_exchange_start_ns.unwrap());
        assert!(receive_ns < record.query_exchange_end_ns.unwrap() + 1_000);
        // The server's pause is between them.
        assert!(receive_ns - transmit_ns >= 1_000_000, "{record:?}");
    }
    let end_to_end = |record: &QueryRecord| {
        record.query_exchange_end_ns.unwrap() - record.query_exchange_start_ns.unwrap()
    };
    let in_kernel = |record: &QueryRecord| {
        record.kernel_receive_ns.unwrap() - record.kernel_transmit_ns.unwrap()
    };
    let mut saved: Vec<_> = records
        .iter()
        .map(|r| end_to_end(r).saturating_sub(in_kernel(r)))
        .collect();
    saved.sort_unstable();
    assert!(
        saved[25] > 0,
        "stamps of the kernel leave out what this process took"
    );
}

#[tokio::test]
async fn a_lost_query_is_asked_again_by_the_round_trip_time() {
    let (server, url) = bind().await;
    let client = client(&url, &with_policy(UdpRetryPolicy::Modern));
    let learn = async {
        for _ in 0..8 {
            assert_eq!(ask(&client).await.attempt_count, 1);
        }
        // 50 ms, the least, where the system's policy waits 5 s.
        ask(&client).await
    };
    let serve = async {
        for _ in 0..8 {
            let (query, from) = receive(&server).await;
            answer(&server, query, from).await;
        }
        let (lost, _) = receive(&server).await;
        let (query, from) = receive(&server).await;
        assert_eq!(query, lost);
        answer(&server, query, from).await;
    };
    let (record, ()) = tokio::join!(learn, serve);
    assert_eq!((record.failure, record.attempt_count), (None, 2));
    assert_eq!(record.retry_policy, Some(RetryPolicy::Modern));
    let waited_ns = record.kernel_transmit_ns.unwrap() - record.query_exchange_start_ns.unwrap();
    assert!(waited_ns >= 49_000_000, "the stamp is the second try's");
    assert!(record.query_response_time_ns.unwrap() < 4_000_000_000);
}

#[tokio::test]
async fn without_retries_one_query_waits_until_the_deadline() {
    let (_server, url) = bind().await;
    let client = client(&url, &with_policy(UdpRetryPolicy::None));
    let record = ask_within(&client, Duration::from_millis(100)).await;
    assert_eq!(record.failure, Some(Failure::QueryTimeout));
    assert_eq!(record.attempt_count, 1);
    assert_eq!(record.retry_policy, Some(RetryPolicy::None));
    assert!(record.kernel_transmit_ns.is_some() && record.kernel_receive_ns.is_none());
}

#[tokio::test]
async fn a_refusal_ends_a_query_that_waits() {
    let (server, url) = bind().await;
    let client = client(&url, &ClientOptions::default());
    let close = async {
        receive(&server).await;
        // The second try meets a closed port, which is an error and nothing to read.
        drop(server);
    };
    let options = with_policy(UdpRetryPolicy::Custom {
        timeout: Duration::from_millis(50),
        try_count: 2,
    });
    let again = support::client(&url, &options);
    let (record, ()) = tokio::join!(ask(&again), close);
    assert_eq!(record.failure, Some(Failure::QueryRefused));
    assert_eq!(ask(&client).await.failure, Some(Failure::QueryRefused));
}

/// A client of a resolver with a name, which another resolver is asked for.
fn by_name(port: u16, bootstrap: SocketAddr) -> DnsClient {
    let resolver = format!("udp://resolver.test:{port}").parse().unwrap();
    let location = GivenAddresses::default().locate_inside(&resolver, Some(bootstrap));
    DnsClient::new(resolver, location, &ClientOptions::default()).unwrap()
}

#[tokio::test]
async fn a_look_up_inside_the_clock_is_timed_and_its_address_asked() {
    let (server, _) = bind().await;
    let (bootstrap, _) = bind().await;
    let address = server.local_addr().unwrap();
    let client = by_name(address.port(), bootstrap.local_addr().unwrap());
    let look_up = async {
        let (query, from) = receive(&bootstrap).await;
        assert_eq!(query.queries[0].name().to_ascii(), "resolver.test.");
        assert_eq!(query.queries[0].query_type(), RecordType::A);
        tokio::time::sleep(Duration::from_millis(20)).await;
        let mut response = query.into_response();
        let (name, data) = (
            "resolver.test.".parse().unwrap(),
            RData::A(A::new(127, 0, 0, 1)),
        );
        response.add_answer(Record::from_rdata(name, 60, data));
        bootstrap
            .send_to(&response.to_vec().unwrap(), from)
            .await
            .unwrap();
        let (query, from) = receive(&server).await;
        answer(&server, query, from).await;
    };
    let (record, ()) = tokio::join!(ask(&client), look_up);
    assert_eq!(record.failure, None, "{:?}", record.failure_detail);
    assert_eq!(record.bootstrap, Bootstrap::Resolver);
    assert_eq!(record.resolver_address, Some(address));
    let (start, end) = (
        record.bootstrap_start_ns.unwrap(),
        record.bootstrap_end_ns.unwrap(),
    );
    assert!(end - start >= 20_000_000);
    assert!(end <= record.query_exchange_start_ns.unwrap());
    assert!(record.query_response_time_ns.unwrap() > end);
}

#[tokio::test]
async fn a_look_up_that_fails_or_takes_too_long_is_a_failed_query() {
    let (bootstrap, _) = bind().await;
    let client = by_name(53, bootstrap.local_addr().unwrap());
    let refuse = async {
        let (query, from) = receive(&bootstrap).await;
        let mut response = query.into_response();
        response.metadata.response_code = ResponseCode::ServFail;
        bootstrap
            .send_to(&response.to_vec().unwrap(), from)
            .await
            .unwrap();
    };
    let (record, ()) = tokio::join!(ask(&client), refuse);
    assert_eq!(record.failure, Some(Failure::BootstrapFailed));
    assert_eq!(record.resolver_address, None);
    assert!(record.failure_detail.unwrap().contains("resolver.test"));
    assert_eq!((record.attempt_count, record.bootstrap_end_ns), (0, None));
    let record = ask_within(&client, Duration::from_millis(100)).await;
    assert_eq!(record.failure, Some(Failure::BootstrapFailed));
    assert!(record.bootstrap_start_ns.is_some());
}

#[tokio::test]
async fn the_system_is_asked_inside_the_clock_too() {
    let (server, _) = bind().await;
    let port = server.local_addr().unwrap().port();
    let resolver = format!("udp://localhost:{port}").parse().unwrap();
    let location = GivenAddresses::default().locate_inside(&resolver, None);
    let client = DnsClient::new(resolver, location, &ClientOptions::default()).unwrap();
    // It may be ::1, where nobody answers; the look-up is what counts.
    let record = ask_within(&client, Duration::from_millis(500)).await;
    assert_eq!(record.bootstrap, Bootstrap::System);
    assert!(
        record.bootstrap_end_ns.is_some(),
        "{:?}",
        record.failure_detail
    );
    assert!(record.resolver_address.unwrap().ip().is_loopback());
}
