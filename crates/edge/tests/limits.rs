//! Clients that take too much or too long: what they get, what is counted, and that others are
//! served meanwhile.
#![allow(clippy::unwrap_used)]

mod support;

use resolab_dns::{ClientOptions, PendingQuery, Question};
use resolab_record::{EdgeCommand, Failure, KeyExchangeGroup, QueryPurpose};
use rustls::ClientConfig;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use support::ours::client;
use support::{Lab, RESOLVER, ask_doq, assert_answer, framed, open_doq, query};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

const PATIENCE: Duration = Duration::from_secs(10);
const SHORT: &str = "[limits]\nhandshake_timeout_s = 0.4\nmessage_timeout_s = 0.3\nidle_timeout_s = 0.4\n[resolver]";

async fn short() -> Lab {
    Lab::start_edited(|text| text.replacen("[resolver]", SHORT, 1)).await
}

async fn connect(
    config: Arc<ClientConfig>,
    lab: &Lab,
    port: u16,
) -> std::io::Result<TlsStream<TcpStream>> {
    let tcp = TcpStream::connect((lab.resolver, port)).await?;
    TlsConnector::from(config)
        .connect(RESOLVER.try_into().unwrap(), tcp)
        .await
}

/// Until the other side is gone, writing a byte now and then.
async fn trickle<S: AsyncReadExt + AsyncWriteExt + Unpin>(stream: &mut S, byte: u8) {
    let ended = timeout(PATIENCE, async {
        loop {
            let mut bytes = [0; 4_096];
            match timeout(Duration::from_millis(50), stream.read(&mut bytes)).await {
                Ok(Ok(0) | Err(_)) => return,
                Ok(Ok(_)) => {}
                Err(_) => {
                    if stream.write_all(&[byte]).await.is_err() {
                        return;
                    }
                    let _ = stream.flush().await;
                }
            }
        }
    });
    ended.await.expect("the edge never closed it");
}

#[tokio::test]
async fn trickling_clients_are_closed_on_every_transport() {
    let mut lab = short().await;
    let mut plain = TcpStream::connect((lab.resolver, 8053)).await.unwrap();
    trickle(&mut plain, 1).await;
    let mut silent = TcpStream::connect(lab.dot()).await.unwrap();
    trickle(&mut silent, 22).await;
    let mut dot = connect(lab.tls_client("dot"), &lab, 8853).await.unwrap();
    trickle(&mut dot, 1).await;
    let mut doh = connect(lab.tls_client("h2"), &lab, 8443).await.unwrap();
    doh.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00")
        .await
        .unwrap();
    // A head of 16,384 bytes, one at a time.
    doh.write_all(b"\x00\x40\x00\x01\x04\x00\x00\x00\x01")
        .await
        .unwrap();
    trickle(&mut doh, 0).await;
    let mut silent_h2 = connect(lab.tls_client("h2"), &lab, 8443).await.unwrap();
    trickle(&mut silent_h2, b'P').await;
    let records = lab.connections(5).await;
    assert!(
        records
            .iter()
            .all(|record| record.closed_by_client != Some(true)),
        "{records:#?}"
    );
    let stalled = |record: &&resolab_record::ConnectionRecord| {
        record.failure == Some(Failure::TlsHandshakeTimeout)
    };
    assert_eq!(records.iter().filter(stalled).count(), 1);
    let summary = lab.summary().await;
    assert_eq!(summary.handshake_timeouts_count, 1);
    assert!(summary.slow_peers_count >= 2, "{summary:?}");
    assert_eq!(summary.open_connections_count, 0);
}

