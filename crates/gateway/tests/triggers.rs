//! When the browser is answered and connections upstream begin, by trigger; and what names it is told.
#![allow(clippy::unwrap_used)]

use crate::support;
use crate::support::{COVERED, ELSEWHERE, FIRST, LONG, Lab, Settings};
use resolab_record::{Failure, GatewayTrigger, HttpVersion, Record};
use std::net::Ipv4Addr;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;

const A: u8 = 1;
const AAAA: u8 = 28;
const HTTPS: u8 = 65;

async fn lab(trigger: GatewayTrigger) -> Lab {
    Lab::start(Settings {
        trigger,
        ..Settings::default()
    })
    .await
}

fn rcode(answer: &[u8]) -> u8 {
    answer[3] & 15
}

fn answers_count(answer: &[u8]) -> u16 {
    u16::from_be_bytes([answer[6], answer[7]])
}

#[tokio::test]
async fn every_name_has_an_address_of_its_own_and_no_other_records() {
    for trigger in [GatewayTrigger::Mirror, GatewayTrigger::Request] {
        let lab = lab(trigger).await;
        let mut addresses: Vec<Ipv4Addr> = Vec::new();
        for host in [FIRST, COVERED, ELSEWHERE] {
            addresses.push(lab.look_up(host).await);
            assert_eq!(lab.look_up(host).await, *addresses.last().unwrap());
        }
        addresses.sort();
        addresses.dedup();
        assert_eq!(addresses.len(), 3);
        let answer = lab.ask(FIRST, AAAA).await;
        assert_eq!((rcode(&answer), answers_count(&answer)), (0, 0));
        let answer = lab.ask(FIRST, HTTPS).await;
        assert_eq!((rcode(&answer), answers_count(&answer)), (0, 1));
        let text = String::from_utf8_lossy(&answer).into_owned();
        assert!(text.contains("\u{2}h3\u{2}h2"), "{text:?}");
        // The zone's own record has a hint of four bytes, which would lead past the gateway.
        assert!(
            !answer.windows(4).any(|part| part == [0, 4, 0, 4]),
            "{answer:?}"
        );
    }
}

#[tokio::test]
async fn what_is_no_name_stays_none() {
    let lab = lab(GatewayTrigger::Mirror).await;
    let answer = lab.ask("nothing.resolab.test", A).await;
    assert_eq!((rcode(&answer), answers_count(&answer)), (3, 0));
    let answer = lab.ask("elsewhere.example", A).await;
    assert_eq!(rcode(&answer), 5);
}

#[tokio::test]
async fn names_end_when_there_are_no_addresses_left() {
    let lab = lab(GatewayTrigger::Request).await;
    // The range has six.
    for number in 0..6 {
        lab.look_up(&format!("{number}.resolab.test")).await;
    }
    let answer = lab.ask("6.resolab.test", A).await;
    assert_eq!(rcode(&answer), 2);
    lab.look_up("0.resolab.test").await;
}

#[tokio::test]
async fn mirror_holds_the_answer_and_the_flight() {
    for leg in [HttpVersion::H2, HttpVersion::H3] {
        let lab = Lab::start(Settings {
            delay_ms: 300,
            ..Settings::default()
        })
        .await;
        let asked = Instant::now();
        let address = lab.look_up(FIRST).await;
        assert!(asked.elapsed() >= Duration::from_millis(300));
        let mut browser = lab.browser_at(leg, FIRST, address).await.unwrap();
        browser.get("/").await;
        assert!(lab.gateway.new_load(false, None).await);
        let (leg, connection) = (
            lab.legs(1).await.remove(0),
            lab.connections(1).await.remove(0),
        );
        assert!(connection.wanted_ns >= leg.hello_ns);
        assert!(leg.released_ns >= connection.usable_ns && connection.usable_ns.is_some());
        assert!(leg.handshake_complete_ns > leg.released_ns);
        assert_eq!(leg.requests_count, 1);
    }
}

