//! DNS and pages on one connection: by HTTP/3 with an ORIGIN frame, and under the private ALPN.
#![allow(clippy::unwrap_used)]

use crate::support::{HOST, Lab, RESOLVER, assert_answer, delayed_udp, framed, ours, query};
use bytes::{Buf, Bytes};
use http::{Request, Response};
use quinn::{Connection, Endpoint, VarInt};
use resolab_dns::{ClientOptions, ForgetScope, Question};
use resolab_edge::EdgeConfig;
use resolab_http::{ControlReader, Origins, private_alpn};
use resolab_record::{DnsTransport, EdgeCommand, HandshakeMode, HttpVersion};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

type Http = h3::client::SendRequest<h3_quinn::OpenStreams, Bytes>;

const BOTH: &str = "[coalescing]\nshared_connection = true\nprivate_alpn = true\n";

async fn open(quic: &Connection) -> Http {
    let (mut driver, http) = h3::client::new(h3_quinn::Connection::new(quic.clone()))
        .await
        .unwrap();
    tokio::spawn(async move { std::future::poll_fn(|cx| driver.poll_close(cx)).await });
    http
}

async fn connect(client: &Endpoint, server: SocketAddr) -> Connection {
    client.connect(server, RESOLVER).unwrap().await.unwrap()
}

async fn get(http: &mut Http, host: &str) -> (Response<()>, usize) {
    let request = Request::get(format!("https://{host}/img/a.png"));
    let mut stream = http.send_request(request.body(()).unwrap()).await.unwrap();
    stream.finish().await.unwrap();
    let response = stream.recv_response().await.unwrap();
    let mut length = 0;
    while let Some(chunk) = stream.recv_data().await.unwrap() {
        length += chunk.remaining();
    }
    (response, length)
}

async fn ask(quic: &Connection) -> Vec<u8> {
    let (mut send, mut receive) = quic.open_bi().await.unwrap();
    let bytes = [&private_alpn::DNS_PREFIX[..], &framed(&query())].concat();
    send.write_all(&bytes).await.unwrap();
    send.finish().unwrap();
    receive.read_to_end(1_000).await.unwrap()
}