#[tokio::test]
async fn a_doq_stream_whose_query_never_ends_is_reset_alone() {
    let lab = Lab::start_edited(|text| {
        text.replacen(
            "[resolver]",
            "[limits]\nmessage_timeout_s = 0.3\n[resolver]",
            1,
        )
    })
    .await;
    let quic = open_doq(&lab.quic_client("doq"), lab.doq()).await;
    let (mut send, mut receive) = quic.open_bi().await.unwrap();
    send.write_all(&framed(&query())[..9]).await.unwrap();
    let error = timeout(PATIENCE, receive.read_to_end(9))
        .await
        .unwrap()
        .unwrap_err();
    assert!(error.to_string().contains("reset"), "{error}");
    assert_answer(&lab, &ask_doq(&quic).await.unwrap());
}

#[tokio::test]
async fn connections_are_limited_by_peer_and_in_all() {
    for (key, peer, total) in [
        ("connections_per_peer_count", 1, 0),
        ("connections_count", 0, 1),
    ] {
        let limit = format!("[limits]\n{key} = 2\n[resolver]");
        let mut lab = Lab::start_edited(|text| text.replacen("[resolver]", &limit, 1)).await;
        let client = lab.quic_client("doq");
        let quic = open_doq(&client, lab.doq()).await;
        let plain = TcpStream::connect((lab.resolver, 8053)).await.unwrap();
        while lab.summary().await.open_connections_count < 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert!(client.connect(lab.doq(), RESOLVER).unwrap().await.is_err());
        let summary = lab.summary().await;
        assert_eq!(
            (summary.refused_peer_count, summary.refused_total_count),
            (peer, total)
        );
        drop(plain);
        lab.connections(1).await;
        open_doq(&client, lab.doq()).await;
        assert_answer(&lab, &ask_doq(&quic).await.unwrap());
    }
}

fn tls12_client(lab: &Lab) -> Arc<ClientConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS12])
        .unwrap()
        .with_root_certificates(lab.roots())
        .with_no_client_auth();
    config.alpn_protocols = vec![b"dot".to_vec()];
    Arc::new(config)
}

#[tokio::test]
async fn tls_1_2_is_refused_unless_told() {
    let mut lab = Lab::start().await;
    assert!(connect(tls12_client(&lab), &lab, 8853).await.is_err());
    lab.connections(1).await;
    assert_eq!(lab.summary().await.refused_tls_version_count, 1);
    let both = "[tls]\nversions = [\"1.2\", \"1.3\"]\n[resolver]";
    let lab = Lab::start_edited(|text| text.replacen("[resolver]", both, 1)).await;
    let mut dot = connect(tls12_client(&lab), &lab, 8853).await.unwrap();
    dot.write_all(&framed(&query())).await.unwrap();
    let length = dot.read_u16().await.unwrap();
    let mut answer = vec![0; usize::from(length)];
    dot.read_exact(&mut answer).await.unwrap();
    assert_answer(&lab, &answer);
    dot.shutdown().await.unwrap();
    assert_eq!(
        lab.connections(1).await[0].tls_version.as_deref(),
        Some("1.2")
    );
}

#[tokio::test]
async fn floods_of_malformed_initials_and_of_streams_leave_good_clients_served() {
    let mut lab = Lab::start().await;
    let client = lab.quic_client("doq");
    let good = open_doq(&client, lab.doq()).await;
    let flood = open_doq(&client, lab.doq()).await;
    let mut held = Vec::new();
    while let Ok(Ok(stream)) = timeout(Duration::from_millis(100), flood.open_bi()).await {
        held.push(stream);
    }
    assert_eq!(held.len(), 100);
    let before = lab.summary().await.resident_bytes;
    let udp = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let mut random = 1_u32;
    for number in 0..20_000_u32 {
        let mut packet = vec![0; 1_200];
        for byte in &mut packet {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            *byte = (random >> 24) as u8;
        }
        // An Initial of version 1 with connection ids of 8 bytes and no token; the rest is noise.
        packet[..6].copy_from_slice(&[0xC0, 0, 0, 0, 1, 8]);
        packet[14] = 8;
        packet[23..26].copy_from_slice(&[0, 0x44, 0x80]);
        udp.send_to(&packet, lab.doq()).await.unwrap();
        if number % 100 == 0 {
            tokio::task::yield_now().await;
        }
        if number % 5_000 == 0 {
            let answer = timeout(PATIENCE, ask_doq(&good)).await.unwrap();
            assert_answer(&lab, &answer.unwrap());
        }
    }
    let new = timeout(PATIENCE, open_doq(&client, lab.doq()))
        .await
        .unwrap();
    assert_answer(&lab, &ask_doq(&new).await.unwrap());
    let grown = lab.summary().await.resident_bytes.saturating_sub(before);
    assert!(grown < 64 << 20, "{grown} bytes more");
}

