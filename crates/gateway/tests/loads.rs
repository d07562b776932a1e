//! One load after the other: what is forgotten, what is kept, and which handshakes come of it, as the
//! server judges them.
#![allow(clippy::unwrap_used)]

use crate::support;
use crate::support::browser::{Browser, request};
use crate::support::{FIRST, LONG, Lab, Settings};
use http::Method;
use resolab_record::{
    AddressProof, Failure, GatewayTrigger, HandshakeMode, HttpVersion, Record, TicketPolicy,
};
use std::time::{Duration, Instant};
use tokio::net::TcpStream;

async fn lab(handshake: HandshakeMode, upstream: HttpVersion) -> Lab {
    Lab::start(Settings {
        handshake,
        upstream,
        ..Settings::default()
    })
    .await
}

/// A lab where handshakes begin with requests, and so cannot end before them.
async fn early(upstream: HttpVersion) -> Lab {
    Lab::start(Settings {
        handshake: HandshakeMode::ZeroRtt,
        trigger: GatewayTrigger::Request,
        upstream,
        ..Settings::default()
    })
    .await
}

/// What the server says of the latest connection, once its handshake is complete.
async fn judged(lab: &Lab) -> HandshakeMode {
    judged_after(lab, 0).await
}

/// The same of one after so many.
async fn judged_after(lab: &Lab, count: usize) -> HandshakeMode {
    let began = Instant::now();
    loop {
        let latest = {
            let handshakes = lab.origin().seen.handshakes.lock().unwrap();
            handshakes[count..].last().cloned()
        };
        if let Some(mode) = latest.and_then(|facts| facts.handshake_mode()) {
            return mode;
        }
        assert!(began.elapsed() < LONG, "the handshake does not end");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// One load of one request; what the server says of its connection.
async fn load(lab: &Lab, leg: HttpVersion) -> HandshakeMode {
    let mut browser = lab.browser(leg, FIRST).await;
    assert_eq!(browser.get("/bytes/5000").await.body.len(), 5_000);
    let mode = judged(lab).await;
    // The tickets are behind the answer on the way here.
    assert_eq!(browser.get("/").await.head.status(), 200);
    mode
}

#[tokio::test]
async fn tickets_outlive_loads_and_connections_do_not() {
    for upstream in [HttpVersion::H2, HttpVersion::H3] {
        for wanted in [
            HandshakeMode::Full,
            HandshakeMode::Resumed,
            HandshakeMode::ZeroRtt,
        ] {
            let lab = lab(wanted, upstream).await;
            for (number, expected) in [HandshakeMode::Full, wanted, wanted]
                .into_iter()
                .enumerate()
            {
                let got = load(&lab, HttpVersion::H2).await;
                assert_eq!(got, expected, "{upstream:?} {wanted:?} {number}");
                assert!(lab.gateway.new_load(false, None).await);
                let connections = lab.connections(number + 1).await;
                assert_eq!(connections.len(), number + 1);
                let connection = &connections[number];
                assert_eq!(connection.load, number as u64);
                assert_eq!(connection.handshake_mode, Some(expected));
                assert_eq!(connection.requested_handshake_mode, wanted);
                let requests = lab.requests(2 * number + 2).await;
                if expected != HandshakeMode::ZeroRtt {
                    assert_eq!(requests[2 * number].sent_early, Some(false), "{upstream:?}");
                }
            }
            load(&lab, HttpVersion::H2).await;
            assert!(lab.gateway.new_load(true, None).await);
            assert_eq!(load(&lab, HttpVersion::H2).await, HandshakeMode::Full);
        }
    }
}

#[tokio::test]
async fn requests_leave_in_early_data() {
    for upstream in [HttpVersion::H2, HttpVersion::H3] {
        let lab = early(upstream).await;
        load(&lab, HttpVersion::H3).await;
        assert!(lab.gateway.new_load(false, None).await);
        assert_eq!(load(&lab, HttpVersion::H3).await, HandshakeMode::ZeroRtt);
        let requests = lab.requests(3).await;
        assert_eq!(requests[2].sent_early, Some(true), "{upstream:?}");
    }
}

#[tokio::test]
async fn a_new_load_ends_what_is_under_way() {
    for leg in [HttpVersion::H1, HttpVersion::H2, HttpVersion::H3] {
        let lab = lab(HandshakeMode::Full, HttpVersion::H3).await;
        let mut browser = lab.browser(leg, FIRST).await;
        let get = request(Method::GET, FIRST, "/gate");
        let waiting = tokio::spawn(async move { browser.fetch(get, None).await.is_err() });
        while lab.origin().paths().is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert!(lab.gateway.new_load(false, None).await, "{leg:?}");
        let (legs, requests) = (lab.legs(1).await, lab.requests(1).await);
        assert!(waiting.await.unwrap(), "{leg:?}");
        assert_eq!((legs[0].load, requests[0].load), (0, 0));
        assert!(requests[0].cancelled);
        assert_eq!(lab.connections(1).await[0].load, 0);
        assert_eq!(load(&lab, leg).await, HandshakeMode::Full);
        assert!(lab.gateway.new_load(false, None).await);
        assert_eq!(lab.requests(3).await[2].load, 1);
    }
}

#[tokio::test]
async fn a_load_ends_with_its_look_ups() {
    let lab = Lab::start(Settings {
        trigger: GatewayTrigger::Request,
        delay_ms: 500,
        ..Settings::default()
    })
    .await;
    // Told at once; the resolver takes its time.
    lab.look_up(FIRST).await;
    assert!(lab.gateway.new_load(false, None).await);
    assert!(lab.has_now(|record| matches!(record, Record::Query(_))));
}

/// A leg that comes while a load is being ended is no part of the next one.
#[tokio::test]
async fn a_straggler_is_ended_with_the_load_before() {
    for leg in [HttpVersion::H2, HttpVersion::H3] {
        let lab = Lab::start(Settings {
            trigger: GatewayTrigger::Request,
            delay_ms: 500,
            ..Settings::default()
        })
        .await;
        // Its look-up is under way for half a second, and so is the end of its load.
        lab.look_up(FIRST).await;
        let straggler = async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            lab.browser(leg, FIRST).await
        };
        let (is_over, _open) = tokio::join!(lab.gateway.new_load(false, None), straggler);
        assert!(is_over, "{leg:?}");
        let ended = |record: &Record| matches!(record, Record::GatewayLeg(leg) if leg.load == 1);
        assert!(lab.has_now(ended), "{leg:?}");
        assert_eq!(load(&lab, leg).await, HandshakeMode::Full);
        assert!(lab.gateway.new_load(false, None).await, "{leg:?}");
        assert_eq!(lab.requests(2).await[1].load, 2, "{leg:?}");
    }
}

/// Connections on which nothing was said, before and after the handshake of TLS, hold up no load.
#[tokio::test]
async fn idle_connections_of_the_browser_end_with_the_load() {
    let lab = lab(HandshakeMode::Full, HttpVersion::H3).await;
    let address = lab.look_up(FIRST).await;
    let silent = TcpStream::connect((address, support::PORT)).await.unwrap();
    let tls = support::browser::tls_alone(lab.roots(), FIRST, (address, support::PORT)).await;
    let began = Instant::now();
    assert!(lab.gateway.new_load(false, None).await);
    assert!(
        began.elapsed() < Duration::from_secs(4),
        "{:?}",
        began.elapsed()
    );
    drop((silent, tls));
    assert_eq!(load(&lab, HttpVersion::H2).await, HandshakeMode::Full);
}

#[tokio::test]
async fn what_is_not_safe_waits_for_the_handshake() {
    for upstream in [HttpVersion::H2, HttpVersion::H3] {
        let lab = lab(HandshakeMode::ZeroRtt, upstream).await;
        load(&lab, HttpVersion::H3).await;
        assert!(lab.gateway.new_load(false, None).await);
        let mut browser = lab.browser(HttpVersion::H3, FIRST).await;
        let post = request(Method::POST, FIRST, "/echo");
        let fetched = browser.fetch(post, Some(vec![b'p'; 1_000])).await.unwrap();
        assert_eq!(fetched.body.len(), 1_000);
        let post = lab.requests(3).await.remove(2);
        assert_eq!(
            (post.method.as_str(), post.sent_early),
            ("POST", Some(false))
        );
    }
}

/// A lab whose first load got a ticket; the early data of the next is rejected.
async fn rejecting(upstream: HttpVersion) -> Lab {
    let lab = early(upstream).await;
    load(&lab, HttpVersion::H2).await;
    assert!(lab.gateway.new_load(false, None).await);
    let policies = &lab.origin().policies;
    assert!(policies.set_policy(None, TicketPolicy::RejectEarlyData));
    lab
}

#[tokio::test]
async fn rejected_early_data_is_sent_again() {
    for upstream in [HttpVersion::H2, HttpVersion::H3] {
        let lab = rejecting(upstream).await;
        assert_eq!(load(&lab, HttpVersion::H2).await, HandshakeMode::Resumed);
        assert!(lab.gateway.new_load(false, None).await);
        let requests = lab.requests(4).await;
        let rejected = &requests[2];
        assert_eq!(rejected.status, Some(200), "{rejected:?}");
        assert_eq!(rejected.sent_early, Some(upstream == HttpVersion::H2));
        // Below HTTP/2 the stream does it by itself.
        let again_count = u32::from(upstream == HttpVersion::H3);
        assert_eq!(rejected.sent_again_count, again_count, "{rejected:?}");
        assert_eq!(lab.connections(2).await[1].early_data_accepted, Some(false));
    }
}

/// A server may have carried out what it broke off, once early data is over.
#[tokio::test]
async fn what_breaks_off_later_is_not_sent_again() {
    for upstream in [HttpVersion::H2, HttpVersion::H3] {
        let lab = rejecting(upstream).await;
        let mut browser = lab.browser(HttpVersion::H2, FIRST).await;
        assert_eq!(browser.get("/").await.head.status(), 200);
        let post = request(Method::POST, FIRST, "/reset");
        assert!(browser.fetch(post, None).await.is_err());
        let paths = lab.origin().paths();
        let sent_count = paths.iter().filter(|path| *path == "/reset").count();
        assert_eq!(sent_count, 1, "{upstream:?}");
    }
}

/// RFC 8470 section 4: not without the end of the handshake, however long that takes.
#[tokio::test]
async fn what_is_not_safe_fails_with_the_handshake_and_never_leaves_early() {
    let lab = Lab::start(Settings {
        handshake: HandshakeMode::ZeroRtt,
        trigger: GatewayTrigger::Request,
        deadline: Duration::from_secs(3),
        ..Settings::default()
    })
    .await;
    load(&lab, HttpVersion::H2).await;
    assert!(lab.gateway.new_load(false, None).await);
    lab.origin().policies.black_hole.begin(None, []);
    let mut browser = lab.browser(HttpVersion::H2, FIRST).await;
    let post = request(Method::POST, FIRST, "/echo");
    assert!(browser.fetch(post, Some(vec![b'p'])).await.is_err());
    let post = lab.requests(3).await.remove(2);
    assert_eq!(
        post.failure,
        Some(Failure::QuicHandshakeTimeout),
        "{post:?}"
    );
    assert_eq!((post.sent_ns, post.sent_early), (None, None));
    // Early data would come now.
    lab.origin().policies.black_hole.end(None);
    let mode = judged_after(&lab, 1).await;
    assert_eq!(mode, HandshakeMode::ZeroRtt);
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(!lab.origin().paths().contains(&"/echo".to_owned()));
}

/// More requests than a server takes at once: those that wait for their streams leave after the handshake, and
/// are early no more.
#[tokio::test]
async fn what_waits_for_its_stream_is_not_early() {
    for (policy, early_count) in [
        (TicketPolicy::EarlyData, 100),
        (TicketPolicy::RejectEarlyData, 0),
    ] {
        let lab = early(HttpVersion::H3).await;
        load(&lab, HttpVersion::H2).await;
        assert!(lab.gateway.new_load(false, None).await);
        assert!(lab.origin().policies.set_policy(None, policy));
        let paths: Vec<String> = (0..150)
            .map(|number| format!("/status/200?{number}"))
            .collect();
        let browsers = [
            lab.browser(HttpVersion::H2, FIRST).await,
            lab.browser(HttpVersion::H2, FIRST).await,
        ];
        let [first, second] = browsers;
        tokio::join!(
            support::browser::ask_all(first, &paths[..75]),
            support::browser::ask_all(second, &paths[75..]),
        );
        let requests = lab.requests(152).await;
        let (mut early, mut late) = (0, 0);
        for request in &requests[2..] {
            assert_eq!(request.status, Some(200), "{policy:?} {request:?}");
            match request.sent_early {
                Some(true) => early += 1,
                _ => late += 1,
            }
        }
        assert!(
            early <= early_count && late >= 50,
            "{policy:?}: {early}, {late}"
        );
    }
}

/// The end of a request without a body may come in a packet behind its head.
#[tokio::test]
async fn a_request_whose_end_comes_later_leaves_early_too() {
    let lab = early(HttpVersion::H3).await;
    load(&lab, HttpVersion::H3).await;
    assert!(lab.gateway.new_load(false, None).await);
    let mut browser = lab.browser(HttpVersion::H3, FIRST).await;
    let Browser::H3(host, http, _) = &mut browser else {
        unreachable!()
    };
    let mut stream = http
        .send_request(request(Method::GET, host, "/"))
        .await
        .unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    stream.finish().await.unwrap();
    assert_eq!(stream.recv_response().await.unwrap().status(), 200);
    assert_eq!(lab.requests(3).await[2].sent_early, Some(true));
}

/// An address token is a memory of a load before (RFC 9000 section 8.1.3), as a ticket is.
#[tokio::test]
async fn address_tokens_are_forgotten_with_tickets() {
    let lab = lab(HandshakeMode::Resumed, HttpVersion::H3).await;
    for (number, (forgets, expected)) in [
        (false, AddressProof::Handshake),
        (true, AddressProof::NewToken),
        (false, AddressProof::Handshake),
    ]
    .into_iter()
    .enumerate()
    {
        load(&lab, HttpVersion::H2).await;
        let proof = {
            let handshakes = lab.origin().seen.handshakes.lock().unwrap();
            handshakes[number].address_proof()
        };
        assert_eq!(proof, Some(expected), "{number}");
        assert!(lab.gateway.new_load(forgets, None).await);
    }
}

/// A leg whose browser vanished in its handshake holds up no load.
#[tokio::test]
async fn a_half_hello_ends_with_the_load() {
    let lab = early(HttpVersion::H3).await;
    let address = lab.look_up(FIRST).await;
    let silent = TcpStream::connect((address, support::PORT)).await.unwrap();
    // A TLS record that says it has 512 bytes.
    silent.try_write(&[22, 3, 1, 2, 0, 1]).unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    let began = Instant::now();
    assert!(lab.gateway.new_load(false, None).await);
    assert!(began.elapsed() < Duration::from_secs(4));
    assert_eq!(lab.legs(1).await[0].handshake_complete_ns, None);
    drop(silent);
}
