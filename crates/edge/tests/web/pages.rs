//! What a site answers, the same over HTTP/1.1, HTTP/2 and HTTP/3: encodings, ranges, conditions,
//! generated bodies, server time.

use crate::support::clients::{Client, VERSIONS, request};
use crate::support::{HOST, IMAGE_BYTES, Lab, RESOLVER};
use bytes::Bytes;
use http::{Method, StatusCode};
use std::io::Read;

const GENERATED: &str = r#"
    generated_prefix = "/generated/"
    seed = 7
    [[site.generated]]
    path = "/style.css"
    bytes = 30000
    [[site.generated]]
    path = "/blob"
    bytes = 30000
    content_type = "application/octet-stream"
    [[site.path]]
    path = "/generated/*"
    server_time_ms = 250
"#;

#[tokio::test]
async fn the_best_encoding_both_know_is_used() {
    let lab = Lab::with_site(GENERATED).await;
    for (count, alpn) in VERSIONS.into_iter().enumerate() {
        let mut http = Client::connect(&lab, alpn, HOST).await;
        let (head, plain) = http.get("/style.css", &[]).await;
        assert_eq!(
            (plain.len(), head.headers().get("content-encoding")),
            (30_000, None)
        );
        assert_eq!(head.headers()["vary"], "accept-encoding");
        let accept = [("accept-encoding", "gzip, deflate, br, zstd")];
        let (head, body) = http.get("/style.css", &accept).await;
        assert_eq!(head.headers()["content-encoding"], "br");
        let mut decoded = Vec::new();
        brotli::BrotliDecompress(&mut &body[..], &mut decoded).unwrap();
        assert_eq!(decoded, plain);
        let br_tag = head.headers()["etag"].clone();
        let (head, body) = http
            .get("/style.css", &[("accept-encoding", "gzip, br;q=0.1")])
            .await;
        assert_eq!(head.headers()["content-encoding"], "gzip");
        assert_ne!(head.headers()["etag"], br_tag);
        let mut decoded = Vec::new();
        flate2::read::GzDecoder::new(&body[..])
            .read_to_end(&mut decoded)
            .unwrap();
        assert_eq!(decoded, plain);
        let (head, body) = http.get("/blob", &accept).await;
        assert_eq!((head.headers().get("vary"), body.len()), (None, 30_000));
        let seen = lab.requests(4 * (count + 1)).await.split_off(4 * count);
        let gzip = &seen[2];
        assert_eq!(gzip.content_encoding.as_deref(), Some("gzip"));
        assert_eq!(gzip.resource_bytes, Some(30_000));
        assert!(gzip.body_bytes < 10_000 && seen[3].content_encoding.is_none());
    }
}

#[tokio::test]
async fn without_compression_nothing_varies() {
    let lab = Lab::with_site("compression = []").await;
    let mut http = Client::connect(&lab, "h2", HOST).await;
    let accept = ("accept-encoding", "br");
    let (head, _) = http.get("/", &[accept]).await;
    assert_eq!(
        (
            head.headers().get("vary"),
            head.headers().get("content-encoding")
        ),
        (None, None)
    );
}

#[tokio::test]
async fn parts_and_conditions_are_honoured() {
    let lab = Lab::with_site("compression = []").await;
    for alpn in VERSIONS {
        let mut http = Client::connect(&lab, alpn, HOST).await;
        let (head, body) = http
            .get("/img/a.png", &[("range", "bytes=1000-1999")])
            .await;
        assert_eq!(
            (head.status().as_u16(), &body[..]),
            (206, &lab.image[1_000..2_000])
        );
        assert_eq!(
            head.headers()["content-range"],
            format!("bytes 1000-1999/{IMAGE_BYTES}")
        );
        assert_eq!(head.headers()["content-length"], "1000");
        let (head, _) = http.get("/img/a.png", &[("range", "bytes=150000-")]).await;
        assert_eq!(
            (head.status().as_u16(), &head.headers()["content-range"]),
            (416, &"bytes */150000".parse().unwrap())
        );
        let (head, body) = http.get("/img/a.png", &[("range", "bytes=0-1,5-6")]).await;
        assert_eq!((head.status().as_u16(), body.len()), (200, IMAGE_BYTES));
        let etag = head.headers()["etag"].to_str().unwrap().to_owned();
        let modified = head.headers()["last-modified"].to_str().unwrap().to_owned();
        let part = ("range", "bytes=0-0");
        for (condition, status) in [
            (vec![("if-none-match", etag.as_str())], 304),
            (vec![("if-modified-since", modified.as_str())], 304),
            (
                vec![
                    ("if-none-match", "\"other\""),
                    ("if-modified-since", &modified),
                ],
                200,
            ),
            (vec![("if-match", "\"other\"")], 412),
            (vec![part, ("if-range", etag.as_str())], 206),
            (vec![part, ("if-range", "\"other\"")], 200),
        ] {
            let (head, body) = http.get("/img/a.png", &condition).await;
            assert_eq!(head.status().as_u16(), status, "{alpn} {condition:?}");
            if status == 304 {
                assert!(body.is_empty() && head.headers().get("content-type").is_none());
                assert_eq!(head.headers()["etag"], etag);
            }
        }
    }
    let seen = lab.requests(10).await;
    assert_eq!(
        seen[0].content_range.as_deref(),
        Some("bytes 1000-1999/150000")
    );
    assert_eq!((seen[3].status, seen[3].body_bytes), (304, 0));
}

