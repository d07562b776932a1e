//! Whom the encrypted transports trust: pins, hashes of stamps and the insecure mode, against a
//! resolver on loopback with an authority of its own.

#![allow(clippy::unwrap_used)]

use crate::support::{HOST, TestResolver, client};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use resolab_dns::{ClientOptions, DnsClient, PendingQuery, Question};
use resolab_record::{Bootstrap, Failure, HandshakeMode, QueryPurpose, QueryRecord, TicketPolicy};
use resolab_transport::client::Sha256;
use std::time::Duration;

const DEADLINE: Duration = Duration::from_secs(5);
const ENCRYPTED: [&str; 4] = ["tls", "https", "h3", "quic"];
/// With the protocol of their stamps.
const STAMPED: [(&str, u8); 3] = [("https", 2), ("tls", 3), ("quic", 4)];

async fn ask(client: &DnsClient) -> QueryRecord {
    let question = Question::parse("a.test", "A").unwrap();
    let asking = PendingQuery::begin(client, &question);
    let mut slot = None;
    let outcome = asking.ask(&mut slot, DEADLINE).await;
    let record = asking.record(&outcome, QueryPurpose::Measured, 0, None);
    if let Some((session, _)) = slot {
        session.close().await;
    }
    record
}

async fn servers() -> (TestResolver, TestResolver) {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    let stranger = TestResolver::start(TicketPolicy::None).await;
    (resolver, stranger)
}

fn pinned(resolver: &TestResolver, pins: &[Sha256]) -> ClientOptions {
    ClientOptions {
        ca_file: Some(resolver.ca_file.clone()),
        pins: pins.to_vec(),
        ..ClientOptions::default()
    }
}

fn insecure(pins: &[Sha256]) -> ClientOptions {
    ClientOptions {
        pins: pins.to_vec(),
        is_insecure: true,
        ..ClientOptions::default()
    }
}

/// A stamp with the address of the resolver, which therefore need not be looked up.
fn stamp(resolver: &TestResolver, (scheme, protocol): (&str, u8), hashes: &[Sha256]) -> String {
    let port = resolver.url(scheme).rsplit_once(':').unwrap().1;
    let mut bytes = vec![protocol, 0, 0, 0, 0, 0, 0, 0, 0];
    let mut part = |more: bool, content: &[u8]| {
        bytes.push(content.len() as u8 | u8::from(more) << 7);
        bytes.extend_from_slice(content);
    };
    part(false, format!("127.0.0.1:{port}").as_bytes());
    for (index, hash) in hashes.iter().enumerate() {
        part(index + 1 < hashes.len(), &hash.0);
    }
    if hashes.is_empty() {
        part(false, b"");
    }
    part(false, HOST.as_bytes());
    if protocol == 2 {
        part(false, b"/dns-query");
    }
    format!("sdns://{}", URL_SAFE_NO_PAD.encode(bytes))
}

/// Without an address from elsewhere.
fn stamped_client(stamp: &str, options: &ClientOptions) -> DnsClient {
    let resolver = stamp.parse().unwrap();
    let given = resolab_dns::bootstrap::GivenAddresses::default();
    let located = given.locate(&resolver).unwrap();
    DnsClient::new(resolver, located, options).unwrap()
}

fn assert_answered(record: &QueryRecord, what: &str) {
    assert_eq!(record.failure, None, "{what}: {:?}", record.failure_detail);
    assert_eq!(record.answer_count, Some(1), "{what}");
}

fn assert_refused(record: &QueryRecord, detail: &str, what: &str) {
    let found = record.failure_detail.as_deref().unwrap_or_default();
    assert_eq!(
        record.failure,
        Some(Failure::TlsCertificateInvalid),
        "{what}: {found}"
    );
    assert!(found.contains(detail), "{what}: {found}");
    assert!(record.handshake_mode.is_none(), "{what}");
}

