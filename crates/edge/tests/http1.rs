//! HTTP/1.1 over TLS: pages and DoH, early data, hostile clients, with a client made by hand.
#![allow(clippy::unwrap_used)]

use crate::support::clients::{Client, H1, request, tls};
use crate::support::{HOST, Lab, RESOLVER, assert_answer, delayed_tcp, query};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{Method, StatusCode};
use resolab_record::{DnsTransport, EdgeCommand, Failure, HandshakeMode, HttpVersion};
use std::time::Duration;

const MESSAGE: &str = "application/dns-message";

async fn open(lab: &Lab) -> H1 {
    H1::new(tls(&lab.tls_client("http/1.1"), lab.web(), HOST).await)
}

#[tokio::test]
async fn pages_come_one_after_the_other_on_one_connection() {
    let lab = Lab::with_site("alt_svc = true").await;
    let mut http = open(&lab).await;
    let (head, body) = http
        .fetch(&request(Method::GET, HOST, "/img/a.png", &[]), None)
        .await;
    assert_eq!((head.status(), body), (StatusCode::OK, lab.image.clone()));
    assert_eq!(head.headers()["content-type"], "image/png");
    assert_eq!(head.headers()["alt-svc"], "h3=\":8443\"; ma=86400");
    let (head, body) = http
        .fetch(&request(Method::HEAD, HOST, "/", &[]), None)
        .await;
    assert_eq!(
        (&head.headers()["content-length"], body.len()),
        (&"20".parse().unwrap(), 0)
    );
    // Two in one segment, in order.
    let text = |path| format!("GET {path} HTTP/1.1\r\nHost: {HOST}:8443\r\n\r\n");
    http.send((text("/nothing") + &text("/")).as_bytes()).await;
    assert_eq!(http.receive(false).await.0.status(), StatusCode::NOT_FOUND);
    assert_eq!(http.receive(false).await.1, b"<!doctype html>hello");
    let (head, _) = http
        .fetch(&request(Method::POST, HOST, "/", &[]), None)
        .await;
    assert_eq!(
        (head.status().as_u16(), &head.headers()["allow"]),
        (405, &"GET, HEAD".parse().unwrap())
    );
    let (head, _) = http
        .fetch(&request(Method::GET, "other.test", "/", &[]), None)
        .await;
    assert_eq!(head.status(), StatusCode::MISDIRECTED_REQUEST);
    let requests = lab.requests(6).await;
    assert!(
        requests
            .iter()
            .all(|request| request.http_version == HttpVersion::H1)
    );
    assert!(
        requests
            .iter()
            .all(|request| request.connection_id == requests[0].connection_id)
    );
    let first = &requests[0];
    assert!(first.first_body_byte_ns.unwrap() <= first.response_sent_ns.unwrap());
    assert_eq!(
        (requests[1].first_body_byte_ns, requests[1].body_bytes),
        (None, 0)
    );
}

#[tokio::test]
async fn a_client_without_alpn_speaks_http1() {
    let lab = Lab::start().await;
    let mut config = (*lab.tls_client("h2")).clone();
    config.alpn_protocols.clear();
    let mut http = H1::new(tls(&config.into(), lab.web(), HOST).await);
    http.send(format!("GET / HTTP/1.0\r\nHost: {HOST}\r\n\r\n").as_bytes())
        .await;
    while http.more().await > 0 {}
    let text = String::from_utf8(http.unread).unwrap();
    assert!(
        text.contains(" 200 OK\r\n") && text.ends_with("hello"),
        "{text}"
    );
    assert_eq!(lab.requests(1).await[0].http_version, HttpVersion::H1);
    let connection = lab.connections(1).await.pop().unwrap();
    assert_eq!((connection.alpn, connection.failure), (None, None));
}

#[tokio::test]
async fn doh_is_answered_to_get_and_post() {
    let lab = Lab::start().await;
    let mut http = Client::connect_to(&lab, "http/1.1", RESOLVER, lab.doh()).await;
    let fields = [("content-type", MESSAGE)];
    let post = request(Method::POST, RESOLVER, "/dns-query", &fields);
    let (head, body) = http.fetch(post, Some(query())).await;
    assert_eq!(head.headers()["cache-control"], "max-age=300");
    assert_answer(&lab, &body);
    let path = format!("/dns-query?dns={}", URL_SAFE_NO_PAD.encode(query()));
    let get = request(Method::GET, RESOLVER, &path, &[]);
    assert_answer(&lab, &http.fetch(get, None).await.1);
    // Chunked, with a trailer.
    let Client::H1(mut http) = http else {
        unreachable!()
    };
    let mut chunked = format!(
        "POST /dns-query HTTP/1.1\r\nhost: {RESOLVER}\r\ncontent-type: {MESSAGE}\r\n\
         transfer-encoding: chunked\r\n\r\n{:x}\r\n",
        query().len()
    )
    .into_bytes();
    chunked.extend_from_slice(&query());
    chunked.extend_from_slice(b"\r\n0\r\nx: y\r\n\r\n");
    http.send(&chunked).await;
    assert_answer(&lab, &http.receive(false).await.1);
    let queries = lab.queries(3).await;
    let doh = |transport| transport == DnsTransport::Doh;
    assert!(queries.iter().all(|query| doh(query.dns_transport)));
}