#[tokio::test]
async fn generated_bodies_are_the_same_each_time_and_in_parts() {
    let lab = Lab::with_site(&GENERATED.replace("250", "0")).await;
    let path = "/generated/3000001.js";
    let mut first = None;
    for alpn in VERSIONS {
        let mut http = Client::connect(&lab, alpn, HOST).await;
        let (head, body) = http.get(path, &[]).await;
        assert_eq!(
            head.headers()["content-type"],
            "text/javascript; charset=utf-8"
        );
        assert_eq!(body.len(), 3_000_001);
        let whole = first.get_or_insert(body.clone());
        assert!(*whole == body, "{alpn} differs");
        let (_, part) = http.get(path, &[("range", "bytes=-70001")]).await;
        assert!(part == body[body.len() - 70_001..]);
        let (_, blob) = http.get("/blob", &[]).await;
        let mut packed = flate2::read::GzEncoder::new(&blob[..], flate2::Compression::best());
        let mut bytes = Vec::new();
        packed.read_to_end(&mut bytes).unwrap();
        assert!(bytes.len() > blob.len());
    }
}

#[tokio::test]
async fn one_slow_answer_holds_up_no_other_stream() {
    let lab = Lab::with_site(GENERATED).await;
    for alpn in ["h2", "h3"] {
        let client = Client::connect(&lab, alpn, HOST).await;
        let (mut slow, mut fast) = match client {
            Client::H2(http) => (Client::H2(http.clone()), Client::H2(http)),
            Client::H3(quic, http) => (
                Client::H3(quic.clone(), http.clone()),
                Client::H3(quic, http),
            ),
            Client::H1(_) => unreachable!(),
        };
        let slow = tokio::spawn(async move { slow.get("/generated/10.txt", &[]).await.1.len() });
        for _ in 0..3 {
            assert_eq!(fast.get("/", &[]).await.0.status(), StatusCode::OK);
        }
        assert!(!slow.is_finished());
        assert_eq!(slow.await.unwrap(), 10);
    }
    let seen = lab.requests(8).await;
    let waited = seen
        .iter()
        .filter(|each| each.server_time_ns >= Some(250_000_000));
    assert_eq!(waited.count(), 2);
    assert_eq!(
        seen.iter()
            .filter(|each| each.server_time_ns.is_none())
            .count(),
        6
    );
    let slow = seen
        .iter()
        .find(|each| each.server_time_ns.is_some())
        .unwrap();
    assert!(slow.first_body_byte_ns.unwrap() - slow.received_ns >= 250_000_000);
}

fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap();
    status.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4_096
}