#[tokio::test]
async fn the_right_pin_passes_and_a_wrong_one_does_not() {
    let (resolver, stranger) = servers().await;
    let shown = format!("its public key is {}", resolver.key_pin);
    for scheme in ENCRYPTED {
        let url = resolver.url(scheme);
        let both = pinned(&resolver, &[stranger.key_pin, resolver.key_pin]);
        let record = ask(&client(url, &both)).await;
        assert_answered(&record, scheme);
        assert_eq!(record.certificate_checked, Some(true));
        let wrong = pinned(&resolver, &[stranger.key_pin]);
        let record = ask(&client(url, &wrong)).await;
        assert_refused(&record, &shown, scheme);
    }
}

#[tokio::test]
async fn a_pin_is_beside_the_authorities_not_instead() {
    let (resolver, stranger) = servers().await;
    let options = pinned(&stranger, &[resolver.key_pin]);
    for scheme in ENCRYPTED {
        let record = ask(&client(resolver.url(scheme), &options)).await;
        assert_refused(&record, "", scheme);
    }
}

#[tokio::test]
async fn insecure_asks_anybody_and_says_so() {
    let (resolver, stranger) = servers().await;
    for scheme in ENCRYPTED {
        let url = resolver.url(scheme);
        let record = ask(&client(url, &insecure(&[]))).await;
        assert_answered(&record, scheme);
        assert_eq!(record.certificate_checked, Some(false), "{scheme}");
        let record = ask(&client(url, &insecure(&[resolver.key_pin]))).await;
        assert_answered(&record, scheme);
        assert_eq!(
            record.certificate_checked,
            Some(true),
            "{scheme}: by its pin"
        );
        let record = ask(&client(url, &insecure(&[stranger.key_pin]))).await;
        assert_refused(&record, "which is not pinned", scheme);
    }
    let record = ask(&client(resolver.url("udp"), &insecure(&[]))).await;
    assert_eq!(record.certificate_checked, None, "there is none");
}

#[tokio::test]
async fn pins_and_insecure_do_not_keep_tickets_from_working() {
    let resolver = TestResolver::start(TicketPolicy::EarlyData).await;
    let question = Question::parse("a.test", "A").unwrap();
    for options in [pinned(&resolver, &[resolver.key_pin]), insecure(&[])] {
        for scheme in ENCRYPTED {
            let options = ClientOptions {
                handshake_mode: HandshakeMode::ZeroRtt,
                ..options.clone()
            };
            let client = client(resolver.url(scheme), &options);
            client.prime(&question, 0, DEADLINE).await.unwrap();
            let record = ask(&client).await;
            assert_answered(&record, scheme);
            assert_eq!(
                record.handshake_mode,
                Some(HandshakeMode::ZeroRtt),
                "{scheme}"
            );
            assert_eq!(record.certificate_checked, Some(!options.is_insecure));
        }
    }
}

#[tokio::test]
async fn a_stamp_is_all_a_client_needs() {
    let (resolver, stranger) = servers().await;
    let options = pinned(&resolver, &[]);
    for stamped in STAMPED {
        for hashes in [
            vec![],
            vec![resolver.certificate_hash],
            vec![stranger.certificate_hash, resolver.certificate_hash],
        ] {
            let stamp = stamp(&resolver, stamped, &hashes);
            let record = ask(&stamped_client(&stamp, &options)).await;
            assert_answered(&record, stamped.0);
            assert_eq!(
                (&record.resolver, record.bootstrap),
                (&stamp, Bootstrap::Given)
            );
        }
        let stamp = stamp(&resolver, stamped, &[stranger.certificate_hash]);
        let record = ask(&stamped_client(&stamp, &options)).await;
        assert_refused(&record, "no certificate of its chain", stamped.0);
        let record = ask(&stamped_client(&stamp, &insecure(&[]))).await;
        assert_answered(&record, stamped.0);
    }
}
