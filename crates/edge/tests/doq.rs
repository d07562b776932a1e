//! DoQ: what RFC 9250 section 4.3.3 calls protocol errors, and orderly ends.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Lab, RESOLVER, assert_answer, framed, query};
use quinn::{Connection, ConnectionError, VarInt};
use resolab_record::{EdgeCommand, Failure};

async fn connect(lab: &Lab) -> Connection {
    lab.quic_client("doq")
        .connect(lab.doq(), RESOLVER)
        .unwrap()
        .await
        .unwrap()
}

async fn close_code(quic: &Connection) -> u64 {
    match quic.closed().await {
        ConnectionError::ApplicationClosed(close) => close.error_code.into_inner(),
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn queries_on_one_connection_are_answered_each_on_its_stream() {
    let lab = Lab::start().await;
    let quic = connect(&lab).await;
    for _ in 0..150 {
        let (mut send, mut receive) = quic.open_bi().await.unwrap();
        send.write_all(&framed(&query())).await.unwrap();
        send.finish().unwrap();
        let answer = receive.read_to_end(1_000).await.unwrap();
        assert_answer(&lab, &answer[2..]);
    }
}

#[tokio::test]
async fn protocol_errors_close_the_connection() {
    let lab = Lab::start().await;
    let mut with_id = query();
    with_id[1] = 7;
    let mut keepalive = query();
    keepalive[11] = 1;
    keepalive.extend_from_slice(b"\x00\x00\x29\x04\xD0\x00\x00\x00\x00\x00\x04\x00\x0B\x00\x00");
    let mut response = query();
    response[2] |= 0x80;
    let cases = [
        ("message id", framed(&with_id)),
        ("cut off", framed(&query())[..20].to_vec()),
        ("two queries", [framed(&query()), framed(&query())].concat()),
        ("empty", vec![0, 0]),
        ("keepalive", framed(&keepalive)),
        ("response", framed(&response)),
    ];
    for (name, bytes) in cases {
        let quic = connect(&lab).await;
        let (mut send, _receive) = quic.open_bi().await.unwrap();
        send.write_all(&bytes).await.unwrap();
        send.finish().unwrap();
        assert_eq!(close_code(&quic).await, 2, "{name}");
    }
    let records = lab.connections(6).await;
    assert_eq!(records[0].failure, Some(Failure::QueryMalformed));
    assert_eq!(
        records[0].failure_detail.as_deref(),
        Some("the message ID is not 0")
    );
}

#[tokio::test]
async fn a_cancelled_query_harms_nobody() {
    let lab = Lab::start().await;
    let quic = connect(&lab).await;
    let (mut send, _receive) = quic.open_bi().await.unwrap();
    send.write_all(&framed(&query())[..5]).await.unwrap();
    send.reset(VarInt::from_u32(3)).unwrap();
    let (mut send, mut receive) = quic.open_bi().await.unwrap();
    send.write_all(&framed(&query())).await.unwrap();
    send.finish().unwrap();
    assert_answer(&lab, &receive.read_to_end(1_000).await.unwrap()[2..]);
}

#[tokio::test]
async fn unidirectional_streams_are_not_granted() {
    let lab = Lab::start().await;
    let quic = connect(&lab).await;
    let opening = tokio::time::timeout(std::time::Duration::from_millis(100), quic.open_uni());
    assert!(opening.await.is_err());
}

#[tokio::test]
async fn a_command_closes_with_no_error() {
    let mut lab = Lab::start().await;
    let quic = connect(&lab).await;
    // Before the handshake is complete the code would be APPLICATION_ERROR (RFC 9000 10.2.3).
    let (mut send, mut receive) = quic.open_bi().await.unwrap();
    send.write_all(&framed(&query())).await.unwrap();
    send.finish().unwrap();
    receive.read_to_end(1_000).await.unwrap();
    lab.edge
        .carry_out(EdgeCommand::CloseConnections {
            id: 1,
            name: None,
            names: None,
        })
        .await
        .unwrap();
    assert_eq!(close_code(&quic).await, 0);
}
