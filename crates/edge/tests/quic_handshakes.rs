//! Ticket policies over QUIC, judged by the server's own records, with a client that is not ours.
#![allow(clippy::unwrap_used)]

use crate::support::{HOST, Lab, RESOLVER, assert_answer, delayed_udp, framed, query};
use quinn::{Connection, Endpoint, VarInt};
use resolab_record::{HandshakeMode, TicketPolicy};
use std::net::SocketAddr;
use std::time::Duration;

async fn exchange(quic: &Connection) -> Result<Vec<u8>, String> {
    let (mut send, mut receive) = quic.open_bi().await.map_err(|e| e.to_string())?;
    send.write_all(&framed(&query()))
        .await
        .map_err(|e| e.to_string())?;
    send.finish().map_err(|e| e.to_string())?;
    receive.read_to_end(65_537).await.map_err(|e| e.to_string())
}

/// One connection with one query, in early data if the client has a ticket for it. Whether early
/// data was offered, and whether it was accepted.
async fn ask(lab: &Lab, client: &Endpoint, server: SocketAddr) -> Option<bool> {
    let connecting = client.connect(server, RESOLVER).unwrap();
    let (quic, accepted, answer) = match connecting.into_0rtt() {
        Ok((quic, accepted)) => {
            let early = exchange(&quic).await;
            let accepted = accepted.await;
            assert_eq!(early.is_ok(), accepted, "{early:?}");
            let answer = if accepted {
                early
            } else {
                exchange(&quic).await
            };
            (quic, Some(accepted), answer)
        }
        Err(connecting) => {
            let quic = connecting.await.unwrap();
            let answer = exchange(&quic).await;
            (quic, None, answer)
        }
    };
    assert_answer(lab, &answer.unwrap()[2..]);
    // Tickets come after the answer, and a machine may stop for a while in between.
    tokio::time::sleep(Duration::from_millis(300)).await;
    quic.close(VarInt::from_u32(0), b"");
    client.wait_idle().await;
    accepted
}

/// What the edge says of the last of `count` connections: mode, early data accepted, query early.
async fn verdict(lab: &Lab, count: usize) -> (Option<HandshakeMode>, Option<bool>, Option<bool>) {
    let connection = lab.connections(count).await.pop().unwrap();
    assert_eq!(
        (connection.failure, connection.failure_detail),
        (None, None)
    );
    assert_eq!(connection.server_name.as_deref(), Some(RESOLVER));
    assert_eq!(connection.alpn.as_deref(), Some("doq"));
    let query = lab.queries(count).await.pop().unwrap();
    assert_eq!(query.connection_id, Some(connection.connection_id));
    let complete_ns = connection.handshake_complete_ns.unwrap();
    assert_eq!(query.in_early_data, Some(query.received_ns < complete_ns));
    (
        connection.handshake_mode,
        connection.early_data_accepted,
        query.in_early_data,
    )
}

const FULL: (Option<HandshakeMode>, Option<bool>, Option<bool>) =
    (Some(HandshakeMode::Full), None, Some(false));

#[tokio::test]
async fn early_data_is_accepted_and_seen() {
    let lab = Lab::start().await;
    let (client, server) = (lab.quic_client("doq"), delayed_udp(lab.doq()).await);
    assert_eq!(ask(&lab, &client, server).await, None);
    assert_eq!(verdict(&lab, 1).await, FULL);
    for count in 2..5 {
        assert_eq!(ask(&lab, &client, server).await, Some(true));
        let early = (Some(HandshakeMode::ZeroRtt), Some(true), Some(true));
        assert_eq!(verdict(&lab, count).await, early);
    }
}

#[tokio::test]
async fn resume_gives_tickets_without_early_data() {
    let mut lab = Lab::start().await;
    lab.set_policy(Some(RESOLVER), TicketPolicy::Resume).await;
    let (client, server) = (lab.quic_client("doq"), delayed_udp(lab.doq()).await);
    assert_eq!(ask(&lab, &client, server).await, None);
    assert_eq!(ask(&lab, &client, server).await, None);
    assert_eq!(
        verdict(&lab, 2).await,
        (Some(HandshakeMode::Resumed), None, Some(false))
    );
}

#[tokio::test]
async fn reject_refuses_early_data_and_keeps_it_offered() {
    let mut lab = Lab::start().await;
    lab.set_policy(None, TicketPolicy::RejectEarlyData).await;
    let (client, server) = (lab.quic_client("doq"), delayed_udp(lab.doq()).await);
    assert_eq!(ask(&lab, &client, server).await, None);
    for count in 2..5 {
        assert_eq!(ask(&lab, &client, server).await, Some(false));
        let rejected = (Some(HandshakeMode::Resumed), Some(false), Some(false));
        assert_eq!(verdict(&lab, count).await, rejected);
    }
}

#[tokio::test]
async fn policies_change_live_and_old_tickets_meet_the_new_one() {
    let mut lab = Lab::start().await;
    let (client, server) = (lab.quic_client("doq"), delayed_udp(lab.doq()).await);
    ask(&lab, &client, server).await;
    // The client holds tickets that allow early data; none of these steps fetches better ones.
    let steps = [
        (
            TicketPolicy::RejectEarlyData,
            Some(false),
            HandshakeMode::Resumed,
        ),
        (TicketPolicy::EarlyData, Some(true), HandshakeMode::ZeroRtt),
        (TicketPolicy::None, Some(false), HandshakeMode::Full),
        (TicketPolicy::EarlyData, Some(true), HandshakeMode::ZeroRtt),
        (TicketPolicy::Resume, Some(false), HandshakeMode::Resumed),
    ];
    for (index, (policy, accepted, mode)) in steps.into_iter().enumerate() {
        lab.set_policy(Some(RESOLVER), policy).await;
        assert_eq!(ask(&lab, &client, server).await, accepted, "{policy:?}");
        let (seen, seen_accepted, _) = verdict(&lab, index + 2).await;
        assert_eq!((seen, seen_accepted), (Some(mode), accepted), "{policy:?}");
    }
}

#[tokio::test]
async fn a_policy_belongs_to_its_name() {
    let mut lab = Lab::start().await;
    lab.set_policy(Some(HOST), TicketPolicy::None).await;
    let (client, server) = (lab.quic_client("doq"), delayed_udp(lab.doq()).await);
    ask(&lab, &client, server).await;
    assert_eq!(ask(&lab, &client, server).await, Some(true));
}

#[tokio::test]
async fn an_unknown_name_is_refused_and_recorded() {
    let lab = Lab::start().await;
    let client = lab.quic_client("doq");
    let error = client
        .connect(lab.doq(), "other.resolab.test")
        .unwrap()
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("no server certificate"),
        "{error}"
    );
    let connection = lab.connections(1).await.pop().unwrap();
    assert_eq!(
        connection.failure,
        Some(resolab_record::Failure::QuicHandshakeFailed)
    );
    assert_eq!(
        connection.server_name.as_deref(),
        Some("other.resolab.test")
    );
}
