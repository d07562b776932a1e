//! Origins: names, addresses, certificates; sites that come and go while the edge runs.

use crate::support::clients::{Client, VERSIONS, request, tls};
use crate::support::{HOST, Lab, RESOLVER};
use http::{Method, StatusCode};
use resolab_record::EdgeCommand;
use std::time::Duration;
use tokio::net::UdpSocket;

const ORIGINS: &str = r#"
    [[site]]
    host = "*.cdn.resolab.test"
    address = "WEB"
    generated_prefix = "/"
    https_record = ["h3"]
    [[site]]
    host = "two.resolab.test"
    addresses = ["WEB", "127.1.2.3"]
    generated_prefix = "/"
    server_time_ms = { distribution = "uniform", min_ms = 1, max_ms = 2 }
    [[certificate]]
    names = ["dns.resolab.test", "example.resolab.test", "*.cdn.resolab.test"]
"#;

/// The leaf a client is shown.
async fn leaf(lab: &Lab, name: &str) -> Vec<u8> {
    let stream = tls(&lab.tls_client("h2"), lab.web(), name).await;
    let chain = stream.get_ref().1.peer_certificates().unwrap();
    chain[0].to_vec()
}

#[tokio::test]
async fn certificates_are_each_names_own_or_shared_when_told() {
    let lab = Lab::with_site(ORIGINS).await;
    let shared = leaf(&lab, HOST).await;
    for name in [RESOLVER, "a.cdn.resolab.test", "b.cdn.resolab.test"] {
        assert!(leaf(&lab, name).await == shared, "{name}");
    }
    assert!(leaf(&lab, "two.resolab.test").await != shared);
}

#[tokio::test]
async fn several_names_on_one_address_and_wildcards_are_served() {
    let lab = Lab::with_site(ORIGINS).await;
    for alpn in VERSIONS {
        let mut http = Client::connect(&lab, alpn, "x.cdn.resolab.test").await;
        for (host, path, status) in [
            ("x.cdn.resolab.test", "/5.txt", 200),
            ("y.cdn.resolab.test:8443", "/5.txt", 200),
            ("two.resolab.test", "/6.txt", 200),
            (HOST, "/", 200),
            ("x.y.cdn.resolab.test", "/5.txt", 421),
        ] {
            let get = request(Method::GET, host, path, &[]);
            let (head, _) = http.fetch(get, None).await;
            assert_eq!(head.status().as_u16(), status, "{alpn} {host}");
        }
    }
    let urls = lab.edge.ready_record().listeners;
    assert!(
        urls.contains(&"udp://127.1.2.3:8443".to_owned()),
        "{urls:?}"
    );
    let waited = lab.requests(15).await;
    let waited = waited
        .iter()
        .filter(|each| each.server_time_ns >= Some(1_000_000));
    assert_eq!(waited.count(), 3);
}

fn load(host: &str, settings: &str) -> EdgeCommand {
    EdgeCommand::LoadSite {
        id: 1,
        host: host.to_owned(),
        folder: None,
        address: None,
        settings: Some(settings.to_owned()),
    }
}

/// Response code and number of answers of an A query.
async fn ask(lab: &Lab, host: &str) -> (u8, u8) {
    let mut query = vec![0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in host.split('.') {
        query.push(label.len() as u8);
        query.extend_from_slice(label.as_bytes());
    }
    query.extend_from_slice(&[0, 0, 1, 0, 1]);
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    socket.send_to(&query, (lab.resolver, 8053)).await.unwrap();
    let mut answer = [0; 512];
    socket.recv_from(&mut answer).await.unwrap();
    (answer[3] & 15, answer[7])
}

#[tokio::test]
async fn a_site_is_swapped_and_removed_under_a_request() {
    let mut lab = Lab::with_site("").await;
    let host = "late.resolab.test";
    let first = "generated_prefix = \"/\"\nseed = 1\nalt_svc = true\nserver_time_ms = 400";
    lab.edge.carry_out(load(host, first)).await.unwrap();
    assert_eq!(ask(&lab, host).await, (0, 1));
    let get = || request(Method::GET, host, "/300000.bin", &[]);
    let mut under_way = Vec::new();
    for alpn in VERSIONS {
        let mut http = Client::connect(&lab, alpn, host).await;
        under_way.push(tokio::spawn(async move { http.fetch(get(), None).await }));
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    let second = "generated_prefix = \"/\"\nseed = 2";
    lab.edge.carry_out(load(host, second)).await.unwrap();
    let mut http = Client::connect(&lab, "h2", host).await;
    let (head, new) = http.fetch(get(), None).await;
    assert_eq!((new.len(), head.headers().get("alt-svc")), (300_000, None));
    let remove = |id| EdgeCommand::RemoveSite {
        id,
        host: host.to_owned(),
    };
    lab.edge.carry_out(remove(2)).await.unwrap();
    let (head, _) = http.fetch(get(), None).await;
    assert_eq!(head.status(), StatusCode::MISDIRECTED_REQUEST);
    assert_eq!(ask(&lab, host).await.1, 0);
    let error = lab.edge.carry_out(remove(3)).await.unwrap_err();
    assert!(error.contains(host), "{error}");
    let mut old = None;
    for task in under_way {
        let (head, body) = task.await.unwrap();
        assert_eq!((head.status(), body.len()), (StatusCode::OK, 300_000));
        assert!(body != new && *old.get_or_insert(body.clone()) == body);
    }
}

#[tokio::test]
async fn a_site_that_cannot_be_loaded_leaves_the_old_one() {
    let mut lab = Lab::start().await;
    let error = lab
        .edge
        .carry_out(load(HOST, "colour = 1"))
        .await
        .unwrap_err();
    assert!(error.contains("colour"), "{error}");
    let mut http = Client::connect(&lab, "h3", HOST).await;
    assert_eq!(http.get("/", &[]).await.1, b"<!doctype html>hello");
}