/// What the server's control stream has said after half a second at most.
async fn origins_of(quic: &Connection) -> Origins {
    let origins = Origins::default();
    let read = async {
        while let Ok(mut stream) = quic.accept_uni().await {
            let mut reader = ControlReader::new(Arc::new(origins.clone()));
            tokio::spawn(async move {
                while let Ok(Some(chunk)) = stream.read_chunk(usize::MAX, true).await {
                    reader.feed(&chunk.bytes);
                }
            });
        }
    };
    let known = async {
        while !origins.are_known() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::select! {
        () = read => {},
        () = known => {},
        () = tokio::time::sleep(Duration::from_millis(500)) => {},
    }
    origins
}

#[tokio::test]
async fn pages_come_on_the_resolvers_connection_only_when_told() {
    for (more, status) in [
        (BOTH, 200),
        ("", 421),
        ("[coalescing]\nprivate_alpn = true", 421),
    ] {
        let lab = Lab::start_with("", more).await;
        let quic = connect(&lab.quic_client("h3"), lab.doh()).await;
        let mut http = open(&quic).await;
        let (head, _) = get(&mut http, HOST).await;
        assert_eq!(head.status().as_u16(), status, "{more}");
        assert_eq!(lab.requests(1).await[0].http_version, HttpVersion::H3);
        // A certificate of the sites' own does as before.
        let client = lab.quic_client("h3");
        let quic = client.connect(lab.web(), HOST).unwrap().await.unwrap();
        let (head, _) = get(&mut open(&quic).await, HOST).await;
        assert_eq!(head.status(), 200);
    }
}

#[tokio::test]
async fn the_certificate_covers_what_the_origin_frame_names() {
    let lab = Lab::start_with("", BOTH).await;
    for alpn in ["h3", private_alpn::ALPN] {
        let quic = connect(&lab.quic_client(alpn), lab.doh()).await;
        let origins = origins_of(&quic).await;
        for host in [RESOLVER, HOST] {
            let origin = format!("https://{host}:8443");
            assert!(origins.contain(&origin), "{alpn}: {origins:?}");
        }
        // The certificate is the same, so asking by the site's name at the resolver's place proves
        // it: rustls checks that name.
        let identity = quic.peer_identity().unwrap();
        let chain = identity
            .downcast::<Vec<rustls::pki_types::CertificateDer<'static>>>()
            .unwrap();
        let leaf = rustls::server::ParsedCertificate::try_from(&chain[0]).unwrap();
        for host in [RESOLVER, HOST] {
            let name = rustls::pki_types::ServerName::try_from(host).unwrap();
            rustls::client::verify_server_name(&leaf, &name).unwrap();
        }
    }
    for more in ["", &format!("{BOTH}origin_frame = false\n")] {
        let lab = Lab::start_with("", more).await;
        let quic = connect(&lab.quic_client("h3"), lab.doh()).await;
        assert!(!origins_of(&quic).await.are_known(), "{more}");
    }
}

#[tokio::test]
async fn queries_and_requests_share_a_private_connection() {
    let lab = Lab::start_with("", BOTH).await;
    let quic = connect(&lab.quic_client(private_alpn::ALPN), lab.doh()).await;
    let mut http = open(&quic).await;
    // Says nothing, then half of the prefix: holds up nobody.
    let (mut silent, _receive) = quic.open_bi().await.unwrap();
    silent.write_all(b"").await.unwrap();
    let (mut slow, mut answer) = quic.open_bi().await.unwrap();
    slow.write_all(&private_alpn::DNS_PREFIX[..1])
        .await
        .unwrap();
    for _ in 0..3 {
        let (head, length) = get(&mut http, HOST).await;
        assert_eq!((head.status().as_u16(), length), (200, lab.image.len()));
        assert_answer(&lab, &ask(&quic).await[2..]);
    }
    for byte in [&private_alpn::DNS_PREFIX[1..], &framed(&query())].concat() {
        slow.write_all(&[byte]).await.unwrap();
        tokio::task::yield_now().await;
    }
    slow.finish().unwrap();
    assert_answer(&lab, &answer.read_to_end(1_000).await.unwrap()[2..]);
    let queries = lab.queries(4).await;
    assert!(
        queries
            .iter()
            .all(|query| query.dns_transport == DnsTransport::Doq)
    );
    let requests = lab.requests(3).await;
    assert_eq!(queries[0].connection_id, Some(requests[0].connection_id));
    quic.close(VarInt::from_u32(0x100), b"");
    let connection = lab.connections(1).await.remove(0);
    assert_eq!(connection.alpn.as_deref(), Some(private_alpn::ALPN));
    assert_eq!(connection.failure, None);
}

#[tokio::test]
async fn a_broken_query_ends_a_private_connection_with_doqs_code() {
    let lab = Lab::start_with("", BOTH).await;
    let quic = connect(&lab.quic_client(private_alpn::ALPN), lab.doh()).await;
    let (mut send, _receive) = quic.open_bi().await.unwrap();
    send.write_all(b"DQ\x00\x00").await.unwrap();
    let closed = quic.closed().await;
    let quinn::ConnectionError::ApplicationClosed(close) = &closed else {
        panic!("{closed}");
    };
    assert_eq!(close.error_code.into_inner(), 2);
}

#[tokio::test]
async fn one_ticket_carries_a_query_and_a_request_in_early_data() {
    let lab = Lab::start_with("", BOTH).await;
    let server = delayed_udp(lab.doh()).await;
    let client = lab.quic_client(private_alpn::ALPN);
    let quic = connect(&client, server).await;
    get(&mut open(&quic).await, HOST).await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    quic.close(VarInt::from_u32(0x100), b"");
    client.wait_idle().await;
    let connecting = client.connect(server, RESOLVER).unwrap();
    let (quic, accepted) = connecting
        .into_0rtt()
        .unwrap_or_else(|_| panic!("no ticket"));
    let mut http = open(&quic).await;
    let (answer, (head, _)) = tokio::join!(ask(&quic), get(&mut http, HOST));
    assert!(accepted.await);
    assert_answer(&lab, &answer[2..]);
    assert_eq!(head.status(), 200);
    assert_eq!(lab.queries(1).await[0].in_early_data, Some(true));
    assert!(lab.requests(2).await[1].in_early_data);
}

#[tokio::test]
async fn our_client_knows_the_tickets_of_the_private_alpn_for_its_own() {
    let lab = Lab::start_with("", BOTH).await;
    let options = ClientOptions {
        handshake_mode: HandshakeMode::Resumed,
        ..ClientOptions::default()
    };
    let client = ours::client(&lab, "quic", lab.doh(), options);
    let client = client.with_pages((1 << 20, 1 << 20)).unwrap();
    let question = Question::parse(HOST, "A").unwrap();
    let primed = client.prime(&question, 0, Duration::from_secs(5)).await;
    assert_eq!(primed.unwrap().failure, None);
    let tickets = client.tickets.as_ref().unwrap();
    assert!(tickets.count() > 0);
    client.forget(ForgetScope::All);
    assert_eq!(tickets.count(), 0);
}

#[tokio::test]
async fn pages_without_doh3_to_share_are_refused() {
    let text = format!(
        "{BOTH}[ca]\nfolder = 'x'\n[resolver]\nname = 'a.test'\naddresses = ['127.0.0.1']\n\
         ports = {{ doq = 853 }}"
    );
    let error = EdgeConfig::parse(&text, "e").unwrap_err().to_string();
    assert!(error.contains("doh3"), "{error}");
}

/// Origins that a connection for a name at the sites' place tells.
async fn told_at_sites(lab: &Lab, name: &str) -> Origins {
    let client = lab.quic_client("h3");
    let quic = client.connect(lab.web(), name).unwrap().await.unwrap();
    origins_of(&quic).await
}

#[tokio::test]
async fn a_certificate_of_several_names_tells_those_that_are_there() {
    let more =
        "[[certificate]]\nnames = [\"*.resolab.test\", \"x.other.test\"]\norigin_frame = true\n";
    let mut lab = Lab::start_with("", more).await;
    let other = |host: &str| EdgeCommand::LoadSite {
        id: 1,
        host: host.to_owned(),
        folder: None,
        address: None,
        settings: Some("generated_prefix = '/'".to_owned()),
    };
    for host in ["x.other.test", "y.other.test"] {
        lab.edge.carry_out(other(host)).await.unwrap();
    }
    let origins = told_at_sites(&lab, HOST).await;
    for (host, is_named) in [
        (HOST, true),
        ("x.other.test", true),
        ("y.other.test", false),
    ] {
        let origin = format!("https://{host}:8443");
        assert_eq!(origins.contain(&origin), is_named, "{host}: {origins:?}");
    }
    for telling in [false, true] {
        let command = EdgeCommand::SetOriginFrames { id: 1, telling };
        lab.edge.carry_out(command).await.unwrap();
        assert_eq!(told_at_sites(&lab, HOST).await.are_known(), telling);
    }
    // One of its own says nothing.
    assert!(!told_at_sites(&lab, "y.other.test").await.are_known());
}

#[tokio::test]
async fn names_that_come_later_can_be_put_on_the_resolvers_certificate() {
    let mut lab = Lab::start_with("", BOTH).await;
    let cover = |names: &[&str]| EdgeCommand::CoverNames {
        id: 1,
        names: names.iter().map(|&name| name.to_owned()).collect(),
    };
    for (names, status) in [
        (&["a.test"][..], 421),
        (&["*.resolab.test"], 200),
        (&[], 421),
    ] {
        lab.edge.carry_out(cover(names)).await.unwrap();
        let quic = connect(&lab.quic_client("h3"), lab.doh()).await;
        let named = origins_of(&quic).await;
        let is_named = named.contain(&format!("https://{HOST}:8443"));
        assert_eq!(is_named, status == 200, "{names:?}: {named:?}");
        let (head, _) = get(&mut open(&quic).await, HOST).await;
        assert_eq!(head.status().as_u16(), status, "{names:?}");
        let identity = quic.peer_identity().unwrap();
        let chain = identity
            .downcast::<Vec<rustls::pki_types::CertificateDer<'static>>>()
            .unwrap();
        let leaf = rustls::server::ParsedCertificate::try_from(&chain[0]).unwrap();
        let name = rustls::pki_types::ServerName::try_from(HOST).unwrap();
        let covers = rustls::client::verify_server_name(&leaf, &name).is_ok();
        assert_eq!(covers, status == 200, "{names:?}");
    }
    let mut lab = Lab::start_with("", "").await;
    let error = lab.edge.carry_out(cover(&[HOST])).await.unwrap_err();
    assert!(error.contains("[coalescing]"), "{error}");
}
