//! Names outside the zones are asked of an upstream resolver, another edge here.
#![allow(clippy::unwrap_used)]

use crate::support::{Lab, RESOLVER, query_for};
use resolab_record::EdgeQueryRecord;
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::time::timeout;

const UPSTREAM: &str = r#"
[[zone]]
name = "known.example"
type = "A"
value = "192.0.2.7"
ttl_s = 100
[[name]]
name = "silent.example"
failure = "drop"
"#;

async fn ask(lab: &Lab, name: &str, id: u8) -> Vec<u8> {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    socket
        .send_to(&query_for(name, id), (lab.resolver, 8053))
        .await
        .unwrap();
    let mut buffer = vec![0; 2_000];
    let received = timeout(Duration::from_secs(10), socket.recv(&mut buffer)).await;
    buffer.truncate(received.unwrap().unwrap());
    buffer
}

fn forward(upstream: &Lab, scheme: &str, more: &str) -> String {
    let port = if scheme == "udp" { 8053 } else { 8853 };
    let (address, ca_file) = (upstream.resolver, upstream.edge.ready_record().ca_file);
    format!(
        "[resolver.forward]\nurl = \"{scheme}://{RESOLVER}:{port}\"\nca_file = \"{ca_file}\"\n\
         resolve = [\"{RESOLVER}={address}\"]\ntimeout_ms = 700\n{more}\n"
    )
}

#[tokio::test]
async fn foreign_names_are_asked_upstream_and_the_answer_is_the_clients() {
    for scheme in ["udp", "tls", "quic"] {
        let upstream = Lab::start_with("", UPSTREAM).await;
        let lab = Lab::start_with(&forward(&upstream, scheme, ""), "").await;
        for id in [7, 8] {
            let answer = ask(&lab, "kNown.Example", id).await;
            assert_eq!(answer[..8], [0, id, 0x81, 0x80, 0, 1, 0, 1], "{scheme}");
            assert_eq!(answer[12..26], query_for("kNown.Example", 0)[12..26]);
            assert!(answer.ends_with(&[192, 0, 2, 7]));
        }
        let own = ask(&lab, "example.resolab.test", 9).await;
        assert!(own.ends_with(&lab.web.octets()));
        let refused = ask(&lab, "unknown.example", 1).await;
        assert_eq!(refused[3] & 15, 5, "what upstream says");
        let records = lab.queries(4).await;
        let forwarded: Vec<bool> = records.iter().map(|record| record.forwarded).collect();
        assert_eq!(forwarded, [true, true, false, true]);
        assert_eq!(records[0].rcode.as_deref(), Some("NOERROR"));
        assert_eq!(upstream.queries(3).await.len(), 3);
    }
}

#[tokio::test]
async fn without_an_answer_in_time_it_is_servfail() {
    let upstream = Lab::start_with("", UPSTREAM).await;
    let lab = Lab::start_with(&forward(&upstream, "quic", ""), "").await;
    let answer = ask(&lab, "silent.example", 1).await;
    assert_eq!((answer[2], answer[3] & 15), (0x81, 2));
    let record: EdgeQueryRecord = lab.queries(1).await.remove(0);
    assert_eq!(
        (record.forwarded, record.rcode.as_deref()),
        (true, Some("SERVFAIL"))
    );
    assert!(record.answered_ns.unwrap() - record.received_ns >= 700_000_000);
}

#[tokio::test]
async fn what_upstream_said_is_kept_where_that_is_wanted() {
    let upstream = Lab::start_with("", UPSTREAM).await;
    let lab = Lab::start_with(&forward(&upstream, "udp", "cache = true"), "").await;
    for id in 0..3 {
        assert!(
            ask(&lab, "known.example", id)
                .await
                .ends_with(&[192, 0, 2, 7])
        );
    }
    let records = lab.queries(3).await;
    let forwarded: Vec<bool> = records.iter().map(|record| record.forwarded).collect();
    assert_eq!(forwarded, [true, false, false]);
    assert_eq!(upstream.queries(1).await.len(), 1);
}