#[tokio::test]
async fn other_triggers_answer_at_once() {
    for trigger in [
        GatewayTrigger::Dns,
        GatewayTrigger::Hello,
        GatewayTrigger::Request,
    ] {
        let lab = Lab::start(Settings {
            trigger,
            delay_ms: 1_000,
            ..Settings::default()
        })
        .await;
        let address = lab.look_up(FIRST).await;
        let mut browser = lab
            .browser_at(HttpVersion::H2, FIRST, address)
            .await
            .unwrap();
        assert_eq!(browser.get("/").await.head.status(), 200);
        assert!(lab.gateway.new_load(false, None).await);
        let query = lab
            .wait(|records| {
                records.iter().find_map(|record| {
                    let Record::Query(query) = record else {
                        return None;
                    };
                    Some(query.clone())
                })
            })
            .await;
        // Told before the resolver answered.
        let told_ns = query.forwarded_for.unwrap().answered_ns.unwrap();
        assert!(
            told_ns < query.query_response_time_ns.unwrap(),
            "{trigger:?}"
        );
        let (leg, connection) = (
            lab.legs(1).await.remove(0),
            lab.connections(1).await.remove(0),
        );
        let request = lab.requests(1).await.remove(0);
        assert!(leg.released_ns.unwrap() < connection.usable_ns.unwrap());
        let earliest_ns = match trigger {
            GatewayTrigger::Request => request.received_ns,
            GatewayTrigger::Hello | GatewayTrigger::Mirror => leg.hello_ns,
            GatewayTrigger::Dns => query.time_origin_ns,
        };
        assert!(connection.wanted_ns >= earliest_ns, "{trigger:?}");
    }
}

#[tokio::test]
async fn a_name_s_query_can_open_its_connection() {
    let lab = lab(GatewayTrigger::Dns).await;
    lab.look_up(FIRST).await;
    let began = Instant::now();
    while lab.origin().seen.handshakes.lock().unwrap().is_empty() {
        assert!(began.elapsed() < LONG);
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert!(lab.gateway.new_load(false, None).await);
    assert_eq!(lab.connections(1).await[0].requests_count, 0);
}

/// Browsers open sockets ahead, and close those that they have no use for.
#[tokio::test]
async fn a_socket_closed_unused_is_no_leg_and_opens_nothing() {
    for trigger in [GatewayTrigger::Mirror, GatewayTrigger::Hello] {
        let lab = lab(trigger).await;
        let address = lab.look_up(FIRST).await;
        let unused = TcpStream::connect((address, support::PORT)).await.unwrap();
        drop(unused);
        let mut browser = lab
            .browser_at(HttpVersion::H2, FIRST, address)
            .await
            .unwrap();
        assert_eq!(browser.get("/").await.head.status(), 200);
        assert!(lab.gateway.new_load(false, None).await);
        assert_eq!(lab.legs(1).await.len(), 1, "{trigger:?}");
        let unused = TcpStream::connect((address, support::PORT)).await.unwrap();
        drop(unused);
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert!(lab.gateway.new_load(false, None).await);
        assert_eq!(lab.legs(1).await.len(), 1, "{trigger:?}");
        assert_eq!(lab.connections(1).await.len(), 1, "{trigger:?}");
        assert_eq!(lab.origin().seen.handshakes.lock().unwrap().len(), 1);
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told_to_the_browser() {
    for upstream in [HttpVersion::H2, HttpVersion::H3] {
        let lab = Lab::start(Settings {
            upstream,
            without_origin: true,
            deadline: Duration::from_millis(500),
            ..Settings::default()
        })
        .await;
        let address = lab.look_up(FIRST).await;
        for leg in [HttpVersion::H1, HttpVersion::H2, HttpVersion::H3] {
            assert!(
                lab.browser_at(leg, FIRST, address).await.is_err(),
                "{leg:?}"
            );
        }
        let expected = if upstream == HttpVersion::H2 {
            Failure::TcpConnectRefused
        } else {
            Failure::QuicHandshakeTimeout
        };
        for leg in lab.legs(3).await {
            assert_eq!(
                (leg.failure, leg.released_ns),
                (Some(expected), None),
                "{leg:?}"
            );
        }
        assert_eq!(lab.connections(1).await[0].failure, Some(expected));
    }
    let lab = Lab::start(Settings {
        trigger: GatewayTrigger::Request,
        upstream: HttpVersion::H2,
        without_origin: true,
        ..Settings::default()
    })
    .await;
    for leg in [HttpVersion::H1, HttpVersion::H2, HttpVersion::H3] {
        let mut browser = lab.browser(leg, FIRST).await;
        let get = support::browser::request(http::Method::GET, FIRST, "/");
        assert!(browser.fetch(get, None).await.is_err(), "{leg:?}");
    }
    for request in lab.requests(3).await {
        assert_eq!(request.failure, Some(Failure::TcpConnectRefused));
        assert_eq!((request.connection_id, request.status), (None, None));
    }
}
