//! DoT and DoH over TLS and TCP: policies, early data, HTTP/2, with clients that are not ours.
#![allow(clippy::unwrap_used)]

use crate::support::{HOST, Lab, RESOLVER, assert_answer, delayed_tcp, framed, query};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use http::{Method, Request};
use resolab_record::{DnsTransport, EdgeCommand, HandshakeMode, Record, TicketPolicy};
use rustls::ClientConfig;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

async fn connect(
    config: &Arc<ClientConfig>,
    server: SocketAddr,
    name: &str,
) -> TlsStream<TcpStream> {
    let tcp = TcpStream::connect(server).await.unwrap();
    tcp.set_nodelay(true).unwrap();
    let connector = TlsConnector::from(Arc::clone(config)).early_data(true);
    connector
        .connect(name.to_owned().try_into().unwrap(), tcp)
        .await
        .unwrap()
}

/// One DoT connection with one query; whether its early data was accepted.
async fn ask(lab: &Lab, config: &Arc<ClientConfig>, server: SocketAddr) -> bool {
    let mut stream = connect(config, server, RESOLVER).await;
    stream.write_all(&framed(&query())).await.unwrap();
    stream.flush().await.unwrap();
    let mut length = [0; 2];
    stream.read_exact(&mut length).await.unwrap();
    let mut answer = vec![0; usize::from(u16::from_be_bytes(length))];
    stream.read_exact(&mut answer).await.unwrap();
    assert_answer(lab, &answer);
    // Tickets come after the client's Finished.
    let _ = tokio::time::timeout(Duration::from_millis(60), stream.read_u8()).await;
    let accepted = stream.get_ref().1.is_early_data_accepted();
    stream.shutdown().await.unwrap();
    accepted
}

async fn verdict(lab: &Lab, count: usize) -> (Option<HandshakeMode>, Option<bool>, Option<bool>) {
    let connection = lab.connections(count).await.pop().unwrap();
    assert_eq!(connection.failure, None, "{:?}", connection.failure_detail);
    let query = lab.queries(count).await.pop().unwrap();
    assert_eq!(query.dns_transport, DnsTransport::Dot);
    (
        connection.handshake_mode,
        connection.early_data_accepted,
        query.in_early_data,
    )
}

#[tokio::test]
async fn dot_answers_early_data_before_the_handshake_is_complete() {
    let lab = Lab::start().await;
    let (config, server) = (lab.tls_client("dot"), delayed_tcp(lab.dot()).await);
    assert!(!ask(&lab, &config, server).await);
    assert_eq!(
        verdict(&lab, 1).await,
        (Some(HandshakeMode::Full), None, Some(false))
    );
    for count in 2..5 {
        assert!(ask(&lab, &config, server).await);
        let early = (Some(HandshakeMode::ZeroRtt), Some(true), Some(true));
        assert_eq!(verdict(&lab, count).await, early);
        let query = lab.queries(count).await.pop().unwrap();
        let connection = lab.connections(count).await.pop().unwrap();
        assert!(query.answered_ns < connection.handshake_complete_ns);
    }
}

#[tokio::test]
async fn tls_policies_change_live() {
    let mut lab = Lab::start().await;
    let (config, server) = (lab.tls_client("dot"), delayed_tcp(lab.dot()).await);
    ask(&lab, &config, server).await;
    let steps = [
        (
            TicketPolicy::RejectEarlyData,
            Some(false),
            HandshakeMode::Resumed,
        ),
        (TicketPolicy::None, Some(false), HandshakeMode::Full),
        (TicketPolicy::EarlyData, Some(true), HandshakeMode::ZeroRtt),
        (TicketPolicy::Resume, Some(false), HandshakeMode::Resumed),
        // Tickets of the resume policy come without early data.
    ];
    for (index, (policy, accepted, mode)) in steps.into_iter().enumerate() {
        lab.set_policy(Some(RESOLVER), policy).await;
        assert_eq!(
            ask(&lab, &config, server).await,
            accepted == Some(true),
            "{policy:?}"
        );
        let (seen, seen_accepted, _) = verdict(&lab, index + 2).await;
        assert_eq!((seen, seen_accepted), (Some(mode), accepted), "{policy:?}");
    }
}

