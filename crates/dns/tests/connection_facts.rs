//! What records say of the connection a query travelled on.

#![allow(clippy::unwrap_used)]

use crate::support::{HOST, TestResolver, client, serve_doq};
use quinn::crypto::rustls::QuicServerConfig;
use quinn::rustls;
use resolab_dns::{ClientOptions, DnsClient, PendingQuery, Question, SessionSlot};
use resolab_record::{HandshakeMode, QueryPurpose, QueryRecord, TicketPolicy};
use resolab_transport::server::CertificateAuthority;
use rustls::sign::SingleCertAndKey;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const DEADLINE: Duration = Duration::from_secs(5);
const CONNECTED: [&str; 5] = ["tcp", "tls", "https", "h3", "quic"];

async fn ask_in(client: &DnsClient, slot: &mut SessionSlot) -> QueryRecord {
    let question = Question::parse("a.test", "A").unwrap();
    let asking = PendingQuery::begin(client, &question);
    let outcome = asking.ask(slot, DEADLINE).await;
    let record = asking.record(&outcome, QueryPurpose::Measured, 0, None);
    assert_eq!(record.failure, None, "{:?}", record.failure_detail);
    record
}

async fn close(slot: SessionSlot) {
    slot.unwrap().0.close().await;
}

#[tokio::test]
async fn every_connection_tells_of_its_path_and_counts_its_queries() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    for scheme in CONNECTED {
        let client = resolver.client(scheme, ClientOptions::default());
        let mut slot = None;
        for index in 0..2 {
            let record = ask_in(&client, &mut slot).await;
            let facts = &record.connection_facts;
            let is_quic = matches!(scheme, "h3" | "quic");
            assert_eq!(facts.quic_version, is_quic.then_some(1), "{scheme}");
            assert_eq!(facts.quic_retry, is_quic.then_some(false), "{scheme}");
            let min_rtt_ns = facts.connection_min_rtt_ns.unwrap();
            assert!(min_rtt_ns > 0, "{scheme}");
            assert!(facts.connection_rtt_ns.unwrap() >= min_rtt_ns, "{scheme}");
            assert!(facts.retransmitted_count.is_some(), "{scheme}");
            let expected = record.query_response_time_ns.unwrap() as f64 / min_rtt_ns as f64;
            assert_eq!(facts.round_trip_count, Some(expected), "{scheme}");
            assert_eq!(
                (facts.connection_query_index, facts.outstanding_count),
                (Some(index), Some(0)),
                "{scheme}"
            );
            assert_eq!(facts.answered_early, None, "{scheme}");
            assert_eq!(facts.tcp_fast_open_accepted, None, "{scheme}");
        }
        close(slot).await;
    }
}

#[tokio::test]
async fn doudp_has_no_connection_to_tell_of() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    let client = resolver.client("udp", ClientOptions::default());
    let record = ask_in(&client, &mut None).await;
    assert_eq!(
        record.connection_facts,
        resolab_record::ConnectionFacts::default()
    );
}

#[tokio::test]
async fn only_accepted_early_data_can_be_answered_early() {
    for (policy, accepted) in [
        (TicketPolicy::EarlyData, true),
        (TicketPolicy::RejectEarlyData, false),
    ] {
        let resolver = TestResolver::start(TicketPolicy::EarlyData).await;
        for scheme in ["tls", "https", "h3", "quic"] {
            resolver.policies.set_policy(None, TicketPolicy::EarlyData);
            let options = ClientOptions {
                handshake_mode: HandshakeMode::ZeroRtt,
                ..ClientOptions::default()
            };
            let client = resolver.client(scheme, options);
            let question = Question::parse("a.test", "A").unwrap();
            client.prime(&question, 0, DEADLINE).await.unwrap();
            resolver.policies.set_policy(None, policy);
            let mut slot = None;
            let record = ask_in(&client, &mut slot).await;
            close(slot).await;
            assert_eq!(record.early_data_accepted, Some(accepted), "{scheme}");
            // Which of the two a server on loopback did, its processor decides.
            assert_eq!(
                record.connection_facts.answered_early.is_some(),
                accepted,
                "{scheme}"
            );
        }
    }
}

/// What a QUIC server of ours does that the usual one does not.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Habit {
    /// Asks for a second Initial (RFC 9000 section 8.1.2).
    Retries,
    /// Accepts early data and answers it some time after the handshake has ended.
    HoldsEarlyData,
}

/// Long against a round trip on loopback, whatever the machine does.
const HELD: Duration = Duration::from_millis(150);

/// A DoQ resolver with a habit, and its port.
fn peculiar_resolver(folder: &Path, habit: Habit) -> u16 {
    let authority = CertificateAuthority::open_or_create(folder).unwrap();
    let key = authority.issue(&[HOST.to_owned()]).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut tls = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(SingleCertAndKey::from(key)));
    tls.alpn_protocols = vec![b"doq".to_vec()];
    tls.max_early_data_size = u32::MAX;
    let crypto = QuicServerConfig::try_from(tls).unwrap();
    let config = quinn::ServerConfig::with_crypto(Arc::new(crypto));
    let endpoint = quinn::Endpoint::server(config, "127.0.0.1:0".parse().unwrap()).unwrap();
    let port = endpoint.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Some(incoming) = endpoint.accept().await {
            if habit == Habit::Retries && !incoming.remote_address_validated() {
                incoming.retry().unwrap();
                continue;
            }
            let Ok((connection, handshake)) = incoming.accept().unwrap().into_0rtt() else {
                continue;
            };
            tokio::spawn(async move {
                handshake.await;
                if habit == Habit::HoldsEarlyData {
                    tokio::time::sleep(HELD).await;
                }
                serve_doq(connection).await;
            });
        }
    });
    port
}

#[tokio::test]
async fn a_retry_and_held_early_data_show() {
    let folder = std::env::temp_dir().join(format!("resolab-dns-habits-{}", std::process::id()));
    for (habit, mode) in [
        (Habit::Retries, HandshakeMode::Full),
        (Habit::HoldsEarlyData, HandshakeMode::ZeroRtt),
    ] {
        let port = peculiar_resolver(&folder, habit);
        let options = ClientOptions {
            handshake_mode: mode,
            ca_file: Some(folder.join("ca.pem")),
            ..ClientOptions::default()
        };
        let client = client(&format!("quic://{HOST}:{port}"), &options);
        let question = Question::parse("a.test", "A").unwrap();
        client.prime(&question, 0, DEADLINE).await;
        let mut slot = None;
        let record = ask_in(&client, &mut slot).await;
        close(slot).await;
        assert_eq!(record.handshake_mode, Some(mode));
        let facts = &record.connection_facts;
        assert_eq!(facts.quic_retry, Some(habit == Habit::Retries));
        let is_held = habit == Habit::HoldsEarlyData;
        assert_eq!(record.early_data_accepted, is_held.then_some(true));
        assert_eq!(facts.answered_early, is_held.then_some(false));
    }
    std::fs::remove_dir_all(folder).unwrap();
}
