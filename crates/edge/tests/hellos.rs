//! What both ends say of a connection's hellos, against each other and against what a relay between
//! them saw; every key exchange group with every transport and handshake.
#![allow(clippy::unwrap_used)]

use crate::support::ours::{client, server};
use crate::support::relay::{Relayed, relayed_tcp, relayed_udp};
use crate::support::{Lab, RESOLVER};
use resolab_dns::{ClientOptions, DnsClient, PendingQuery, Question};
use resolab_record::{
    ConnectionRecord, HandshakeMode, KeyExchangeGroup, QueryPurpose, QueryRecord,
};
use std::net::SocketAddr;
use std::time::Duration;

const DEADLINE: Duration = Duration::from_secs(5);
const SCHEMES: [&str; 4] = ["tls", "https", "h3", "quic"];

fn is_quic(scheme: &str) -> bool {
    matches!(scheme, "h3" | "quic")
}

async fn ask(client: &DnsClient) -> QueryRecord {
    let question = Question::parse("example.resolab.test", "A").unwrap();
    let asking = PendingQuery::begin(client, &question);
    let mut slot = None;
    let outcome = asking.ask(&mut slot, DEADLINE).await;
    let record = asking.record(&outcome, QueryPurpose::Measured, 0, None);
    assert_eq!(record.failure, None, "{:?}", record.failure_detail);
    slot.unwrap().0.close().await;
    record
}

/// Both ends' records of one connection, primed first if need be.
async fn records(
    lab: &Lab,
    scheme: &str,
    at: SocketAddr,
    handshake_mode: HandshakeMode,
    groups: &[KeyExchangeGroup],
) -> (QueryRecord, ConnectionRecord) {
    let options = ClientOptions {
        handshake_mode,
        groups: groups.to_vec(),
        ..ClientOptions::default()
    };
    let client = client(lab, scheme, at, options);
    let mut ended_count = lab.ended_connections().len() + 1;
    if handshake_mode != HandshakeMode::Full {
        let question = Question::parse("example.resolab.test", "A").unwrap();
        client.prime(&question, 0, DEADLINE).await.unwrap();
        ended_count += 1;
    }
    let query = ask(&client).await;
    let mut ended = lab.connections(ended_count).await;
    ended.sort_by_key(|connection| connection.accepted_ns);
    (query, ended.pop().unwrap())
}

fn assert_alike(query: &QueryRecord, connection: &ConnectionRecord, of: &str) {
    let (ours, theirs) = (&query.hello_facts, &connection.hello_facts);
    assert_eq!(ours.key_exchange_group, theirs.key_exchange_group, "{of}");
    assert_eq!(ours.hello_retry_request, theirs.hello_retry_request, "{of}");
    assert_eq!(ours.client_hello_bytes, theirs.client_hello_bytes, "{of}");
    assert_eq!(ours.server_hello_bytes, theirs.server_hello_bytes, "{of}");
    assert_eq!(ours.certificate_bytes, theirs.certificate_bytes, "{of}");
    assert_eq!(
        ours.client_hello_packets_count, theirs.client_hello_packets_count,
        "{of}"
    );
    assert!(theirs.server_flight_packets_count.is_some(), "{of}");
}

#[tokio::test]
async fn every_group_is_spoken_over_every_transport_with_every_handshake() {
    let lab = Lab::start_with("ticket_policy = \"early_data\"", "").await;
    let modes = [
        HandshakeMode::Full,
        HandshakeMode::Resumed,
        HandshakeMode::ZeroRtt,
    ];
    for scheme in SCHEMES {
        for mode in modes {
            let alone = KeyExchangeGroup::ALL.map(|group| vec![group]);
            for groups in alone.iter().chain([&KeyExchangeGroup::ALL.to_vec()]) {
                let of = format!("{scheme} {mode:?} {groups:?}");
                let at = server(&lab, scheme);
                let (query, connection) = records(&lab, scheme, at, mode, groups).await;
                assert_eq!(query.handshake_mode, Some(mode), "{of}");
                assert_alike(&query, &connection, &of);
                let facts = &query.hello_facts;
                assert_eq!(facts.key_exchange_group, Some(groups[0]), "{of}");
                assert_eq!(facts.hello_retry_request, Some(false), "{of}");
                let has_certificate = facts.certificate_bytes.is_some();
                assert_eq!(has_certificate, mode == HandshakeMode::Full, "{of}");
                // 1,184 bytes of ML-KEM's key and 32 of x25519's more than nothing.
                let is_large = facts.client_hello_bytes.unwrap() > 1_216;
                assert_eq!(
                    is_large,
                    groups[0] == KeyExchangeGroup::X25519Mlkem768,
                    "{of}"
                );
            }
        }
    }
}

