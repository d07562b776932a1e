//! Commands that stop new connections or swallow packets, on sockets of every kind.
#![allow(clippy::unwrap_used)]

use crate::support::clients::tls;
use crate::support::{
    Client, HOST, Lab, RESOLVER, ask_doq, assert_answer, framed, open_doq, query,
};
use quinn::crypto::rustls::QuicClientConfig;
use resolab_record::{EdgeCommand, HandshakeMode};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

const SILENCE: Duration = Duration::from_millis(250);
const PATIENCE: Duration = Duration::from_secs(10);

async fn set_accepting(
    lab: &mut Lab,
    accepting: bool,
    name: Option<&str>,
    address: Option<String>,
) {
    lab.command(EdgeCommand::SetAccepting {
        id: 1,
        accepting,
        name: name.map(str::to_owned),
        address,
    })
    .await;
}

async fn set_black_hole(lab: &mut Lab, name: Option<&str>, black_hole: bool) {
    lab.command(EdgeCommand::SetBlackHole {
        id: 1,
        name: name.map(str::to_owned),
        black_hole,
    })
    .await;
}

async fn read_answer<S: AsyncReadExt + Unpin>(stream: &mut S) -> Vec<u8> {
    let length = stream.read_u16().await.unwrap();
    let mut answer = vec![0; usize::from(length)];
    stream.read_exact(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn new_connections_stop_and_open_ones_stay() {
    let mut lab = Lab::start().await;
    let plain: SocketAddr = (lab.resolver, 8053).into();
    let client = lab.quic_client("doq");
    let open = open_doq(&client, lab.doq()).await;
    let address = Some(lab.resolver.to_string());
    set_accepting(&mut lab, false, None, address.clone()).await;
    assert_answer(&lab, &ask_doq(&open).await.unwrap());
    for server in [plain, lab.dot(), lab.doh()] {
        let error = TcpStream::connect(server).await.unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused);
    }
    let refused = client.connect(lab.doq(), RESOLVER).unwrap().await;
    assert!(refused.unwrap_err().to_string().contains("refused"));
    assert_eq!(lab.summary().await.refused_command_count, 1);
    let udp = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    udp.connect(plain).await.unwrap();
    udp.send(&query()).await.unwrap();
    let error = udp.recv(&mut [0; 512]).await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused);
    // The pages have another address.
    Client::tls(&lab, "h2")
        .shake(&lab, lab.web(), HOST, 1)
        .await;
    set_accepting(&mut lab, true, None, None).await;
    Client::tls(&lab, "dot")
        .shake(&lab, lab.dot(), RESOLVER, 2)
        .await;
    assert_answer(
        &lab,
        &ask_doq(&open_doq(&client, lab.doq()).await).await.unwrap(),
    );
}

#[tokio::test]
async fn a_name_can_be_refused_by_itself() {
    let mut lab = Lab::start().await;
    let (page, tls) = (lab.quic_client("h3"), lab.tls_client("h2"));
    set_accepting(&mut lab, false, Some(HOST), None).await;
    assert!(page.connect(lab.web(), HOST).unwrap().await.is_err());
    let tcp = TcpStream::connect(lab.web()).await.unwrap();
    let refused = TlsConnector::from(Arc::clone(&tls))
        .connect(HOST.try_into().unwrap(), tcp)
        .await;
    assert!(refused.is_err());
    open_doq(&lab.quic_client("doq"), lab.doq()).await;
    set_accepting(&mut lab, true, Some(HOST), None).await;
    page.connect(lab.web(), HOST).unwrap().await.unwrap();
    let unknown = EdgeCommand::SetAccepting {
        id: 1,
        accepting: false,
        name: Some("other.test".to_owned()),
        address: None,
    };
    let error = lab.edge.carry_out(unknown).await.unwrap_err();
    assert!(error.contains("other.test"), "{error}");
}

#[tokio::test]
async fn a_black_hole_of_a_name_swallows_it_on_quic_and_leaves_others() {
    let mut lab = Lab::start().await;
    let client = lab.quic_client("doq");
    let open = open_doq(&client, lab.doq()).await;
    // So that both sides know the round trip time: before, their timers begin at a second and the
    // retransmission that counts may be seconds away.
    assert_answer(&lab, &ask_doq(&open).await.unwrap());
    set_black_hole(&mut lab, Some(RESOLVER), true).await;
    let asking = tokio::spawn({
        let open = open.clone();
        async move { ask_doq(&open).await }
    });
    let stranger = lab.quic_client("doq");
    let handshake = stranger.connect(lab.doq(), RESOLVER).unwrap();
    assert!(timeout(SILENCE, handshake).await.is_err());
    assert!(!asking.is_finished());
    Client::quic(&lab, "h3")
        .shake(&lab, lab.web(), HOST, 1)
        .await;
    set_black_hole(&mut lab, Some(RESOLVER), false).await;
    // Retransmissions get through: the connection never closed.
    let answer = timeout(PATIENCE, asking).await.unwrap().unwrap();
    assert_answer(&lab, &answer.unwrap());
}

