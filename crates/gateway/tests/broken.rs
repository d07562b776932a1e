//! What is broken off at one end is told at the other, nothing is kept that is not taken, and the next
//! request is served as if nothing had been.
#![allow(clippy::unwrap_used)]

use crate::support;
use crate::support::browser::{Browser, request};
use crate::support::{FIRST, LONG, Lab, Settings};
use bytes::Bytes;
use http::Method;
use resolab_record::{Failure, HttpVersion};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

const LEGS: [HttpVersion; 3] = [HttpVersion::H1, HttpVersion::H2, HttpVersion::H3];
const UPSTREAMS: [HttpVersion; 2] = [HttpVersion::H2, HttpVersion::H3];
const LARGE_BYTES: u64 = 100_000_000;

async fn lab(upstream: HttpVersion) -> Lab {
    Lab::start(Settings {
        upstream,
        ..Settings::default()
    })
    .await
}

async fn until(what: &str, holds: impl Fn() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < LONG, "{what}");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

async fn fails(browser: &mut Browser, path: &str) {
    let get = request(Method::GET, FIRST, path);
    assert!(browser.fetch(get, None).await.is_err(), "{path}");
}

#[tokio::test]
async fn what_the_browser_takes_back_is_taken_back_upstream() {
    for upstream in UPSTREAMS {
        for leg in LEGS {
            let lab = lab(upstream).await;
            // Before a head has come, then in the middle of a body.
            for (number, path) in ["/gate", "/bytes/100000000"].into_iter().enumerate() {
                let (browser, origin) = (lab.browser(leg, FIRST).await, lab.origin());
                let rest = take_back(browser, path, || origin.paths().len() > number).await;
                let seen = || origin.seen.unwanted_count.load(Ordering::Relaxed);
                let what = format!("{leg:?} {upstream:?} {path}");
                until(&what, || seen() > number as u64).await;
                let request = lab.requests(number + 1).await.remove(number);
                assert!(
                    request.cancelled && request.failure.is_none(),
                    "{request:?}"
                );
                drop(rest);
            }
            assert!(lab.origin().seen.sent_bytes.load(Ordering::Relaxed) < LARGE_BYTES);
            let mut browser = lab.browser(leg, FIRST).await;
            assert_eq!(browser.get("/").await.head.status(), 200);
        }
    }
}

/// Ask, wait until the server has the request, and want it no more. Over HTTP/1.1 the connection is
/// all there is to take back; others stay.
async fn take_back(
    mut browser: Browser,
    path: &str,
    has_come: impl Fn() -> bool,
) -> Option<Browser> {
    let get = request(Method::GET, FIRST, path);
    match &mut browser {
        Browser::H1(..) => {
            tokio::select! {
                _ = browser.fetch(get, None) => panic!("{path} ended"),
                () = until(path, has_come) => (),
            }
            return None;
        }
        Browser::H2(_, http) => {
            let mut http = http.clone().ready().await.unwrap();
            let (response, _) = http.send_request(get, true).unwrap();
            until(path, has_come).await;
            drop(response);
        }
        Browser::H3(_, http, _) => {
            let mut stream = http.send_request(get).await.unwrap();
            stream.finish().await.unwrap();
            until(path, has_come).await;
            stream.stop_sending(h3::error::Code::H3_REQUEST_CANCELLED);
        }
    }
    Some(browser)
}

#[tokio::test]
async fn a_slow_browser_slows_the_server_down() {
    for upstream in UPSTREAMS {
        for leg in [HttpVersion::H2, HttpVersion::H3] {
            let lab = lab(upstream).await;
            let mut browser = lab.browser(leg, FIRST).await;
            let get = request(Method::GET, FIRST, "/bytes/100000000");
            let sent = || lab.origin().seen.sent_bytes.load(Ordering::Relaxed);
            // Whatever holds a response that nobody reads.
            let unread: Box<dyn std::any::Any> = match &mut browser {
                Browser::H1(..) => unreachable!(),
                Browser::H2(_, http) => {
                    let mut http = http.clone().ready().await.unwrap();
                    let (response, _) = http.send_request(get, true).unwrap();
                    Box::new(response.await.unwrap())
                }
                Browser::H3(_, http, _) => {
                    let mut stream = http.send_request(get).await.unwrap();
                    stream.finish().await.unwrap();
                    stream.recv_response().await.unwrap();
                    Box::new(stream)
                }
            };
            let mut before = None;
            let began = Instant::now();
            while before != Some(sent()) {
                before = Some(sent());
                tokio::time::sleep(Duration::from_millis(300)).await;
                assert!(began.elapsed() < LONG, "it does not stop");
            }
            // The windows and buffers of both connections, and no more.
            assert!(sent() < 40_000_000, "{leg:?} {upstream:?}: {}", sent());
            // Others go on meanwhile.
            let mut other = lab.browser(leg, FIRST).await;
            assert_eq!(other.get("/").await.head.status(), 200);
            drop(unread);
        }
    }
}