#[tokio::test]
async fn dot_answers_pipelined_queries_and_closes_by_command() {
    let mut lab = Lab::start().await;
    let mut stream = connect(&lab.tls_client("dot"), lab.dot(), RESOLVER).await;
    stream
        .write_all(&[framed(&query()), framed(&query())].concat())
        .await
        .unwrap();
    assert_eq!(lab.queries(2).await.len(), 2);
    lab.edge
        .carry_out(EdgeCommand::CloseConnections {
            id: 1,
            name: None,
            names: None,
        })
        .await
        .unwrap();
    let mut rest = Vec::new();
    // Without close_notify this would be an error.
    stream.read_to_end(&mut rest).await.unwrap();
    assert_eq!(rest.len() % 2, 0);
    let record = lab.connections(1).await.pop().unwrap();
    assert_eq!(record.failure_detail.as_deref(), Some("closed by command"));
}

async fn open_h2(lab: &Lab, server: SocketAddr, name: &str) -> h2::client::SendRequest<Bytes> {
    let stream = connect(&lab.tls_client("h2"), server, name).await;
    let (http, connection) = h2::client::handshake(stream).await.unwrap();
    tokio::spawn(connection);
    http.ready().await.unwrap()
}

async fn fetch(
    http: &mut h2::client::SendRequest<Bytes>,
    request: Request<()>,
    body: Option<Vec<u8>>,
) -> (http::Response<()>, Vec<u8>) {
    let (response, mut stream) = http.send_request(request, body.is_none()).unwrap();
    if let Some(body) = body {
        stream.send_data(Bytes::from(body), true).unwrap();
    }
    let (head, mut body) = response.await.unwrap().into_parts();
    let mut whole = Vec::new();
    while let Some(chunk) = body.data().await {
        let chunk = chunk.unwrap();
        whole.extend_from_slice(&chunk);
        body.flow_control().release_capacity(chunk.len()).unwrap();
    }
    (http::Response::from_parts(head, ()), whole)
}

fn doh(method: Method, query: &str, content_type: &str) -> Request<()> {
    Request::builder()
        .method(method)
        .uri(format!("https://{RESOLVER}/dns-query{query}"))
        .header("content-type", content_type)
        .body(())
        .unwrap()
}

fn elsewhere(host: &str, path: &str) -> Request<()> {
    let uri = format!("https://{host}{path}");
    Request::get(uri).body(()).unwrap()
}

const MESSAGE: &str = "application/dns-message";

/// Media types have no case and may have parameters (RFC 9110 section 8.3.1), escaped letters of a query
/// are the same letters (RFC 3986 section 2.3), and HEAD is GET without its content.
#[tokio::test]
async fn doh_takes_every_spelling_of_a_request() {
    let lab = Lab::start().await;
    let mut http = open_h2(&lab, lab.doh(), RESOLVER).await;
    for media_type in [
        "Application/DNS-Message",
        "application/dns-message; charset=utf-8",
        "application/dns-message;x",
    ] {
        let request = doh(Method::POST, "", media_type);
        let (head, body) = fetch(&mut http, request, Some(query())).await;
        assert_eq!(head.status().as_u16(), 200, "{media_type}");
        assert_answer(&lab, &body);
    }
    let encoded = URL_SAFE_NO_PAD.encode(query());
    let escape = |text: String, byte: u8| text + &format!("%{byte:02X}");
    let escaped = encoded.bytes().fold(String::new(), escape);
    for parameters in [format!("?dns={escaped}"), format!("?a=b&%64ns={encoded}&c")] {
        let (_, body) = fetch(&mut http, doh(Method::GET, &parameters, MESSAGE), None).await;
        assert_answer(&lab, &body);
    }
    let parameters = format!("?dns={encoded}");
    let (got, body) = fetch(&mut http, doh(Method::GET, &parameters, MESSAGE), None).await;
    let (head, nothing) = fetch(&mut http, doh(Method::HEAD, &parameters, MESSAGE), None).await;
    assert_eq!(
        (head.status(), head.headers()),
        (got.status(), got.headers())
    );
    assert_eq!(head.headers()["content-length"], body.len().to_string());
    assert!(nothing.is_empty());
}

