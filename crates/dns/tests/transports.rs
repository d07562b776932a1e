//! Every transport against a resolver on loopback: what is asked, what is recorded, and what
//! happens when things go wrong.

#![allow(clippy::unwrap_used)]

use crate::support::{TestResolver, client};
use resolab_dns::{
    ClientOptions, DnsClient, DohMethod, EdnsOptions, Padding, PendingQuery, Question, SessionSlot,
    UdpRetryPolicy,
};
use resolab_record::{
    ConnectionState, DnsTransport, Failure, HandshakeMode, QueryPurpose, QueryRecord, TicketPolicy,
};
use std::time::Duration;

const DEADLINE: Duration = Duration::from_secs(5);
const SCHEMES: [&str; 6] = ["udp", "tcp", "tls", "https", "h3", "quic"];
const ENCRYPTED: [&str; 4] = ["tls", "https", "h3", "quic"];

async fn ask_in(
    client: &DnsClient,
    name: &str,
    slot: &mut SessionSlot,
    deadline: Duration,
) -> QueryRecord {
    let question = Question::parse(name, "A").unwrap();
    let asking = PendingQuery::begin(client, &question);
    let outcome = asking.ask(slot, deadline).await;
    asking.record(&outcome, QueryPurpose::Measured, 0, None)
}

async fn ask(client: &DnsClient, name: &str) -> QueryRecord {
    let mut slot = None;
    let record = ask_in(client, name, &mut slot, DEADLINE).await;
    if let Some((session, _)) = slot {
        session.close().await;
    }
    record
}

fn options(handshake_mode: HandshakeMode) -> ClientOptions {
    ClientOptions {
        handshake_mode,
        ..ClientOptions::default()
    }
}

/// Prime, then ask; the measured record.
async fn primed(resolver: &TestResolver, scheme: &str, mode: HandshakeMode) -> QueryRecord {
    let client = resolver.client(scheme, options(mode));
    let question = Question::parse("a.test", "A").unwrap();
    let priming = client.prime(&question, 0, DEADLINE).await.unwrap();
    assert_eq!(priming.purpose, QueryPurpose::Priming);
    assert_eq!(
        priming.handshake_mode,
        Some(HandshakeMode::Full),
        "{scheme}"
    );
    ask(&client, "a.test").await
}

fn check_common(record: &QueryRecord, scheme: &str) {
    assert_eq!(
        record.failure, None,
        "{scheme}: {:?}",
        record.failure_detail
    );
    assert_eq!(record.qname, "a.test.");
    assert_eq!(record.rcode.as_deref(), Some("NOERROR"));
    assert_eq!(
        record.addresses,
        ["192.0.2.7".parse::<std::net::IpAddr>().unwrap()]
    );
    assert_eq!((record.ttl_s, record.answer_count), (Some(60), Some(1)));
    assert_eq!(record.attempt_count, 1);
    let total = record.query_response_time_ns.unwrap();
    let (start, end) = (record.query_exchange_start_ns, record.query_exchange_end_ns);
    assert!(
        start <= end && end <= Some(total),
        "{scheme}: {start:?} {end:?} {total}"
    );
}

#[tokio::test]
async fn a_cold_full_query_has_the_phases_of_its_transport() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    for scheme in SCHEMES {
        let record = ask(&resolver.client(scheme, ClientOptions::default()), "a.test").await;
        check_common(&record, scheme);
        let is_tcp = matches!(scheme, "tcp" | "tls" | "https");
        assert_eq!(record.tcp_connect_end_ns.is_some(), is_tcp, "{scheme}");
        assert_eq!(
            record.tls_handshake_end_ns.is_some(),
            is_tcp && scheme != "tcp",
            "{scheme}"
        );
        assert_eq!(
            record.quic_handshake_end_ns.is_some(),
            matches!(scheme, "h3" | "quic")
        );
        let is_encrypted = ENCRYPTED.contains(&scheme);
        let full = is_encrypted.then_some(HandshakeMode::Full);
        assert_eq!(
            (record.requested_handshake_mode, record.handshake_mode),
            (full, full)
        );
        assert_eq!(record.early_data_accepted, None);
        assert_eq!(
            record.query_bytes % 128 == 0,
            is_encrypted,
            "{scheme}: padding"
        );
        let cold = (scheme != "udp").then_some(ConnectionState::Cold);
        assert_eq!(record.connection, cold);
        let alpn = [
            ("tls", "dot"),
            ("https", "h2"),
            ("h3", "h3"),
            ("quic", "doq"),
        ];
        let alpn = alpn
            .iter()
            .find(|(known, _)| *known == scheme)
            .map(|(_, alpn)| *alpn);
        assert_eq!(record.alpn.as_deref(), alpn);
        assert_eq!(
            record.cipher_suite.as_deref(),
            alpn.map(|_| "TLS_AES_128_GCM_SHA256")
        );
        assert_eq!(record.tls_version.as_deref(), alpn.map(|_| "TLSv1_3"));
    }
}

