//! Ticket policies on every encrypted transport: live switches, lifetime, number, and tickets that
//! serve on other listeners. Judged by the edge's records.
#![allow(clippy::unwrap_used)]

use crate::support::{Client, HOST, Lab, RESOLVER};
use resolab_record::{EdgeCommand, HandshakeMode, TicketPolicy};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

fn set_tickets(lifetime_s: Option<u32>, per_handshake_count: Option<u32>) -> EdgeCommand {
    EdgeCommand::SetTickets {
        id: 1,
        name: Some(RESOLVER.to_owned()),
        lifetime_s,
        per_handshake_count,
    }
}

/// The four policies one after the other, the client's tickets going on.
async fn switch_live(client: fn(&Lab) -> Client, server: fn(&Lab) -> SocketAddr, name: &str) {
    let mut lab = Lab::start().await;
    let (client, server) = (client(&lab), server(&lab));
    let first = client.shake(&lab, server, name, 1).await;
    assert_eq!(first.handshake_mode, Some(HandshakeMode::Full));
    assert_eq!(first.early_data_offered, Some(false));
    assert_eq!(first.tls_version.as_deref(), Some("1.3"));
    assert_eq!(
        first.cipher_suite.as_deref(),
        Some("TLS_AES_128_GCM_SHA256")
    );
    let (hello, flight) = (
        first.client_hello_ns.unwrap(),
        first.server_flight_ns.unwrap(),
    );
    let complete = first.handshake_complete_ns.unwrap();
    assert!(hello <= flight && flight <= complete && complete <= first.closed_ns.unwrap());
    assert!(
        first.received_bytes > Some(300) && first.sent_bytes > Some(500),
        "{first:?}"
    );
    let steps = [
        (TicketPolicy::RejectEarlyData, HandshakeMode::Resumed),
        (TicketPolicy::EarlyData, HandshakeMode::ZeroRtt),
        (TicketPolicy::None, HandshakeMode::Full),
        (TicketPolicy::EarlyData, HandshakeMode::ZeroRtt),
        (TicketPolicy::Resume, HandshakeMode::Resumed),
    ];
    for (index, (policy, mode)) in steps.into_iter().enumerate() {
        lab.set_policy(Some(name), policy).await;
        let record = client.shake(&lab, server, name, index + 2).await;
        assert_eq!(record.handshake_mode, Some(mode), "{policy:?}: {record:?}");
        assert_eq!(record.early_data_offered, Some(true), "{policy:?}");
        let accepted = mode == HandshakeMode::ZeroRtt;
        assert_eq!(record.early_data_accepted, Some(accepted), "{policy:?}");
    }
}

#[tokio::test]
async fn policies_change_live_on_dot() {
    switch_live(|lab| Client::tls(lab, "dot"), Lab::dot, RESOLVER).await;
}

#[tokio::test]
async fn policies_change_live_on_doh() {
    switch_live(|lab| Client::tls(lab, "h2"), Lab::doh, RESOLVER).await;
}

#[tokio::test]
async fn policies_change_live_on_doh3() {
    switch_live(|lab| Client::quic(lab, "h3"), Lab::doh, RESOLVER).await;
}

#[tokio::test]
async fn policies_change_live_on_doq() {
    switch_live(|lab| Client::quic(lab, "doq"), Lab::doq, RESOLVER).await;
}

#[tokio::test]
async fn policies_change_live_on_pages_h3() {
    switch_live(|lab| Client::quic(lab, "h3"), Lab::web, HOST).await;
}

