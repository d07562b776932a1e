//! Clients that pile things up: what they asked for and took back, heads that never end, messages
//! that never end. The connection ends, or the stream; others are served, and memory has a bound.
#![allow(clippy::unwrap_used)]

use crate::support::clients::{H1, request, tls};
use crate::support::{HOST, Lab, RESOLVER, ask_doq, assert_answer, framed, open_doq, query_for};
use http::Method;
use quinn::VarInt;
use resolab_record::ConnectionRecord;
use std::time::Duration;
use tokio::time::timeout;

const PATIENCE: Duration = Duration::from_secs(10);
/// Longer than a stream would take to open.
const QUIET: Duration = Duration::from_millis(500);
const STREAMS_COUNT: usize = 10;
const SLOW: &str = "slow.resolab.test";
/// Names answered after a minute.
const ZONE: &str = r#"
[[zone]]
name = "slow.resolab.test"
type = "A"
value = "10.0.0.1"
[[name]]
name = "slow.resolab.test"
delay_ms = 60000
"#;

async fn assert_served(lab: &Lab) {
    let client = lab.quic_client("doq");
    let quic = timeout(PATIENCE, open_doq(&client, lab.doq())).await;
    let answer = timeout(PATIENCE, ask_doq(&quic.unwrap())).await;
    assert_answer(lab, &answer.unwrap().unwrap());
}

/// HTTP/2 clients may have ten times as many exchanges under way as streams.
async fn lab_of_few_streams() -> Lab {
    Lab::start_edited(|text| {
        text.replacen("[resolver]", "[limits]\nstreams_count = 10\n[resolver]", 1) + ZONE
    })
    .await
}

async fn record_with_queries(lab: &Lab) -> ConnectionRecord {
    let mut ended = lab.connections(1).await;
    let record = ended.remove(0);
    assert!((90..=110).contains(&record.queries_count), "{record:#?}");
    record
}

#[tokio::test]
async fn doq_queries_taken_back_hold_their_places() {
    let lab = lab_of_few_streams().await;
    let quic = open_doq(&lab.quic_client("doq"), lab.doq()).await;
    let mut begun = 0;
    while let Ok(opened) = timeout(QUIET, quic.open_bi()).await {
        let (mut send, mut receive) = opened.unwrap();
        send.write_all(&framed(&query_for(SLOW, 0))).await.unwrap();
        send.finish().unwrap();
        // Once the query is under way.
        tokio::time::sleep(Duration::from_millis(5)).await;
        let _ = receive.stop(VarInt::from_u32(3));
        begun += 1;
        assert!(
            begun <= STREAMS_COUNT,
            "a query taken back made room for the next"
        );
    }
    assert_eq!(begun, STREAMS_COUNT);
    assert_served(&lab).await;
}

#[tokio::test]
async fn doh3_queries_taken_back_hold_their_places() {
    let lab = lab_of_few_streams().await;
    let endpoint = lab.quic_client("h3");
    let quic = endpoint.connect(lab.doh(), RESOLVER).unwrap();
    let transport = h3_quinn::Connection::new(quic.await.unwrap());
    let (mut driver, mut http) = h3::client::new(transport).await.unwrap();
    tokio::spawn(async move { std::future::poll_fn(|cx| driver.poll_close(cx)).await });
    let mut begun = 0;
    while let Ok(stream) = timeout(QUIET, http.send_request(doh_get())).await {
        let mut stream = stream.unwrap();
        stream.finish().await.unwrap();
        tokio::time::sleep(Duration::from_millis(5)).await;
        stream.stop_sending(h3::error::Code::H3_REQUEST_CANCELLED);
        begun += 1;
        assert!(
            begun <= STREAMS_COUNT,
            "a query taken back made room for the next"
        );
    }
    assert_eq!(begun, STREAMS_COUNT);
    assert_served(&lab).await;
}

