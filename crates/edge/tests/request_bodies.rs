//! Bodies of requests that nobody reads: of any length, over HTTP/1.1, HTTP/2 and HTTP/3. In a
//! program of its own, because what is measured is the process.
#![allow(clippy::unwrap_used)]

mod support;

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use std::future::poll_fn;
use std::time::Duration;
use support::clients::{Client, VERSIONS, request};
use support::{HOST, Lab};
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;

const PIECE_BYTES: usize = 65_536;
const PATIENCE: Duration = Duration::from_mins(1);

fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap();
    status.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4_096
}

/// Post pieces until there are enough or they are not taken any more; the status, if there is one.
async fn post(http: &mut Client, pieces_count: usize) -> Option<StatusCode> {
    let post = request(Method::POST, HOST, "/", &[]);
    let piece = Bytes::from(vec![b'a'; PIECE_BYTES]);
    match http {
        Client::H1(http) => {
            let head =
                format!("POST / HTTP/1.1\r\nhost: {HOST}\r\ntransfer-encoding: chunked\r\n\r\n");
            http.send(head.as_bytes()).await;
            let chunk = [format!("{PIECE_BYTES:x}\r\n").as_bytes(), &piece, b"\r\n"].concat();
            for _ in 0..pieces_count {
                if http.write.write_all(&chunk).await.is_err() {
                    break;
                }
            }
            let _ = http.write.write_all(b"0\r\n\r\n").await;
            let _ = http.write.flush().await;
            Some(http.receive(false).await.0.status())
        }
        Client::H2(http) => {
            let (response, mut stream) = http.send_request(post, false).unwrap();
            for _ in 0..pieces_count {
                let mut rest = piece.clone();
                while !rest.is_empty() {
                    stream.reserve_capacity(rest.len());
                    let room = poll_fn(|cx| stream.poll_capacity(cx)).await?.ok()?;
                    stream
                        .send_data(rest.split_to(room.min(rest.len())), false)
                        .ok()?;
                }
            }
            stream.send_data(Bytes::new(), true).ok()?;
            Some(response.await.ok()?.status())
        }
        Client::H3(_, http) => {
            let mut stream = http.send_request(post).await.unwrap();
            for _ in 0..pieces_count {
                stream.send_data(piece.clone()).await.ok()?;
            }
            stream.finish().await.ok()?;
            Some(stream.recv_response().await.ok()?.status())
        }
    }
}

#[tokio::test]
async fn a_long_body_is_read_to_its_end_and_kept_nowhere() {
    const PIECES_COUNT: usize = 640;
    let limits = "[limits]\nmessage_timeout_s = 60\n[resolver]";
    let more = "methods = ['GET', 'POST']";
    let lab = Lab::start_edited(|text| text.replacen("[resolver]", limits, 1) + more).await;
    for alpn in VERSIONS {
        let mut http = Client::connect(&lab, alpn, HOST).await;
        let before = resident_bytes();
        let status = timeout(PATIENCE, post(&mut http, PIECES_COUNT)).await;
        assert_eq!(status.unwrap(), Some(StatusCode::OK), "{alpn}");
        let grown = resident_bytes().saturating_sub(before);
        let sent = (PIECES_COUNT * PIECE_BYTES) as u64;
        assert!(
            grown < sent / 2,
            "{alpn}: {grown} bytes for a body of {sent}"
        );
        assert_eq!(
            http.get("/", &[]).await.0.status(),
            StatusCode::OK,
            "{alpn}"
        );
    }
}

#[tokio::test]
async fn a_body_without_an_end_is_given_up() {
    let limits = "[limits]\nmessage_timeout_s = 0.3\n[resolver]";
    let lab = Lab::start_edited(|text| text.replacen("[resolver]", limits, 1)).await;
    for alpn in VERSIONS {
        let mut http = Client::connect(&lab, alpn, HOST).await;
        let given_up = timeout(PATIENCE, post(&mut http, usize::MAX)).await;
        let status = given_up.unwrap_or_else(|_| panic!("{alpn}: it was read on"));
        // Only HTTP/1.1 has no stream that could be reset.
        let expected = (alpn == "http/1.1").then_some(StatusCode::REQUEST_TIMEOUT);
        assert_eq!(status, expected, "{alpn}");
        let mut good = Client::connect(&lab, alpn, HOST).await;
        assert_eq!(
            good.get("/", &[]).await.0.status(),
            StatusCode::OK,
            "{alpn}"
        );
    }
}

#[tokio::test]
async fn a_body_that_is_not_as_long_as_its_head_says_has_no_response() {
    let lab = Lab::start_edited(|text| text + "methods = ['GET', 'POST']").await;
    for alpn in ["h2", "h3"] {
        for (length, status) in [("2", None), ("3", Some(StatusCode::OK)), ("4", None)] {
            let mut http = Client::connect(&lab, alpn, HOST).await;
            let fields = [("content-length", length)];
            let post = request(Method::POST, HOST, "/", &fields);
            let got = timeout(
                PATIENCE,
                post_once(&mut http, post, Bytes::from_static(b"abc")),
            );
            assert_eq!(got.await.unwrap(), status, "{alpn}: {length}");
        }
    }
}

/// Post one piece; the status, if there is one.
async fn post_once(http: &mut Client, post: Request<()>, piece: Bytes) -> Option<StatusCode> {
    match http {
        Client::H1(_) => None,
        Client::H2(http) => {
            let (response, mut stream) = http.send_request(post, false).unwrap();
            stream.send_data(piece, true).ok()?;
            Some(response.await.ok()?.status())
        }
        Client::H3(_, http) => {
            let mut stream = http.send_request(post).await.unwrap();
            stream.send_data(piece).await.ok()?;
            stream.finish().await.ok()?;
            Some(stream.recv_response().await.ok()?.status())
        }
    }
}