#[tokio::test]
async fn a_server_with_another_group_asks_again_and_tickets_still_count() {
    let edit = |text: String| text.replace("[web]", "[tls]\ngroups = [\"secp384r1\"]\n[web]");
    let early = |text: String| edit(text).replace("[tls]", "ticket_policy = \"early_data\"\n[tls]");
    let lab = Lab::start_edited(early).await;
    for scheme in SCHEMES {
        for (asked, expected) in [
            (HandshakeMode::Full, HandshakeMode::Full),
            (HandshakeMode::Resumed, HandshakeMode::Resumed),
            // RFC 8446 section 4.1.2: a second ClientHello has no early data.
            (HandshakeMode::ZeroRtt, HandshakeMode::Resumed),
        ] {
            let of = format!("{scheme} {asked:?}");
            let at = server(&lab, scheme);
            let groups = &KeyExchangeGroup::ALL;
            let (query, connection) = records(&lab, scheme, at, asked, groups).await;
            assert_eq!(query.handshake_mode, Some(expected), "{of}");
            assert_eq!(connection.handshake_mode, Some(expected), "{of}");
            assert_alike(&query, &connection, &of);
            let facts = &connection.hello_facts;
            assert_eq!(facts.hello_retry_request, Some(true), "{of}");
            let group = Some(KeyExchangeGroup::Secp384r1);
            assert_eq!(facts.key_exchange_group, group, "{of}");
        }
    }
}

/// Length of the ClientHello at the beginning of a TCP stream, by its own headers.
fn client_hello_bytes(relayed: &Relayed) -> u32 {
    let bytes = relayed.up_bytes();
    assert_eq!(
        (bytes[0], bytes[5]),
        (22, 1),
        "a handshake record with a ClientHello"
    );
    4 + u32::from_be_bytes([0, bytes[6], bytes[7], bytes[8]])
}

#[tokio::test]
async fn records_say_what_a_relay_saw() {
    let lab = Lab::start().await;
    let classic = vec![KeyExchangeGroup::X25519];
    for (groups, hello_datagrams) in [(KeyExchangeGroup::ALL.to_vec(), 2), (classic, 1)] {
        for scheme in SCHEMES {
            let of = format!("{scheme} {groups:?}");
            let server = server(&lab, scheme);
            let relayed = if is_quic(scheme) {
                relayed_udp(server).await
            } else {
                relayed_tcp(server).await
            };
            let at = relayed.address;
            let full = HandshakeMode::Full;
            let (query, connection) = records(&lab, scheme, at, full, &groups).await;
            assert_alike(&query, &connection, &of);
            let facts = &connection.hello_facts;
            if is_quic(scheme) {
                let (up, down) = relayed.first_flights();
                assert_eq!(up, hello_datagrams, "{of}");
                assert_eq!(facts.client_hello_packets_count, Some(up), "{of}");
                assert_eq!(facts.server_flight_packets_count, Some(down), "{of}");
            } else {
                let seen = client_hello_bytes(&relayed);
                assert_eq!(facts.client_hello_bytes, Some(seen), "{of}");
            }
        }
    }
}

/// What `openssl s_client` says of a connection with one group on offer.
async fn s_client(server: SocketAddr, group: &'static str) -> String {
    let run = move || {
        let connect = server.to_string();
        let arguments = ["s_client", "-connect", &connect, "-servername", RESOLVER];
        std::process::Command::new("openssl")
            .args(arguments)
            .args(["-groups", group, "-alpn", "dot"])
            .stdin(std::process::Stdio::null())
            .output()
            .expect("openssl: install it with scripts/setup --interop")
    };
    let output = tokio::task::spawn_blocking(run).await.unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[tokio::test]
async fn openssl_agrees_on_the_groups_it_has() {
    let lab = Lab::start().await;
    for (number, (name, group)) in [
        ("X25519", KeyExchangeGroup::X25519),
        ("P-256", KeyExchangeGroup::Secp256r1),
        ("P-384", KeyExchangeGroup::Secp384r1),
    ]
    .into_iter()
    .enumerate()
    {
        let ended = s_client(lab.dot(), name).await;
        assert!(ended.contains("TLSv1.3"), "{name}: {ended}");
        let connection = lab.connections(number + 1).await.pop().unwrap();
        let facts = connection.hello_facts;
        assert_eq!(facts.key_exchange_group, Some(group), "{name}");
        assert_eq!(facts.hello_retry_request, Some(false), "{name}");
    }
}