#[tokio::test]
async fn an_oversized_head_is_refused_and_the_connection_goes_on() {
    let lab = Lab::start().await;
    let stream = connect(lab.tls_client("h2"), &lab, 8443).await.unwrap();
    let (http, connection) = h2::client::handshake(stream).await.unwrap();
    tokio::spawn(connection);
    let mut http = http.ready().await.unwrap();
    let get = || http::Request::get(format!("https://{RESOLVER}/nothing"));
    let huge = get()
        .header("x-filler", "x".repeat(200_000))
        .body(())
        .unwrap();
    let refused = match http.send_request(huge, true) {
        Ok((response, _)) => timeout(PATIENCE, response).await.unwrap(),
        Err(error) => Err(error),
    };
    assert!(refused.is_err() || refused.unwrap().status() == 431);
    let good = open_doq(&lab.quic_client("doq"), lab.doq()).await;
    assert_answer(&lab, &ask_doq(&good).await.unwrap());
}

/// A way to `server` on which a client's first datagram arrives and nothing more, either way.
async fn first_datagram_alone(server: SocketAddr) -> SocketAddr {
    let near = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let far = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = near.local_addr().unwrap();
    tokio::spawn(async move {
        let mut datagram = vec![0; 65_536];
        let (count, _) = near.recv_from(&mut datagram).await.unwrap();
        far.send_to(&datagram[..count], server).await.unwrap();
        // Both stay: a closed port would be told of.
        std::future::pending::<()>().await;
        drop((near, far));
    });
    address
}

/// A client whose hello takes two datagrams, of which one arrives.
async fn half_a_hello(lab: &Lab) -> tokio::task::JoinHandle<()> {
    let at = first_datagram_alone(lab.doq()).await;
    let options = ClientOptions {
        groups: vec![KeyExchangeGroup::X25519Mlkem768],
        ..ClientOptions::default()
    };
    let client = client(lab, "quic", at, options);
    tokio::spawn(async move {
        let question = Question::parse("example.resolab.test", "A").unwrap();
        let asking = PendingQuery::begin(&client, &question);
        let outcome = asking.ask(&mut None, PATIENCE).await;
        assert!(
            asking
                .record(&outcome, QueryPurpose::Measured, 0, None)
                .failure
                .is_some()
        );
    })
}

#[tokio::test]
async fn a_hello_of_which_a_part_is_lost_for_good_ends_in_time() {
    let mut lab = short().await;
    let asking = half_a_hello(&lab).await;
    let record = lab.connections(1).await.pop().unwrap();
    assert_eq!(
        record.failure,
        Some(Failure::QuicHandshakeTimeout),
        "{record:?}"
    );
    assert_eq!(lab.summary().await.handshake_timeouts_count, 1);
    asking.abort();
}

#[tokio::test]
async fn what_is_to_close_does_not_wait_for_a_hello() {
    let mut lab = Lab::start().await;
    let asking = half_a_hello(&lab).await;
    while lab.summary().await.open_connections_count == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let close = EdgeCommand::CloseConnections {
        id: 1,
        name: None,
        names: None,
    };
    lab.command(close).await;
    let record = lab.connections(1).await.pop().unwrap();
    assert_eq!(record.failure, None, "{record:?}");
    assert_eq!(lab.summary().await.open_connections_count, 0);
    asking.abort();
}