/// The socket is known for the connection's sake alone.
#[tokio::test]
async fn a_client_whose_swallowed_connection_has_ended_reaches_another_name() {
    let short = "[limits]\nidle_timeout_s = 0.4\n[resolver]";
    let mut lab = Lab::start_edited(|text| text.replacen("[resolver]", short, 1)).await;
    let client = lab.quic_client("doq");
    let swallowed = open_doq(&client, lab.doq()).await;
    set_black_hole(&mut lab, Some(RESOLVER), true).await;
    timeout(PATIENCE, swallowed.closed()).await.unwrap();
    lab.connections(1).await;
    let crypto = QuicClientConfig::try_from(lab.tls_client("h3")).unwrap();
    let other = quinn::ClientConfig::new(Arc::new(crypto));
    let page = client.connect_with(other, lab.web(), HOST).unwrap();
    let page = timeout(PATIENCE, page).await.expect("swallowed, too");
    assert!(page.is_ok());
    let again = client.connect(lab.doq(), RESOLVER).unwrap();
    assert!(timeout(SILENCE, again).await.is_err());
}

#[tokio::test]
async fn a_black_hole_of_everything_holds_tcp_and_datagrams() {
    let mut lab = Lab::start().await;
    let mut plain = TcpStream::connect((lab.resolver, 8053)).await.unwrap();
    plain.write_all(&framed(&query())).await.unwrap();
    assert_answer(&lab, &read_answer(&mut plain).await);
    let tcp = TcpStream::connect(lab.dot()).await.unwrap();
    let connector = TlsConnector::from(lab.tls_client("dot"));
    let mut dot = connector
        .connect(RESOLVER.try_into().unwrap(), tcp)
        .await
        .unwrap();
    dot.write_all(&framed(&query())).await.unwrap();
    assert_answer(&lab, &read_answer(&mut dot).await);
    set_black_hole(&mut lab, None, true).await;
    plain.write_all(&framed(&query())).await.unwrap();
    dot.write_all(&framed(&query())).await.unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    udp.send_to(&query(), (lab.resolver, 8053)).await.unwrap();
    assert!(timeout(SILENCE, udp.recv(&mut [0; 512])).await.is_err());
    assert!(timeout(SILENCE, plain.read_u8()).await.is_err());
    assert!(timeout(SILENCE, dot.read_u8()).await.is_err());
    set_black_hole(&mut lab, None, false).await;
    let answer = timeout(PATIENCE, read_answer(&mut plain)).await.unwrap();
    assert_answer(&lab, &answer);
    let answer = timeout(PATIENCE, read_answer(&mut dot)).await.unwrap();
    assert_answer(&lab, &answer);
    drop((plain, dot));
    let records = lab.connections(2).await;
    let dot = records
        .iter()
        .find(|record| record.tls_version.is_some())
        .unwrap();
    assert_eq!((dot.queries_count, dot.closed_by_client), (2, Some(true)));
    assert_eq!(dot.handshake_mode, Some(HandshakeMode::Full));
}

#[tokio::test]
async fn connections_on_which_nothing_was_said_yet_close_on_command() {
    let mut lab = Lab::start().await;
    let mut silent = Vec::new();
    for (alpn, port) in [
        ("h2", lab.doh()),
        ("http/1.1", lab.doh()),
        ("dot", lab.dot()),
    ] {
        silent.push(tls(&lab.tls_client(alpn), port, RESOLVER).await);
    }
    // It fails when a connection does not go.
    lab.command(EdgeCommand::CloseConnections {
        id: 1,
        name: None,
        names: None,
    })
    .await;
    for mut stream in silent {
        // HTTP/2 says its own settings first.
        let mut said = Vec::new();
        let ended = timeout(PATIENCE, stream.read_to_end(&mut said)).await;
        assert!(ended.is_ok(), "it is still open");
    }
}

#[tokio::test]
async fn connections_of_several_names_are_closed_by_one_command() {
    let mut lab = Lab::start().await;
    let of_resolver = tls(&lab.tls_client("h2"), lab.doh(), RESOLVER).await;
    let of_page = tls(&lab.tls_client("h2"), lab.web(), HOST).await;
    let closing = |names: &[&str]| EdgeCommand::CloseConnections {
        id: 1,
        name: None,
        names: Some(names.iter().map(|&name| name.to_owned()).collect()),
    };
    // No name is no connection, not every one.
    lab.command(closing(&[])).await;
    lab.command(closing(&["nobody.resolab.test"])).await;
    assert_eq!(lab.summary().await.open_connections_count, 2);
    lab.command(closing(&[HOST, RESOLVER])).await;
    for mut stream in [of_resolver, of_page] {
        let mut said = Vec::new();
        let ended = timeout(PATIENCE, stream.read_to_end(&mut said)).await;
        assert!(ended.is_ok(), "it is still open");
    }
}

#[tokio::test]
async fn a_name_and_names_together_are_refused() {
    let mut lab = Lab::start().await;
    let both = EdgeCommand::CloseConnections {
        id: 1,
        name: Some(HOST.to_owned()),
        names: Some(vec![RESOLVER.to_owned()]),
    };
    let error = lab.edge.carry_out(both).await.unwrap_err();
    assert!(error.contains("not both"), "{error}");
}