#[tokio::test]
async fn full_doh_with_early_h3_and_every_other_mix() {
    let mut lab = Lab::start().await;
    let (doh, page) = (Client::tls(&lab, "h2"), Client::quic(&lab, "h3"));
    doh.shake(&lab, lab.doh(), RESOLVER, 1).await;
    page.shake(&lab, lab.web(), HOST, 2).await;
    let terms = [
        (TicketPolicy::None, HandshakeMode::Full),
        (TicketPolicy::Resume, HandshakeMode::Resumed),
        (TicketPolicy::EarlyData, HandshakeMode::ZeroRtt),
        (TicketPolicy::RejectEarlyData, HandshakeMode::Resumed),
    ];
    let mut count = 2;
    for (resolver_policy, resolver_mode) in terms {
        for (page_policy, page_mode) in terms {
            // Tickets that allow early data, whatever the last mix left behind.
            lab.set_policy(None, TicketPolicy::EarlyData).await;
            doh.shake(&lab, lab.doh(), RESOLVER, count + 1).await;
            page.shake(&lab, lab.web(), HOST, count + 2).await;
            lab.set_policy(Some(RESOLVER), resolver_policy).await;
            lab.set_policy(Some(HOST), page_policy).await;
            let name = doh.shake(&lab, lab.doh(), RESOLVER, count + 3).await;
            let body = page.shake(&lab, lab.web(), HOST, count + 4).await;
            count += 4;
            let modes = (name.handshake_mode, body.handshake_mode);
            let wanted = (Some(resolver_mode), Some(page_mode));
            assert_eq!(modes, wanted, "{resolver_policy:?} {page_policy:?}");
        }
    }
}

#[tokio::test]
async fn a_ticket_serves_on_another_listener_of_the_same_alpn() {
    let second = Ipv4Addr::new(
        127,
        251,
        (std::process::id() >> 8) as u8,
        std::process::id() as u8,
    );
    let lab = Lab::start_edited(|text| {
        let (head, tail) = text.split_once("addresses = [").unwrap();
        format!("{head}addresses = [\"{second}\", {tail}")
    })
    .await;
    let mut count = 0;
    for (client, port) in [
        (Client::tls(&lab, "dot"), 8853),
        (Client::tls(&lab, "h2"), 8443),
        (Client::quic(&lab, "h3"), 8443),
        (Client::quic(&lab, "doq"), 8853),
    ] {
        let (here, there) = ((lab.resolver, port).into(), (second, port).into());
        client.shake(&lab, here, RESOLVER, count + 1).await;
        let record = client.shake(&lab, there, RESOLVER, count + 2).await;
        count += 2;
        assert_eq!(record.local_address, there);
        assert_eq!(
            record.handshake_mode,
            Some(HandshakeMode::ZeroRtt),
            "{record:?}"
        );
    }
}

#[tokio::test]
async fn old_tickets_mean_a_full_handshake() {
    let mut lab = Lab::start_edited(|text| {
        text.replacen("addresses", "ticket_lifetime_s = 3600\naddresses", 1)
    })
    .await;
    let client = Client::quic(&lab, "doq");
    client.shake(&lab, lab.doq(), RESOLVER, 1).await;
    let young = client.shake(&lab, lab.doq(), RESOLVER, 2).await;
    assert_eq!(young.handshake_mode, Some(HandshakeMode::ZeroRtt));
    lab.command(set_tickets(Some(1), None)).await;
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    let old = client.shake(&lab, lab.doq(), RESOLVER, 3).await;
    assert_eq!(old.handshake_mode, Some(HandshakeMode::Full));
    assert_eq!(
        (old.early_data_offered, old.early_data_accepted),
        (Some(true), Some(false))
    );
}

#[tokio::test]
async fn a_handshake_gives_as_many_tickets_as_told() {
    let mut lab = Lab::start().await;
    let (dot, doq) = (Client::tls(&lab, "dot"), Client::quic(&lab, "doq"));
    dot.shake(&lab, lab.dot(), RESOLVER, 1).await;
    assert_eq!(lab.summary().await.stored_tickets_count, 2);
    lab.command(set_tickets(None, Some(5))).await;
    // The second of these takes one of the first's.
    doq.shake(&lab, lab.doq(), RESOLVER, 2).await;
    assert_eq!(lab.summary().await.stored_tickets_count, 7);
    doq.shake(&lab, lab.doq(), RESOLVER, 3).await;
    assert_eq!(lab.summary().await.stored_tickets_count, 11);
}
