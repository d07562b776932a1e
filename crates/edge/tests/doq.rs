//! DoQ: what RFC 9250 section 4.3.3 calls protocol errors, and orderly ends.
#![allow(clippy::unwrap_used)]

use crate::support::{Lab, RESOLVER, assert_answer, framed, query, query_for};
use quinn::{Connection, ConnectionError, VarInt};
use resolab_record::{EdgeCommand, Failure};
use std::time::Duration;

async fn connect(lab: &Lab) -> Connection {
    lab.quic_client("doq")
        .connect(lab.doq(), RESOLVER)
        .unwrap()
        .await
        .unwrap()
}

async fn close_code(quic: &Connection) -> u64 {
    let closed = quic.closed().await;
    let ConnectionError::ApplicationClosed(close) = &closed else {
        panic!("{closed}");
    };
    close.error_code.into_inner()
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

const SLOW: &str = r#"
[[zone]]
name = "slow.resolab.test"
type = "A"
value = "10.0.0.1"
[[name]]
name = "slow.resolab.test"
delay_ms = 300
"#;

/// Ask for a name that is answered late, without ending the stream.
async fn begin_slow(quic: &Connection) -> (quinn::SendStream, quinn::RecvStream) {
    let (mut send, receive) = quic.open_bi().await.unwrap();
    let query = framed(&query_for("slow.resolab.test", 0));
    send.write_all(&query).await.unwrap();
    (send, receive)
}

#[tokio::test]
async fn a_query_taken_back_while_its_answer_is_due_ends_alone() {
    let lab = Lab::start_with("", SLOW).await;
    let quic = connect(&lab).await;
    let (mut taken_back, _receive) = begin_slow(&quic).await;
    let (mut send, mut receive) = begin_slow(&quic).await;
    send.finish().unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    taken_back.reset(VarInt::from_u32(3)).unwrap();
    let answer = receive.read_to_end(1_000).await.unwrap();
    assert_eq!(answer[answer.len() - 4..], [10, 0, 0, 1]);
    lab.queries(2).await;
    // Once the edge has seen how the other one ended.
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(quic.close_reason(), None);
    quic.close(VarInt::from_u32(0), b"");
    let record = lab.connections(1).await.remove(0);
    assert_eq!((record.failure, record.queries_count), (None, 2));
}

#[tokio::test]
async fn a_client_that_goes_without_ending_its_stream_is_no_malformed_query() {
    let lab = Lab::start_with("", SLOW).await;
    let quic = connect(&lab).await;
    let (_send, mut receive) = begin_slow(&quic).await;
    let mut answer = [0; 52];
    receive.read_exact(&mut answer).await.unwrap();
    quic.close(VarInt::from_u32(0), b"");
    let record = lab.connections(1).await.remove(0);
    assert_eq!((record.failure, record.failure_detail), (None, None));
    assert_eq!(record.closed_by_client, Some(true));
}

#[tokio::test]
async fn a_stream_that_is_not_ended_after_its_query_is_not_waited_for() {
    let limits = "[limits]\nmessage_timeout_s = 0.2\n[resolver]";
    let mut lab = Lab::start_edited(|text| text.replacen("[resolver]", limits, 1)).await;
    let quic = connect(&lab).await;
    let (mut send, mut receive) = quic.open_bi().await.unwrap();
    send.write_all(&framed(&query())).await.unwrap();
    assert_answer(&lab, &receive.read_to_end(1_000).await.unwrap()[2..]);
    let stopped = tokio::time::timeout(Duration::from_secs(10), send.stopped()).await;
    let code = stopped.expect("the edge waits for its end").unwrap();
    assert_eq!(code, Some(VarInt::from_u32(4)));
    assert_eq!(lab.summary().await.slow_peers_count, 1);
    assert_eq!(quic.close_reason(), None);
}

#[tokio::test]
async fn unidirectional_streams_are_not_granted() {
    let lab = Lab::start().await;
    let quic = connect(&lab).await;
    let opening = tokio::time::timeout(Duration::from_millis(100), quic.open_uni());
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