#[tokio::test]
async fn doh_queries_taken_back_and_begun_anew_end_the_connection() {
    let lab = lab_of_few_streams().await;
    let stream = tls(&lab.tls_client("h2"), lab.doh(), RESOLVER).await;
    let (http, connection) = h2::client::handshake(stream).await.unwrap();
    let ended = tokio::spawn(connection);
    let mut http = http.ready().await.unwrap();
    for _ in 0..2_000 {
        let Ok((response, _)) = http.send_request(doh_get(), true) else {
            break;
        };
        tokio::time::sleep(Duration::from_millis(1)).await;
        drop(response);
        match timeout(PATIENCE, http.ready()).await.unwrap() {
            Ok(ready) => http = ready,
            Err(_) => break,
        }
    }
    let error = timeout(PATIENCE, ended)
        .await
        .unwrap()
        .unwrap()
        .unwrap_err();
    assert_eq!(error.reason(), Some(h2::Reason::ENHANCE_YOUR_CALM));
    let record = record_with_queries(&lab).await;
    assert_eq!(record.closed_by_client, Some(false), "{record:#?}");
    assert_served(&lab).await;
}

fn doh_get() -> http::Request<()> {
    use base64::Engine as _;
    let message = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(query_for(SLOW, 0));
    request(
        Method::GET,
        RESOLVER,
        &format!("/dns-query?dns={message}"),
        &[],
    )
}

const SHORT: &str = "[limits]\nmessage_timeout_s = 0.3\nidle_timeout_s = 0.4\n[resolver]";

#[tokio::test]
async fn heads_and_bodies_that_trickle_end_on_http_1() {
    let lab = Lab::start_edited(|text| text.replacen("[resolver]", SHORT, 1)).await;
    let head = format!("GET / HTTP/1.1\r\nhost: {HOST}\r\nx-filler: ");
    let body = format!("POST / HTTP/1.1\r\nhost: {HOST}\r\ncontent-length: 9999\r\n\r\n");
    for begun in [head, body] {
        let mut http = H1::new(tls(&lab.tls_client("http/1.1"), lab.web(), HOST).await);
        http.send(begun.as_bytes()).await;
        let ended = timeout(PATIENCE, trickle(&mut http)).await;
        assert!(ended.is_ok(), "{begun:?} was waited for");
    }
    assert_served(&lab).await;
}

/// A byte now and then until the other side ends it.
async fn trickle(http: &mut H1) {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let mut bytes = [0; 4_096];
    loop {
        match timeout(Duration::from_millis(50), http.read.read(&mut bytes)).await {
            Ok(Ok(0) | Err(_)) => return,
            Err(_) if http.write.write_all(b"x").await.is_err() => return,
            Ok(Ok(_)) | Err(_) => {}
        }
    }
}

#[tokio::test]
async fn an_http_3_head_that_trickles_is_given_up() {
    let lab = Lab::start_edited(|text| text.replacen("[resolver]", SHORT, 1)).await;
    let endpoint = lab.quic_client("h3");
    let quic = endpoint.connect(lab.web(), HOST).unwrap().await.unwrap();
    let (mut send, mut receive) = quic.open_bi().await.unwrap();
    // HEADERS of 100 bytes, one now and then.
    send.write_all(&[1, 0x40, 100]).await.unwrap();
    let given_up = async {
        while send.write_all(&[0]).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(PATIENCE, given_up)
        .await
        .expect("it was waited for");
    let answer = timeout(PATIENCE, receive.read_to_end(9)).await.unwrap();
    assert!(answer.is_err() || answer.unwrap().is_empty());
    assert_served(&lab).await;
}

#[tokio::test]
async fn tls_records_without_a_byte_in_them_end_the_connection_at_once() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let lab = Lab::start().await;
    let mut tcp = tokio::net::TcpStream::connect(lab.dot()).await.unwrap();
    tcp.write_all(&[22, 3, 1, 0, 0]).await.unwrap();
    let mut alert = Vec::new();
    let ended = timeout(PATIENCE / 2, tcp.read_to_end(&mut alert)).await;
    assert!(ended.is_ok(), "the edge waits for more of them");
    assert_served(&lab).await;
}