#[tokio::test]
async fn doh_answers_post_and_get_and_refuses_what_is_neither() {
    let lab = Lab::start().await;
    let mut http = open_h2(&lab, lab.doh(), RESOLVER).await;
    let (head, body) = fetch(&mut http, doh(Method::POST, "", MESSAGE), Some(query())).await;
    assert_eq!(
        (head.status().as_u16(), &head.headers()["content-type"]),
        (200, &MESSAGE.parse().unwrap())
    );
    assert_answer(&lab, &body);
    let encoded = format!("?dns={}", URL_SAFE_NO_PAD.encode(query()));
    let (_, body) = fetch(&mut http, doh(Method::GET, &encoded, MESSAGE), None).await;
    assert_answer(&lab, &body);
    for (request, body, status) in [
        (doh(Method::POST, "", "text/plain"), Some(query()), 415),
        (doh(Method::POST, "", MESSAGE), Some(vec![1, 2, 3]), 400),
        (doh(Method::GET, "?dns=%%%", MESSAGE), None, 400),
        (doh(Method::GET, "", MESSAGE), None, 400),
        (doh(Method::PUT, "", MESSAGE), Some(query()), 405),
        (doh(Method::OPTIONS, "", MESSAGE), None, 405),
        (elsewhere(RESOLVER, "/"), None, 404),
        (elsewhere(RESOLVER, "/dns-query/"), None, 404),
        (elsewhere("other.test", "/dns-query"), None, 421),
    ] {
        let (head, body) = fetch(&mut http, request, body).await;
        assert_eq!((head.status().as_u16(), body.len()), (status, 0));
        let allowed = (status == 405).then_some("GET, HEAD, POST");
        let allow = head.headers().get("allow");
        assert_eq!(allow.map(|value| value.to_str().unwrap()), allowed);
    }
    let queries = lab.queries(2).await;
    assert!(
        queries
            .iter()
            .all(|query| query.dns_transport == DnsTransport::Doh)
    );
    assert!(
        queries
            .iter()
            .all(|query| query.qname == "example.resolab.test.")
    );
}

#[tokio::test]
async fn pages_come_over_h2_and_a_command_says_goaway() {
    let mut lab = Lab::start().await;
    let mut http = open_h2(&lab, lab.web(), HOST).await;
    let get = Request::get(format!("https://{HOST}/img/a.png"))
        .body(())
        .unwrap();
    let (_, body) = fetch(&mut http, get.clone(), None).await;
    assert_eq!(body, lab.image);
    lab.edge
        .carry_out(EdgeCommand::Flush { id: 1 })
        .await
        .unwrap();
    lab.wait(|records| {
        let open = |record: &&Record| {
            matches!(record, Record::Connection(connection) if connection.closed_ns.is_none())
        };
        records.iter().find(open).map(|_| ())
    })
    .await;
    lab.edge
        .carry_out(EdgeCommand::CloseConnections {
            id: 2,
            name: None,
            names: None,
        })
        .await
        .unwrap();
    let error = match http.ready().await {
        Ok(mut http) => http.send_request(get, true).err().unwrap(),
        Err(error) => error,
    };
    assert!(error.is_go_away() && error.is_remote(), "{error:?}");
    assert_eq!(error.reason(), Some(h2::Reason::NO_ERROR));
    assert_eq!(lab.connections(1).await[0].alpn.as_deref(), Some("h2"));
}

#[tokio::test]
async fn a_client_that_distrusts_the_authority_is_a_failed_handshake() {
    let lab = Lab::start().await;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec()];
    let tcp = TcpStream::connect(lab.web()).await.unwrap();
    let connector = TlsConnector::from(Arc::new(config));
    assert!(
        connector
            .connect(HOST.try_into().unwrap(), tcp)
            .await
            .is_err()
    );
    let record = lab.connections(1).await.pop().unwrap();
    assert_eq!(
        record.failure,
        Some(resolab_record::Failure::TlsHandshakeFailed)
    );
    assert_eq!(record.handshake_mode, None);
}