#[tokio::test]
async fn tickets_are_used_as_asked() {
    let resolver = TestResolver::start(TicketPolicy::EarlyData).await;
    for scheme in ENCRYPTED {
        let resumed = primed(&resolver, scheme, HandshakeMode::Resumed).await;
        check_common(&resumed, scheme);
        assert_eq!(
            resumed.handshake_mode,
            Some(HandshakeMode::Resumed),
            "{scheme}"
        );
        assert_eq!(resumed.early_data_accepted, None);
        let zero_rtt = primed(&resolver, scheme, HandshakeMode::ZeroRtt).await;
        check_common(&zero_rtt, scheme);
        assert_eq!(
            zero_rtt.handshake_mode,
            Some(HandshakeMode::ZeroRtt),
            "{scheme}"
        );
        assert_eq!(zero_rtt.early_data_accepted, Some(true));
        let handshake_end = zero_rtt
            .tls_handshake_end_ns
            .or(zero_rtt.quic_handshake_end_ns);
        assert!(zero_rtt.query_exchange_start_ns < handshake_end, "{scheme}");
    }
}

#[tokio::test]
async fn rejected_early_data_is_sent_again_on_the_same_connection() {
    for scheme in ENCRYPTED {
        let resolver = TestResolver::start(TicketPolicy::EarlyData).await;
        let client = resolver.client(scheme, options(HandshakeMode::ZeroRtt));
        let question = Question::parse("a.test", "A").unwrap();
        client.prime(&question, 0, DEADLINE).await.unwrap();
        resolver
            .policies
            .set_policy(None, TicketPolicy::RejectEarlyData);
        let before = resolver.connections();
        let record = ask(&client, "a.test").await;
        assert_eq!(
            record.failure, None,
            "{scheme}: {:?}",
            record.failure_detail
        );
        assert_eq!(record.early_data_accepted, Some(false), "{scheme}");
        assert_eq!(
            record.handshake_mode,
            Some(HandshakeMode::Resumed),
            "{scheme}"
        );
        assert_eq!(
            record.requested_handshake_mode,
            Some(HandshakeMode::ZeroRtt)
        );
        assert_eq!(record.attempt_count, 2, "{scheme}");
        assert_eq!(resolver.connections(), before + 1, "{scheme}");
    }
}

#[tokio::test]
async fn refused_tickets_make_a_full_handshake_and_say_so() {
    for scheme in ENCRYPTED {
        let resolver = TestResolver::start(TicketPolicy::EarlyData).await;
        let client = resolver.client(scheme, options(HandshakeMode::ZeroRtt));
        let question = Question::parse("a.test", "A").unwrap();
        client.prime(&question, 0, DEADLINE).await.unwrap();
        resolver.policies.set_policy(None, TicketPolicy::None);
        let record = ask(&client, "a.test").await;
        assert_eq!(
            record.failure, None,
            "{scheme}: {:?}",
            record.failure_detail
        );
        assert_eq!(record.handshake_mode, Some(HandshakeMode::Full), "{scheme}");
        assert_eq!(record.early_data_accepted, Some(false), "{scheme}");
    }
}

#[tokio::test]
async fn a_warm_connection_is_reused() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    for scheme in ["tcp", "tls", "https", "h3", "quic"] {
        let client = resolver.client(scheme, ClientOptions::default());
        let before = resolver.connections();
        let mut slot = None;
        ask_in(&client, "a.test", &mut slot, DEADLINE).await;
        for _ in 0..2 {
            let record = ask_in(&client, "a.test", &mut slot, DEADLINE).await;
            check_common(&record, scheme);
            assert_eq!(record.connection, Some(ConnectionState::Warm));
            let phases = [
                record.tcp_connect_start_ns,
                record.tls_handshake_start_ns,
                record.quic_handshake_start_ns,
            ];
            assert_eq!(phases, [None; 3], "{scheme}");
        }
        assert_eq!(resolver.connections(), before + 1, "{scheme}");
        slot.take().unwrap().0.close().await;
    }
}

#[tokio::test]
async fn doh_by_get() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    let options = ClientOptions {
        doh_method: DohMethod::Get,
        ..ClientOptions::default()
    };
    check_common(
        &ask(&resolver.client("https", options), "a.test").await,
        "https",
    );
}

