//! Which connections a name and a page share, and which they must not.

#![allow(clippy::unwrap_used)]

#[path = "../../dns/tests/support/mod.rs"]
mod support;

use bytes::Bytes;
use resolab_dns::EdnsOptions;
use resolab_fetch::fetch::{FetchClient, FetchOptions};
use resolab_http::{https_origin, origin_frame};
use resolab_record::{
    CoalescingMode, FetchRecord, HandshakeMode, SharedBecause, Speculation, TicketPolicy,
};
use std::net::SocketAddr;
use std::time::Duration;
use support::{PAGE_HOST, TestResolver};

const WITHIN: Duration = Duration::from_secs(5);

fn port(resolver: &TestResolver) -> u16 {
    let url = resolver.url("h3");
    url.rsplit_once(':').unwrap().1.parse().unwrap()
}

fn client(resolver: &TestResolver, is_speculative: bool) -> FetchClient {
    let port = port(resolver);
    let options = FetchOptions {
        mode: CoalescingMode::SharedConnection,
        is_speculative,
        handshake_mode: HandshakeMode::Full,
        groups: resolab_record::KeyExchangeGroup::ALL.to_vec(),
        keeps_address_tokens: false,
        edns: EdnsOptions::default(),
        ca_file: Some(resolver.ca_file.clone()),
    };
    let page = format!("https://{PAGE_HOST}:{port}/").parse().unwrap();
    let at = SocketAddr::from(([127, 0, 0, 1], port));
    FetchClient::new(resolver.url("h3").parse().unwrap(), at, page, options).unwrap()
}

async fn fetch(client: &FetchClient) -> FetchRecord {
    let record = client.fetch_once(0, WITHIN).await;
    assert_eq!(record.failure, None, "{:?}", record.failure_detail);
    assert_eq!(record.status, Some(200));
    record
}

#[tokio::test]
async fn what_a_connection_s_origin_set_does_not_name_has_one_of_its_own() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    let page = https_origin(PAGE_HOST, port(&resolver));
    let by_address = Some(SharedBecause::Address);
    for (frames, shared_because) in [
        (Bytes::new(), by_address),
        (origin_frame([page.as_str()]).unwrap(), by_address),
        (origin_frame(["https://another.test"]).unwrap(), None),
        // An empty ORIGIN frame.
        (Bytes::from_static(&[0x0c, 0]), None),
    ] {
        resolver.pages.lock().unwrap().control_frames = frames.clone();
        let record = fetch(&client(&resolver, false)).await;
        assert_eq!(record.shared_because, shared_because, "{frames:?}");
        let opened = if shared_because.is_some() { 1 } else { 2 };
        assert_eq!(record.connections.len(), opened, "{frames:?}");
    }
}

#[tokio::test]
async fn an_origin_set_is_its_connection_s_own() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    let page = https_origin(PAGE_HOST, port(&resolver));
    let client = client(&resolver, false);
    for (frames, is_shared) in [
        (origin_frame([page.as_str()]).unwrap(), true),
        (origin_frame(["https://another.test"]).unwrap(), false),
        (Bytes::new(), true),
    ] {
        resolver.pages.lock().unwrap().control_frames = frames.clone();
        let record = fetch(&client).await;
        assert_eq!(record.shared_because.is_some(), is_shared, "{frames:?}");
    }
}

#[tokio::test]
async fn a_server_that_answered_421_is_not_asked_for_the_page_again() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    resolver.pages.lock().unwrap().is_misdirected = true;
    let client = client(&resolver, true);
    for expected in [
        Speculation::Discarded,
        Speculation::NotSent,
        Speculation::NotSent,
    ] {
        let record = fetch(&client).await;
        assert_eq!(record.speculation, Some(expected));
        assert_eq!(record.shared_because, None);
        assert_eq!(record.connections.len(), 2);
    }
    assert_eq!(resolver.pages.lock().unwrap().misdirected_count, 1);
}

/// A page has no limit by what of it comes before the answer for its name.
#[tokio::test]
async fn a_large_page_may_be_there_before_its_name_s_answer() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    resolver.pages.lock().unwrap().more_bytes = 6_000_000;
    let record = fetch(&client(&resolver, true)).await;
    assert_eq!(record.speculation, Some(Speculation::Used));
    assert_eq!(record.shared_because, Some(SharedBecause::Address));
}
