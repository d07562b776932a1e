//! Pages and DoH3 over HTTP/3, commands that touch them, with a client adapter that is not ours.

use crate::support::{HOST, IMAGE_BYTES, Lab, RESOLVER, assert_answer, delayed_udp, query};
use bytes::{Buf, Bytes};
use h3::client::SendRequest;
use http::{Method, Request, StatusCode};
use quinn::{Connection, ConnectionError, Endpoint, VarInt};
use resolab_record::{DnsTransport, EdgeCommand, HandshakeMode, HttpVersion};
use std::net::SocketAddr;
use std::time::Duration;

type Http = SendRequest<h3_quinn::OpenStreams, Bytes>;

async fn open(quic: &Connection) -> Http {
    let (mut driver, http) = h3::client::new(h3_quinn::Connection::new(quic.clone()))
        .await
        .unwrap();
    tokio::spawn(async move { std::future::poll_fn(|cx| driver.poll_close(cx)).await });
    http
}

async fn connect(client: &Endpoint, server: SocketAddr, name: &str) -> (Connection, Http) {
    let quic = client.connect(server, name).unwrap().await.unwrap();
    let http = open(&quic).await;
    (quic, http)
}

fn request(method: Method, url: &str) -> Request<()> {
    Request::builder().method(method).uri(url).body(()).unwrap()
}

async fn fetch(
    http: &mut Http,
    request: Request<()>,
    body: &[u8],
) -> (http::Response<()>, Vec<u8>) {
    let mut stream = http.send_request(request).await.unwrap();
    if !body.is_empty() {
        stream
            .send_data(Bytes::copy_from_slice(body))
            .await
            .unwrap();
    }
    stream.finish().await.unwrap();
    let response = stream.recv_response().await.unwrap();
    let mut whole = Vec::new();
    while let Some(mut chunk) = stream.recv_data().await.unwrap() {
        whole.extend_from_slice(&chunk.copy_to_bytes(chunk.remaining()));
    }
    (response, whole)
}

fn url(path: &str) -> String {
    format!("https://{HOST}{path}")
}

#[tokio::test]
async fn files_come_byte_for_byte() {
    let lab = Lab::start().await;
    let (_quic, mut http) = connect(&lab.quic_client("h3"), lab.web(), HOST).await;
    let (head, body) = fetch(&mut http, request(Method::GET, &url("/img/a.png?x=1")), &[]).await;
    assert_eq!(head.status(), StatusCode::OK);
    assert_eq!(head.headers()["content-type"], "image/png");
    assert_eq!(head.headers()["cache-control"], "max-age=0");
    assert_eq!(head.headers()["timing-allow-origin"], "*");
    assert!(head.headers().get("alt-svc").is_none());
    assert_eq!(body, lab.image);
    let (head, body) = fetch(&mut http, request(Method::HEAD, &url("/img/a.png")), &[]).await;
    assert_eq!(head.headers()["content-length"], IMAGE_BYTES.to_string());
    assert!(body.is_empty());
    let (head, body) = fetch(&mut http, request(Method::GET, &url("/")), &[]).await;
    assert_eq!(head.headers()["content-type"], "text/html; charset=utf-8");
    assert_eq!(body, b"<!doctype html>hello");
    let requests = lab.requests(3).await;
    assert_eq!(requests[0].http_version, HttpVersion::H3);
    assert_eq!(
        (requests[0].path.as_str(), requests[0].status),
        ("/img/a.png?x=1", 200)
    );
    assert_eq!(
        (requests[0].body_bytes, requests[1].body_bytes),
        (IMAGE_BYTES as u64, 0)
    );
    assert_eq!(
        (requests[0].in_early_data, requests[0].session_resumed),
        (false, Some(false))
    );
    assert!(
        requests
            .iter()
            .all(|request| request.response_sent_ns > Some(request.received_ns))
    );
}

#[tokio::test]
async fn what_is_not_there_has_its_status() {
    let lab = Lab::start().await;
    let (_quic, mut http) = connect(&lab.quic_client("h3"), lab.web(), HOST).await;
    for (method, url, status) in [
        (Method::GET, url("/nothing"), 404),
        (Method::POST, url("/"), 405),
        (Method::GET, "https://other.test/".to_owned(), 421),
    ] {
        let (head, _) = fetch(&mut http, request(method, &url), &[]).await;
        assert_eq!(head.status().as_u16(), status, "{url}");
    }
}