#[tokio::test]
async fn the_time_an_answer_was_in_an_http_cache_is_taken_off_its_ttl() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    for (scheme, expected) in [("https", 53), ("h3", 53), ("quic", 60)] {
        let client = resolver.client(scheme, ClientOptions::default());
        let record = ask(&client, "aged.test").await;
        assert_eq!(record.ttl_s, Some(expected), "{scheme}");
    }
}

#[tokio::test]
async fn without_padding_the_query_is_as_long_as_by_udp() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    let options = ClientOptions {
        edns: EdnsOptions {
            padding: Padding::None,
            ..EdnsOptions::default()
        },
        ..ClientOptions::default()
    };
    let plain = ask(&resolver.client("udp", options.clone()), "a.test").await;
    let record = ask(&resolver.client("quic", options), "a.test").await;
    assert_eq!(record.query_bytes, plain.query_bytes);
}

#[tokio::test]
async fn silence_ends_at_the_deadline() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    for scheme in SCHEMES {
        let client = resolver.client(scheme, ClientOptions::default());
        let deadline = Duration::from_millis(250);
        let record = ask_in(&client, "silent.test", &mut None, deadline).await;
        assert_eq!(record.failure, Some(Failure::QueryTimeout), "{scheme}");
        assert_eq!(
            (record.query_response_time_ns, record.query_exchange_end_ns),
            (None, None)
        );
        assert_eq!(record.attempt_count, 1, "{scheme}");
        assert!(record.failure_detail.unwrap().contains("250ms"));
    }
}

#[tokio::test]
async fn error_codes_and_other_answers_are_failures_with_what_came() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    let retry = UdpRetryPolicy::Custom {
        timeout: Duration::from_millis(200),
        try_count: 1,
    };
    for scheme in SCHEMES {
        let options = ClientOptions {
            udp_retry_policy: retry,
            ..ClientOptions::default()
        };
        let client = resolver.client(scheme, options);
        let record = ask(&client, "servfail.test").await;
        assert_eq!(record.failure, Some(Failure::DnsRcode), "{scheme}");
        assert_eq!(record.rcode.as_deref(), Some("SERVFAIL"));
        assert_eq!(record.query_response_time_ns, None);
        let record = ask(&client, "other.test").await;
        // By UDP anybody can send a datagram, so what does not match is passed over.
        let malformed = [Failure::QueryMalformed, Failure::QueryTimeout];
        assert_eq!(
            record.failure,
            Some(malformed[usize::from(scheme == "udp")]),
            "{scheme}"
        );
    }
}

#[tokio::test]
async fn a_truncated_answer_by_udp_is_asked_for_by_tcp() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    let record = ask(
        &resolver.client("udp", ClientOptions::default()),
        "large.test",
    )
    .await;
    assert_eq!(record.failure, None, "{:?}", record.failure_detail);
    assert_eq!(
        (record.dns_transport, record.truncated),
        (DnsTransport::Doudp, Some(false))
    );
    assert_eq!((record.answer_count, record.attempt_count), (Some(10), 2));
    assert!(record.tcp_connect_end_ns.is_some());
}

#[tokio::test]
async fn a_certificate_nobody_vouches_for_is_told() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    let stranger = TestResolver::start(TicketPolicy::None).await;
    let options = ClientOptions {
        ca_file: Some(stranger.ca_file.clone()),
        ..ClientOptions::default()
    };
    for scheme in ENCRYPTED {
        let record = ask(&client(resolver.url(scheme), &options), "a.test").await;
        let expected = (Some(Failure::TlsCertificateInvalid), None);
        assert_eq!(
            (record.failure, record.handshake_mode),
            expected,
            "{scheme}"
        );
    }
}

#[tokio::test]
async fn nobody_there() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    let options = ClientOptions {
        ca_file: Some(resolver.ca_file.clone()),
        ..ClientOptions::default()
    };
    for (scheme, failure) in [
        ("udp", Failure::QueryRefused),
        ("tcp", Failure::TcpConnectRefused),
        ("tls", Failure::TcpConnectRefused),
        ("https", Failure::TcpConnectRefused),
        ("h3", Failure::QuicHandshakeTimeout),
        ("quic", Failure::QuicHandshakeTimeout),
    ] {
        let client = client(&format!("{scheme}://127.0.0.1:9"), &options);
        let deadline = Duration::from_millis(200);
        let record = ask_in(&client, "a.test", &mut None, deadline).await;
        assert_eq!(
            record.failure,
            Some(failure),
            "{scheme}: {:?}",
            record.failure_detail
        );
    }
}
