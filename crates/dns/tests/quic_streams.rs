//! What becomes of the streams of queries over QUIC, as their server sees it on the wire.

#![allow(clippy::unwrap_used)]

use crate::support;
use crate::support::{PAGE_HOST, PAUSE, TestResolver, UNREAD_PATH};
use bytes::Bytes;
use http::Request;
use quinn::ConnectionError;
use resolab_dns::{ClientOptions, PendingQuery, Question, SessionSlot};
use resolab_http::H3Client;
use resolab_record::{Failure, HandshakeMode, KeyExchangeGroup, QueryPurpose, TicketPolicy};
use resolab_transport::client::{QuicClient, TlsClient, Trust};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

const WITHIN: Duration = Duration::from_secs(5);

#[tokio::test]
async fn no_stream_with_an_answer_is_stopped() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    for scheme in ["quic", "h3"] {
        let client = resolver.client(scheme, ClientOptions::default());
        let mut slot: SessionSlot = None;
        for name in ["a", "halves", "unended", "trailers", "a"] {
            let question = Question::parse(&format!("{name}.test"), "A").unwrap();
            let asking = PendingQuery::begin(&client, &question);
            let outcome = asking.ask(&mut slot, WITHIN).await;
            assert!(outcome.result.is_ok(), "{scheme}: {name}");
            // An end that comes after the answer finds nobody waiting for another one.
            tokio::time::sleep(PAUSE * 2).await;
        }
        let server = resolver.quic_connections.lock().unwrap().pop().unwrap();
        assert_eq!(server.stats().frame_rx.stop_sending, 0, "{scheme}");
        assert_eq!(server.stats().frame_rx.reset_stream, 0, "{scheme}");
        slot.unwrap().0.close().await;
    }
}

#[tokio::test]
async fn a_request_that_is_dropped_before_its_end_is_reset() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    let trust = Trust::from_authorities(Some(&resolver.ca_file), Vec::new(), Vec::new()).unwrap();
    let groups = &KeyExchangeGroup::ALL;
    let tls = TlsClient::new(&trust, PAGE_HOST, "h3", HandshakeMode::Full, groups).unwrap();
    let port = resolver.url("h3").rsplit_once(':').unwrap().1;
    let at = SocketAddr::from(([127, 0, 0, 1], port.parse().unwrap()));
    let quic = QuicClient::new(&tls).unwrap();
    let quic = quic.connect(at, Arc::default()).await.unwrap();
    let client = H3Client::open(Arc::new(quic)).await.unwrap();
    let url = format!("https://{PAGE_HOST}:{port}{UNREAD_PATH}");
    let long = Request::post(url)
        .body(Bytes::from(vec![0; 10_000_000]))
        .unwrap();
    // It waits for a window that never opens.
    assert!(timeout(PAUSE * 5, client.exchange(long, 1)).await.is_err());
    let server = resolver.quic_connections.lock().unwrap().pop().unwrap();
    tokio::time::sleep(PAUSE).await;
    assert_eq!(server.stats().frame_rx.reset_stream, 1);
}

#[tokio::test]
async fn an_answer_with_an_edns_tcp_keepalive_option_ends_a_doq_connection() {
    /// DOQ_PROTOCOL_ERROR (RFC 9250 section 4.3).
    const PROTOCOL_ERROR: u32 = 2;
    let resolver = TestResolver::start(TicketPolicy::None).await;
    let question = Question::parse("keepalive.test", "A").unwrap();
    for (scheme, expected) in [
        ("quic", Some(Failure::QueryMalformed)),
        ("h3", None),
        ("tls", None),
    ] {
        let client = resolver.client(scheme, ClientOptions::default());
        let mut slot: SessionSlot = None;
        let asking = PendingQuery::begin(&client, &question);
        let outcome = asking.ask(&mut slot, WITHIN).await;
        let record = asking.record(&outcome, QueryPurpose::Measured, 0, None);
        assert_eq!(record.failure, expected, "{scheme}");
        let Some(detail) = record.failure_detail else {
            continue;
        };
        assert!(detail.contains("edns-tcp-keepalive"), "{detail}");
        let server = resolver.quic_connections.lock().unwrap().pop().unwrap();
        let reason = tokio::time::timeout(WITHIN, server.closed()).await.unwrap();
        let ConnectionError::ApplicationClosed(close) = reason else {
            panic!("{reason}");
        };
        assert_eq!(close.error_code, PROTOCOL_ERROR.into());
    }
}

/// quinn 0.11 forgets who waits for a stream when one of early data that was rejected, with its
/// number, is dropped.
#[tokio::test]
async fn several_queries_outlive_the_rejection_of_their_early_data() {
    for scheme in ["quic", "h3"] {
        let resolver = TestResolver::start(TicketPolicy::EarlyData).await;
        let options = ClientOptions {
            handshake_mode: HandshakeMode::ZeroRtt,
            ..ClientOptions::default()
        };
        let stub = support::stub::start(resolver.client(scheme, options), 60_000).await;
        assert_eq!(stub.ask("a.test", 1).await.answers.len(), 1);
        // The ticket is behind the answer.
        assert_eq!(stub.ask("a.test", 2).await.answers.len(), 1);
        let policies = &resolver.policies;
        assert!(policies.set_policy(None, TicketPolicy::RejectEarlyData));
        for _ in 0..5 {
            stub.stub.close_connections(false).await;
            let ask = async |id| stub.ask("a.test", id).await.answers.len();
            let answers = tokio::join!(ask(3), ask(4), ask(5), ask(6), ask(7), ask(8));
            assert_eq!(answers, (1, 1, 1, 1, 1, 1), "{scheme}");
        }
    }
}