/// Fetch in early data with a ticket from an earlier connection.
async fn fetch_early(
    client: &Endpoint,
    server: SocketAddr,
    request: Request<()>,
) -> (http::Response<()>, Vec<u8>) {
    let (quic, mut http) = connect(client, server, HOST).await;
    fetch(&mut http, self::request(Method::GET, &url("/")), &[]).await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    quic.close(VarInt::from_u32(0x100), b"");
    client.wait_idle().await;
    let connecting = client.connect(server, HOST).unwrap();
    let (quic, accepted) = connecting
        .into_0rtt()
        .unwrap_or_else(|_| panic!("no ticket"));
    let mut http = open(&quic).await;
    let fetched = fetch(&mut http, request, &[]).await;
    assert!(accepted.await);
    fetched
}

#[tokio::test]
async fn a_request_in_early_data_is_answered_and_marked() {
    let lab = Lab::start().await;
    let server = delayed_udp(lab.web()).await;
    let early = request(Method::GET, &url("/img/a.png"));
    let (head, body) = fetch_early(&lab.quic_client("h3"), server, early).await;
    assert_eq!((head.status(), body.len()), (StatusCode::OK, IMAGE_BYTES));
    let requests = lab.requests(2).await;
    assert!(!requests[0].in_early_data && requests[0].handshake_complete_ns.is_some());
    assert!(requests[1].in_early_data && requests[1].session_resumed == Some(true));
    let first = lab.connections(1).await.remove(0);
    assert_eq!((first.failure, first.failure_detail), (None, None));
}

#[tokio::test]
async fn an_unsafe_method_in_early_data_is_too_early() {
    let lab = Lab::start().await;
    let server = delayed_udp(lab.web()).await;
    let early = request(Method::POST, &url("/"));
    let (head, _) = fetch_early(&lab.quic_client("h3"), server, early).await;
    assert_eq!(head.status(), StatusCode::TOO_EARLY);
}

#[tokio::test]
async fn doh3_answers_on_the_resolver_name() {
    let lab = Lab::start().await;
    let (_quic, mut http) = connect(&lab.quic_client("h3"), lab.doh(), RESOLVER).await;
    let mut post = request(Method::POST, &format!("https://{RESOLVER}/dns-query"));
    post.headers_mut()
        .insert("content-type", "application/dns-message".parse().unwrap());
    let (head, body) = fetch(&mut http, post, &query()).await;
    assert_eq!(head.headers()["cache-control"], "max-age=300");
    assert_answer(&lab, &body);
    let query = lab.queries(1).await.pop().unwrap();
    assert_eq!(
        (query.dns_transport, query.in_early_data),
        (DnsTransport::Doh3, Some(false))
    );
}

#[tokio::test]
async fn a_command_closes_only_the_named_connections() {
    let mut lab = Lab::start().await;
    let client = lab.quic_client("h3");
    let (web, mut http) = connect(&client, lab.web(), HOST).await;
    // Once answered, the handshake is complete on both sides, and the code can be the
    // application's (RFC 9000 section 10.2.3).
    fetch(&mut http, request(Method::GET, &url("/")), &[]).await;
    let (doh, _doh_http) = connect(&client, lab.doh(), RESOLVER).await;
    let close = EdgeCommand::CloseConnections {
        id: 1,
        name: Some(HOST.to_owned()),
        names: None,
    };
    lab.edge.carry_out(close).await.unwrap();
    let closed = web.closed().await;
    let ConnectionError::ApplicationClosed(close) = &closed else {
        panic!("{closed}");
    };
    assert_eq!(close.error_code, VarInt::from_u32(0x100));
    assert!(doh.close_reason().is_none());
    let record = lab.connections(1).await.pop().unwrap();
    assert_eq!(
        (record.server_name.as_deref(), record.failure),
        (Some(HOST), None)
    );
    assert_eq!(record.handshake_mode, Some(HandshakeMode::Full));
}

#[tokio::test]
async fn a_site_can_be_added_and_replaced_while_running() {
    let mut lab = Lab::start().await;
    let folder = lab.folder.join("second");
    std::fs::create_dir_all(&folder).unwrap();
    let host = "second.resolab.test";
    for contents in ["one", "two"] {
        std::fs::write(folder.join("index.html"), contents).unwrap();
        let command = EdgeCommand::LoadSite {
            id: 1,
            host: host.to_owned(),
            folder: Some(folder.display().to_string()),
            address: None,
            settings: None,
        };
        lab.edge.carry_out(command).await.unwrap();
        let (_quic, mut http) = connect(&lab.quic_client("h3"), lab.web(), host).await;
        let get = request(Method::GET, &format!("https://{host}/"));
        assert_eq!(fetch(&mut http, get, &[]).await.1, contents.as_bytes());
    }
    let missing = EdgeCommand::LoadSite {
        id: 2,
        host: host.to_owned(),
        folder: Some("/nonexistent".to_owned()),
        address: None,
        settings: None,
    };
    assert!(
        lab.edge
            .carry_out(missing)
            .await
            .unwrap_err()
            .contains("/nonexistent")
    );
}