#[tokio::test]
async fn early_data_is_known_and_unsafe_methods_in_it_are_too_early() {
    let lab = Lab::start().await;
    let (config, server) = (lab.tls_client("http/1.1"), delayed_tcp(lab.web()).await);
    for (count, method, status) in [
        (1, Method::GET, 200),
        (2, Method::GET, 200),
        (3, Method::POST, 425),
        // Safe, and what a preflight is.
        (4, Method::OPTIONS, 405),
    ] {
        let mut http = H1::new(tls(&config, server, HOST).await);
        let (head, _) = http.fetch(&request(method, HOST, "/", &[]), None).await;
        assert_eq!(head.status().as_u16(), status);
        // Tickets come after the client's Finished.
        let _ = tokio::time::timeout(Duration::from_millis(60), http.more()).await;
        drop(http);
        let seen = lab.requests(count).await.pop().unwrap();
        assert_eq!(seen.in_early_data, count > 1, "{seen:?}");
        assert_eq!(seen.session_resumed, Some(count > 1));
    }
    let connection = lab.connections(4).await.pop().unwrap();
    assert_eq!(connection.handshake_mode, Some(HandshakeMode::ZeroRtt));
}

#[tokio::test]
async fn what_is_too_much_or_wrong_has_its_status() {
    let lab = Lab::start().await;
    let long = "x".repeat(20_000);
    let many = "a: b\r\n".repeat(200);
    for (text, status) in [
        ("GET / HTTP/1.1\r\n\r\n".to_owned(), 400),
        (
            format!("GET / HTTP/1.1\r\nhost: {HOST}\r\nhost: {HOST}\r\n\r\n"),
            400,
        ),
        (
            format!("GET / HTTP/1.1\r\nhost: {HOST}\r\na: {long}\r\n\r\n"),
            431,
        ),
        (format!("GET / HTTP/1.1\r\nhost: {HOST}\r\n{many}\r\n"), 431),
        ("\u{16}\u{3}nonsense\r\n\r\n".to_owned(), 400),
        (
            format!(
                "POST /dns-query HTTP/1.1\r\nhost: {RESOLVER}\r\ncontent-length: 70000\r\n\r\n"
            ),
            413,
        ),
    ] {
        let mut http = open(&lab).await;
        http.send(text.as_bytes()).await;
        let (head, _) = http.receive(false).await;
        assert_eq!(
            head.status().as_u16(),
            status,
            "{}",
            &text[..40.min(text.len())]
        );
        assert_eq!(http.more().await, 0, "the connection goes on");
    }
    // A head that never ends is cut off.
    let mut http = open(&lab).await;
    let endless = format!("GET / HTTP/1.1\r\nhost: {HOST}\r\na: {}", long.repeat(20));
    let _ = tokio::io::AsyncWriteExt::write_all(&mut http.write, endless.as_bytes()).await;
    assert_eq!(http.receive(false).await.0.status().as_u16(), 431);
    let ended = lab.connections(7).await;
    let broken = ended
        .iter()
        .filter(|each| each.failure == Some(Failure::HttpProtocol));
    assert_eq!(broken.count(), 4);
}

#[tokio::test]
async fn a_command_ends_an_idle_connection_in_order() {
    let mut lab = Lab::start().await;
    let mut http = open(&lab).await;
    http.fetch(&request(Method::GET, HOST, "/", &[]), None)
        .await;
    let close = EdgeCommand::CloseConnections {
        id: 1,
        name: None,
        names: None,
    };
    lab.edge.carry_out(close).await.unwrap();
    // Without close_notify this would be an error.
    assert_eq!(http.more().await, 0);
    let record = lab.connections(1).await.pop().unwrap();
    assert_eq!(record.failure_detail.as_deref(), Some("closed by command"));
    assert_eq!(record.alpn.as_deref(), Some("http/1.1"));
}