#[tokio::test]
async fn a_slow_server_slows_the_browser_down() {
    for upstream in UPSTREAMS {
        let lab = lab(upstream).await;
        let browser = lab.browser(HttpVersion::H2, FIRST).await;
        let Browser::H2(_, http) = &browser else {
            unreachable!()
        };
        let mut http = http.clone().ready().await.unwrap();
        let post = request(Method::POST, FIRST, "/unread");
        let (_response, mut send) = http.send_request(post, false).unwrap();
        let mut sent_bytes = 0;
        // Until no room comes for a while.
        loop {
            send.reserve_capacity(100_000);
            let room = std::future::poll_fn(|cx| send.poll_capacity(cx));
            let Ok(room) = tokio::time::timeout(Duration::from_millis(500), room).await else {
                break;
            };
            let room = room.unwrap().unwrap();
            send.send_data(Bytes::from(vec![b'x'; room]), false)
                .unwrap();
            sent_bytes += room;
            assert!(sent_bytes < 40_000_000, "{upstream:?}");
        }
        assert_eq!(lab.origin().seen.read_bytes.load(Ordering::Relaxed), 0);
        let mut other = lab.browser(HttpVersion::H2, FIRST).await;
        assert_eq!(other.get("/").await.head.status(), 200);
    }
}

#[tokio::test]
async fn what_breaks_off_upstream_is_not_whole_for_the_browser() {
    for upstream in UPSTREAMS {
        for leg in LEGS {
            let lab = lab(upstream).await;
            for (number, path) in ["/broken", "/half"].into_iter().enumerate() {
                let mut browser = lab.browser(leg, FIRST).await;
                fails(&mut browser, path).await;
                let request = lab.requests(number + 1).await.remove(number);
                let what = format!("{leg:?} {upstream:?} {path} {request:?}");
                assert_eq!(request.failure, Some(Failure::HttpProtocol), "{what}");
                assert!(!request.cancelled, "{what}");
                assert_eq!(request.status.is_some(), path == "/half", "{what}");
            }
            let mut browser = lab.browser(leg, FIRST).await;
            assert_eq!(browser.get("/").await.head.status(), 200);
        }
    }
}

#[tokio::test]
async fn heads_have_a_largest_size() {
    for upstream in UPSTREAMS {
        for leg in LEGS {
            let lab = lab(upstream).await;
            let mut browser = lab.browser(leg, FIRST).await;
            let fetched = browser.get("/large-head/30000").await;
            assert_eq!(
                fetched.head.headers()["x-large"].len(),
                30_000,
                "{leg:?} {upstream:?}"
            );
            fails(&mut browser, "/large-head/100000").await;
            let mut browser = lab.browser(leg, FIRST).await;
            let mut large = request(Method::GET, FIRST, "/");
            let value = "a".repeat(100_000).parse().unwrap();
            large.headers_mut().insert("x-large", value);
            let refused = browser.fetch(large, None).await;
            let status = refused.map(|fetched| fetched.head.status().as_u16());
            assert!(matches!(status, Err(_) | Ok(431)), "{leg:?} {status:?}");
            let mut browser = lab.browser(leg, FIRST).await;
            assert_eq!(
                browser.get("/").await.head.status(),
                200,
                "{leg:?} {upstream:?}"
            );
        }
    }
}

/// A request that its server did not look at may be sent again, and browsers do.
#[tokio::test]
async fn what_was_not_processed_is_sent_again() {
    for upstream in UPSTREAMS {
        let lab = lab(upstream).await;
        let mut browser = lab.browser(HttpVersion::H2, FIRST).await;
        assert_eq!(browser.get("/refused-once").await.head.status(), 200);
        let request = lab.requests(1).await.remove(0);
        assert_eq!((request.sent_again_count, request.failure), (1, None));
    }
}

