//! Messages that never become whole on very many connections: the process as a whole has a bound.
//! Alone in its program, because what is measured is the process.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Lab, RESOLVER, ask_doq, assert_answer, open_doq};
use quinn::SendStream;
use std::time::Duration;
use tokio::time::timeout;

const PATIENCE: Duration = Duration::from_secs(20);
const CONNECTIONS_COUNT: usize = 300;
const TOGETHER_COUNT: usize = 50;
const STREAMS_COUNT: usize = 8;
/// Of a message that says it has 65,535.
const SENT_BYTES: usize = 60_000;
const ROOM_BYTES: u64 = 48 << 20;

#[tokio::test]
async fn unfinished_messages_on_many_connections_stay_within_the_limit() {
    let mut probe = Lab::start().await;
    let limit = probe.summary().await.resident_bytes + ROOM_BYTES;
    let limits = format!("[limits]\nmessage_timeout_s = 60\nresident_bytes = {limit}\n[resolver]");
    let mut lab = Lab::start_edited(|text| text.replacen("[resolver]", &limits, 1)).await;
    let client = lab.quic_client("doq");
    let good = open_doq(&client, lab.doq()).await;
    let (mut held, mut refused) = (Vec::new(), 0);
    for _ in 0..CONNECTIONS_COUNT / TOGETHER_COUNT {
        let connecting = (0..TOGETHER_COUNT).map(|_| client.connect(lab.doq(), RESOLVER).unwrap());
        let begun: Vec<_> = connecting
            .map(|connecting| {
                tokio::spawn(async move {
                    let quic = connecting.await.ok()?;
                    Some((begin_messages(&quic).await, quic))
                })
            })
            .collect();
        for task in begun {
            match task.await.unwrap() {
                Some(connection) => held.push(connection),
                None => refused += 1,
            }
        }
        assert_answered(&lab, &good).await;
    }
    let summary = lab.summary().await;
    // All of it would be three times the room.
    let most = limit + ROOM_BYTES / 2;
    assert!(summary.resident_bytes < most, "{summary:?}, limit {limit}");
    // A client may knock more than once.
    assert!(
        refused > 0 && summary.refused_total_count >= refused,
        "{summary:?}"
    );
    assert_answered(&lab, &good).await;
}

async fn assert_answered(lab: &Lab, good: &quinn::Connection) {
    let answer = timeout(PATIENCE, ask_doq(good)).await.unwrap();
    assert_answer(lab, &answer.unwrap());
}

async fn begin_messages(quic: &quinn::Connection) -> Vec<SendStream> {
    let mut streams = Vec::new();
    for _ in 0..STREAMS_COUNT {
        let (mut send, _) = quic.open_bi().await.unwrap();
        let mut message = vec![0; SENT_BYTES];
        message[..2].copy_from_slice(&[0xFF, 0xFF]);
        // Refused once there is no room.
        let _ = timeout(PATIENCE, send.write_all(&message)).await.unwrap();
        streams.push(send);
    }
    streams
}
