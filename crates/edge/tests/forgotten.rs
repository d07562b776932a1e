//! A stub's knowledge of its resolver between loads, as the edge sees it (docs/method/forgotten.md).
#![allow(clippy::unwrap_used)]

use crate::support::ours::{NAMES, client, server};
use crate::support::{Lab, RESOLVER, query_for};
use resolab_dns::ClientOptions;
use resolab_dns::stub::{Stub, StubOptions};
use resolab_record::{EdgeCommand, HandshakeMode, RetryMode, TicketPolicy};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::time::timeout;

const DEADLINE: Duration = Duration::from_secs(10);

/// A stub whose handshakes are early where they can be, and a client of it.
async fn start(lab: &Lab, scheme: &str) -> (Arc<Stub>, UdpSocket) {
    let options = ClientOptions {
        handshake_mode: HandshakeMode::ZeroRtt,
        ..ClientOptions::default()
    };
    let client = client(lab, scheme, server(lab, scheme), options);
    let (sender, records) = channel();
    // Nobody reads them: the edge's own say what happened.
    std::mem::forget(records);
    let listen = "127.0.0.1:0".parse().unwrap();
    let stub = Stub::bind(listen, client, StubOptions::from(DEADLINE), sender);
    let stub = Arc::new(stub.await.unwrap());
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = stub.listen_address().unwrap();
    socket.connect(address).await.unwrap();
    let serving = Arc::clone(&stub);
    tokio::spawn(async move { serving.serve().await });
    (stub, socket)
}

async fn ask(socket: &UdpSocket) {
    socket.send(&query_for("a.resolab.test", 1)).await.unwrap();
    let received = timeout(DEADLINE, socket.recv(&mut [0; 2_000])).await;
    assert!(received.unwrap().unwrap() > 12);
    // Tickets and tokens follow the answer.
    tokio::time::sleep(Duration::from_millis(200)).await;
}

#[tokio::test]
async fn address_tokens_are_forgotten_with_the_tickets_and_kept_with_them() {
    for scheme in ["quic", "h3"] {
        let mut lab = Lab::start_with("", NAMES).await;
        lab.set_policy(Some(RESOLVER), TicketPolicy::EarlyData)
            .await;
        let address = Some(lab.resolver.to_string());
        let retry = RetryMode::WithoutToken;
        let validation = EdgeCommand::SetAddressValidation {
            id: 1,
            address,
            retry,
        };
        lab.command(validation).await;
        let (stub, socket) = start(&lab, scheme).await;
        for forget_tickets in [false, true, true] {
            ask(&socket).await;
            stub.close_connections(forget_tickets).await;
        }
        let connections = lab.connections(3).await;
        let retries: Vec<_> = connections
            .iter()
            .map(|connection| connection.retry_sent)
            .collect();
        assert_eq!(retries, [Some(true), Some(false), Some(true)], "{scheme}");
        let modes: Vec<_> = connections
            .iter()
            .map(|connection| connection.handshake_mode)
            .collect();
        let (full, early) = (Some(HandshakeMode::Full), Some(HandshakeMode::ZeroRtt));
        assert_eq!(modes, [full, early, full], "{scheme}");
    }
}