/// A stream whose head never comes whole is no other's business.
#[tokio::test]
async fn a_head_that_stalls_holds_up_no_other() {
    let lab = lab(HttpVersion::H3).await;
    let mut browser = lab.browser(HttpVersion::H3, FIRST).await;
    let Browser::H3(_, _, quic) = &browser else {
        unreachable!()
    };
    let (mut stalled, _receive) = quic.open_bi().await.unwrap();
    // HEADERS of 64 bytes, of which one comes.
    stalled.write_all(&[0x01, 0x40, 0x40, 0]).await.unwrap();
    assert_eq!(browser.get("/").await.head.status(), 200);
}

/// A server that ends its connections between two requests costs the browser nothing.
#[tokio::test]
async fn a_connection_that_ended_is_replaced() {
    for upstream in UPSTREAMS {
        let lab = lab(upstream).await;
        let mut browser = lab.browser(HttpVersion::H2, FIRST).await;
        assert_eq!(browser.get("/").await.head.status(), 200);
        lab.origin().end_connections().await;
        assert_eq!(browser.get("/").await.head.status(), 200, "{upstream:?}");
        let requests = lab.requests(2).await;
        assert_ne!(requests[0].connection_id, requests[1].connection_id);
    }
}

/// A server that ends a connection in good order (GOAWAY) goes on with what it has; the next request is
/// another's.
#[tokio::test]
async fn a_connection_that_takes_no_more_is_replaced() {
    let lab = lab(HttpVersion::H2).await;
    let mut waiting = lab.browser(HttpVersion::H2, FIRST).await;
    let gate = request(Method::GET, FIRST, "/gate");
    let waiting = tokio::spawn(async move { waiting.fetch(gate, None).await });
    until("the request has come", || !lab.origin().paths().is_empty()).await;
    lab.origin().begin_ending();
    let mut browser = lab.browser(HttpVersion::H2, FIRST).await;
    let began = Instant::now();
    // Until the GOAWAY is there, requests may go on the old one.
    loop {
        assert_eq!(browser.get("/").await.head.status(), 200);
        let places = lab.origin().places();
        if places.last().unwrap().0 != places[0].0 {
            break;
        }
        assert!(began.elapsed() < LONG, "no other connection");
    }
    lab.origin().gate.send_replace(true);
    assert_eq!(waiting.await.unwrap().unwrap().head.status(), 200);
}

/// One name's sockets that could not be opened keep none from the next.
#[tokio::test]
async fn an_address_whose_port_was_taken_serves_once_it_is_free() {
    let lab = lab(HttpVersion::H3).await;
    let first = lab.look_up(FIRST).await;
    let next = std::net::Ipv4Addr::from(u32::from(first) + 1);
    let taken = std::net::UdpSocket::bind((next, support::PORT)).unwrap();
    let refused = lab.ask(support::COVERED, 1).await;
    assert_eq!(refused[3] & 15, 2, "SERVFAIL");
    drop(taken);
    assert_eq!(lab.look_up(support::COVERED).await, next);
    let mut browser = lab.browser(HttpVersion::H3, support::COVERED).await;
    assert_eq!(browser.get("/").await.head.status(), 200);
}

#[tokio::test]
async fn ten_thousand_requests_pass() {
    for (leg, upstream) in [
        (HttpVersion::H3, HttpVersion::H3),
        (HttpVersion::H2, HttpVersion::H2),
    ] {
        let lab = lab(upstream).await;
        let browser = lab.browser(leg, FIRST).await;
        let paths: Vec<String> = (0..10_000)
            .map(|number| format!("/status/2{:02}?{number}", number % 4))
            .collect();
        support::browser::ask_in_turn(browser, &paths, 50).await;
        let requests = lab.requests(10_000).await;
        assert!(
            requests
                .iter()
                .all(|request| request.failure.is_none() && !request.cancelled)
        );
        assert!(lab.gateway.new_load(false, None).await);
        let connections = lab.connections(1).await;
        assert_eq!(
            (connections.len(), connections[0].requests_count),
            (1, 10_000)
        );
    }
}