#[tokio::test]
async fn a_client_that_takes_nothing_costs_little() {
    let lab = Lab::with_site(&GENERATED.replace("250", "0")).await;
    let before = resident_bytes();
    let get = || request(Method::GET, HOST, "/generated/9000000000.bin", &[]);
    let (mut streams_h2, mut streams_h3) = (Vec::new(), Vec::new());
    let (h2, h3) = (
        Client::connect(&lab, "h2", HOST).await,
        Client::connect(&lab, "h3", HOST).await,
    );
    let (Client::H2(mut http2), Client::H3(_quic, mut http3)) = (h2, h3) else {
        unreachable!()
    };
    for _ in 0..20 {
        streams_h2.push(http2.send_request(get(), true).unwrap().0.await.unwrap());
        let mut stream = http3.send_request(get()).await.unwrap();
        stream.finish().await.unwrap();
        stream.recv_response().await.unwrap();
        streams_h3.push(stream);
    }
    let Client::H1(mut stalled) = Client::connect(&lab, "http/1.1", HOST).await else {
        unreachable!()
    };
    let text = format!("GET /generated/9000000000.bin HTTP/1.1\r\nhost: {HOST}\r\n\r\n");
    stalled.send(text.as_bytes()).await;
    for alpn in VERSIONS {
        let mut good = Client::connect(&lab, alpn, HOST).await;
        assert_eq!(good.get("/img/a.png", &[]).await.1, lab.image);
    }
    let grown = resident_bytes().saturating_sub(before);
    assert!(
        grown < 150_000_000,
        "{grown} bytes for 41 bodies nobody reads"
    );
    // Whoever breaks off is recorded as not served.
    drop(streams_h2);
    drop(stalled);
    drop(streams_h3);
    let broken = lab.requests(44).await;
    let broken = broken.iter().filter(|each| each.response_sent_ns.is_none());
    assert_eq!(broken.count(), 41);
}

#[tokio::test]
async fn heads_and_bodies_beyond_the_limits_are_refused() {
    let lab = Lab::start().await;
    let long = "x".repeat(20_000);
    for alpn in ["h2", "h3"] {
        let mut http = Client::connect(&lab, alpn, HOST).await;
        let status = match &mut http {
            Client::H2(http) => {
                let request = request(Method::GET, HOST, "/", &[("a", &long)]);
                let (response, _) = http.send_request(request, true).unwrap();
                response.await.unwrap().status()
            }
            Client::H3(_, http) => over_limit_h3(http, &long).await,
            Client::H1(_) => unreachable!(),
        };
        assert_eq!(status.as_u16(), 431, "{alpn}");
        let post = request(Method::POST, RESOLVER, "/dns-query", &[]);
        let (head, _) = http.fetch(post, Some(vec![0; 70_000])).await;
        assert_eq!(head.status(), StatusCode::PAYLOAD_TOO_LARGE, "{alpn}");
        assert_eq!(http.get("/", &[]).await.0.status(), StatusCode::OK);
    }
}

/// The h3 client refuses to send what the server says it will not take, unless it asks before the
/// server's settings are here; so the limit shows on one side or the other.
async fn over_limit_h3(
    http: &mut h3::client::SendRequest<h3_quinn::OpenStreams, Bytes>,
    long: &str,
) -> StatusCode {
    match http
        .send_request(request(Method::GET, HOST, "/", &[("a", long)]))
        .await
    {
        Ok(mut stream) => {
            let _ = stream.finish().await;
            stream.recv_response().await.unwrap().status()
        }
        Err(h3::error::StreamError::HeaderTooBig { max_size, .. }) => {
            assert_eq!(max_size, 16_384);
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE
        }
        Err(other) => panic!("{other}"),
    }
}

/// Requests taken back as soon as they are sent (CVE-2023-44487), each worth 20 s of the server.
#[tokio::test]
async fn requests_taken_back_are_not_worked_on() {
    const FLOOD_COUNT: usize = 2_000;
    let lab = Lab::with_site(&GENERATED.replace("250", "20000")).await;
    let Client::H2(mut flood) = Client::connect(&lab, "h2", HOST).await else {
        unreachable!()
    };
    for _ in 0..FLOOD_COUNT {
        flood = flood.ready().await.unwrap();
        let get = request(Method::GET, HOST, "/generated/1.bin", &[]);
        let (response, mut stream) = flood.send_request(get, true).unwrap();
        tokio::task::yield_now().await;
        stream.send_reset(h2::Reason::CANCEL);
        drop(response);
    }
    let mut good = Client::connect(&lab, "h2", HOST).await;
    assert_eq!(good.get("/", &[]).await.0.status(), StatusCode::OK);
    // Records of all that were begun, long before the server's time would be over.
    let seen = lab.requests(FLOOD_COUNT / 2).await;
    let sent = seen.iter().filter(|each| each.response_sent_ns.is_some());
    assert!(sent.count() <= 1);
}
