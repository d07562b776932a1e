//! Names that are delayed or fail, on every transport, and what is counted.
#![allow(clippy::unwrap_used)]

use crate::support::ours::{DELAY, NAMES};
use crate::support::{HOST, Lab, RESOLVER, framed, query_for};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use http::Request;
use resolab_record::{EdgeCommand, EdgeQueryRecord, EdgeSummaryRecord, FailureMode, Record};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

async fn udp(lab: &Lab) -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    socket.connect((lab.resolver, 8053)).await.unwrap();
    socket
}

async fn receive(socket: &UdpSocket) -> Vec<u8> {
    let mut buffer = vec![0; 2_000];
    let received = timeout(Duration::from_secs(10), socket.recv(&mut buffer)).await;
    buffer.truncate(received.unwrap().unwrap());
    buffer
}

async fn receive_framed(stream: &mut TcpStream) -> Vec<u8> {
    let length = stream.read_u16().await.unwrap();
    let mut message = vec![0; usize::from(length)];
    stream.read_exact(&mut message).await.unwrap();
    message
}

fn of<'a>(queries: &'a [EdgeQueryRecord], label: &str) -> &'a EdgeQueryRecord {
    let found = queries.iter().find(|query| query.qname.starts_with(label));
    found.unwrap_or_else(|| panic!("no {label} in {queries:#?}"))
}

#[tokio::test]
async fn records_of_a_site_s_name_are_added_to_its_own() {
    let more = format!("[[zone]]\nname = '{HOST}'\ntype = 'A'\nvalue = '10.0.0.9'\n");
    let lab = Lab::start_with("", &more).await;
    let socket = udp(&lab).await;
    socket.send(&query_for(HOST, 1)).await.unwrap();
    let answer = receive(&socket).await;
    assert_eq!(answer[6..8], [0, 2], "{answer:?}");
}

#[tokio::test]
async fn a_delayed_answer_holds_up_no_other() {
    let lab = Lab::start_with("", NAMES).await;
    let socket = udp(&lab).await;
    let mut tcp = TcpStream::connect((lab.resolver, 8053)).await.unwrap();
    let begin = Instant::now();
    let queries = [("slow.resolab.test", 1), ("a.resolab.test", 2)];
    let mut stream = Vec::new();
    for (name, id) in queries {
        socket.send(&query_for(name, id)).await.unwrap();
        stream.extend(framed(&query_for(name, id)));
    }
    tcp.write_all(&stream).await.unwrap();
    // RFC 7766 section 6.2.1.1; a client that sends no more gets its answers still.
    tcp.shutdown().await.unwrap();
    assert_eq!(receive(&socket).await[1], 2);
    assert_eq!(receive_framed(&mut tcp).await[1], 2);
    assert_eq!(receive(&socket).await[1], 1);
    assert_eq!(receive_framed(&mut tcp).await[1], 1);
    assert!(begin.elapsed() >= DELAY);
    assert_eq!(tcp.read(&mut [0]).await.unwrap(), 0);
    let records = lab.queries(4).await;
    assert_eq!(of(&records, "a.").delay_ns, None);
    for slow in records
        .iter()
        .filter(|record| record.qname.starts_with("slow."))
    {
        let waited_ns = slow.answered_ns.unwrap() - slow.received_ns;
        assert_eq!(slow.delay_ns, Some(DELAY.as_nanos() as u64));
        assert!(waited_ns >= DELAY.as_nanos() as u64, "{waited_ns}");
    }
}

#[tokio::test]
async fn each_doq_stream_waits_for_itself() {
    let lab = Lab::start_with("", NAMES).await;
    let endpoint = lab.quic_client("doq");
    let quic = endpoint
        .connect(lab.doq(), RESOLVER)
        .unwrap()
        .await
        .unwrap();
    let (mut order, begin) = (Vec::new(), Instant::now());
    let mut streams = tokio::task::JoinSet::new();
    for (place, name) in ["drop.resolab.test", "slow.resolab.test", "a.resolab.test"]
        .into_iter()
        .enumerate()
    {
        let (mut send, mut receive) = quic.open_bi().await.unwrap();
        send.write_all(&framed(&query_for(name, 0))).await.unwrap();
        send.finish().unwrap();
        streams.spawn(async move {
            let answer = timeout(Duration::from_secs(5), receive.read_to_end(1_000)).await;
            answer.ok().map(|answer| (place, answer.unwrap().len()))
        });
        // So that the streams are read in this order.
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    for _ in 0..2 {
        let answered = streams.join_next().await.unwrap().unwrap();
        order.extend(answered.map(|(place, _)| place));
    }
    assert_eq!(order, [2, 1]);
    assert!(begin.elapsed() >= DELAY);
    let records = lab.queries(3).await;
    let dropped = of(&records, "drop.");
    assert_eq!(dropped.failure_mode, Some(FailureMode::Drop));
    assert_eq!(
        (dropped.answered_ns, dropped.rcode.as_deref()),
        (None, None)
    );
    assert!(
        streams.try_join_next().is_none(),
        "a dropped query was answered"
    );
    assert_eq!(quic.close_reason(), None);
}

#[tokio::test]
async fn names_fail_as_told() {
    let lab = Lab::start_with("", NAMES).await;
    let socket = udp(&lab).await;
    for (name, third, rcode) in [
        ("nxdomain.resolab.test", 0x81, 3),
        ("servfail.resolab.test", 0x81, 2),
        ("refused.resolab.test", 0x81, 5),
        ("truncated.resolab.test", 0x83, 0),
        ("q.drawn.resolab.test", 0x81, 0),
    ] {
        socket.send(&query_for(name, 9)).await.unwrap();
        let answer = receive(&socket).await;
        assert_eq!((answer[2], answer[3] & 15), (third, rcode), "{name}");
    }
    let records = lab.queries(5).await;
    assert_eq!(
        of(&records, "servfail.").failure_mode,
        Some(FailureMode::Servfail)
    );
    assert_eq!(of(&records, "servfail.").rcode.as_deref(), Some("SERVFAIL"));
    let drawn_ns = of(&records, "q.drawn.").delay_ns.unwrap();
    assert!((1_000_000..=3_000_000).contains(&drawn_ns), "{drawn_ns}");
    // What is dropped is not answered, and what comes after it is.
    socket
        .send(&query_for("drop.resolab.test", 1))
        .await
        .unwrap();
    socket.send(&query_for("a.resolab.test", 2)).await.unwrap();
    assert_eq!(receive(&socket).await[1], 2);
    let records = lab.queries(7).await;
    assert_eq!(of(&records, "drop.").rcode, None);
    let mut tcp = TcpStream::connect((lab.resolver, 8053)).await.unwrap();
    tcp.write_all(&framed(&query_for("truncated.resolab.test", 3)))
        .await
        .unwrap();
    assert_eq!(receive_framed(&mut tcp).await[2], 0x81);
}

fn behave(delay_ms: Option<f64>, failure: Option<FailureMode>) -> EdgeCommand {
    EdgeCommand::SetNameBehaviour {
        id: 1,
        name: "a.resolab.test".to_owned(),
        delay_ms,
        delay: None,
        failure,
    }
}

#[tokio::test]
async fn a_command_changes_what_a_name_does() {
    let mut lab = Lab::start_with("", NAMES).await;
    let socket = udp(&lab).await;
    let mut rcodes = Vec::new();
    for failure in [None, Some(FailureMode::Nxdomain), None] {
        lab.edge.carry_out(behave(None, failure)).await.unwrap();
        for id in 0..2 {
            socket.send(&query_for("A.resolab.test", id)).await.unwrap();
            rcodes.push(receive(&socket).await[3] & 15);
        }
    }
    assert_eq!(rcodes, [0, 0, 3, 3, 0, 0]);
    lab.edge.carry_out(behave(Some(20.0), None)).await.unwrap();
    socket.send(&query_for("a.resolab.test", 0)).await.unwrap();
    receive(&socket).await;
    assert_eq!(lab.queries(7).await[6].delay_ns, Some(20_000_000));
    let wrong = lab.edge.carry_out(behave(Some(-1.0), None)).await;
    assert!(wrong.unwrap_err().contains("mean_ms -1"));
}

async fn summary(lab: &mut Lab) -> EdgeSummaryRecord {
    let label = Some("now".to_owned());
    let command = EdgeCommand::Summary { id: 1, label };
    lab.edge.carry_out(command).await.unwrap();
    lab.wait(|records| {
        records.iter().rev().find_map(|record| {
            let Record::EdgeSummary(summary) = record else {
                return None;
            };
            Some(summary.as_ref().clone())
        })
    })
    .await
}

#[tokio::test]
async fn the_summary_counts_even_when_no_query_is_written() {
    let more = format!("{NAMES}\n[records]\nqueries = \"count\"\n");
    let mut lab = Lab::start_with("", &more).await;
    let socket = udp(&lab).await;
    for id in 0..200 {
        let name = if id % 2 == 0 {
            "a.resolab.test"
        } else {
            "A.Resolab.test"
        };
        socket.send(&query_for(name, id)).await.unwrap();
        let answer = receive(&socket).await;
        assert_eq!(
            (answer[1], &answer[12..28]),
            (id, &query_for(name, 0)[12..28])
        );
    }
    socket
        .send(&query_for("drop.resolab.test", 0))
        .await
        .unwrap();
    socket
        .send(&query_for("servfail.resolab.test", 0))
        .await
        .unwrap();
    receive(&socket).await;
    let summary = summary(&mut lab).await;
    assert_eq!(summary.label.as_deref(), Some("now"));
    assert_eq!(summary.queries.get("doudp"), Some(&202));
    assert_eq!(summary.rcodes.get("NOERROR"), Some(&200));
    assert_eq!(summary.rcodes.get("SERVFAIL"), Some(&1));
    assert_eq!(
        (summary.unanswered_count, summary.failed_on_purpose_count),
        (1, 2)
    );
    let cache = summary.wire_cache.unwrap();
    assert_eq!(
        (cache.hit_count, cache.miss_count, cache.entry_count),
        (199, 1, 1)
    );
    assert!(cache.hit_ratio.unwrap() > 0.99);
    let written = lab.wait(|records| Some(records.len())).await;
    assert_eq!(written, 1, "records of single queries");
}

#[tokio::test]
async fn datagrams_that_come_at_once_are_all_answered() {
    let lab = Lab::start_with("wire_cache = false", NAMES).await;
    let socket = udp(&lab).await;
    for id in 0..200 {
        socket.send(&query_for("a.resolab.test", id)).await.unwrap();
    }
    let mut ids: Vec<u8> = Vec::new();
    for _ in 0..200 {
        ids.push(receive(&socket).await[1]);
    }
    ids.sort_unstable();
    assert_eq!(ids, (0..200).collect::<Vec<u8>>());
}

async fn doh(lab: &Lab) -> h2::client::SendRequest<Bytes> {
    let connector = TlsConnector::from(lab.tls_client("h2"));
    let tcp = TcpStream::connect(lab.doh()).await.unwrap();
    let name = RESOLVER.to_owned().try_into().unwrap();
    let stream = connector.connect(name, tcp).await.unwrap();
    let (http, connection) = h2::client::handshake(stream).await.unwrap();
    tokio::spawn(connection);
    http.ready().await.unwrap()
}

#[tokio::test]
async fn doh_requests_wait_each_for_itself_and_dropped_ones_for_the_client() {
    let lab = Lab::start_with("", NAMES).await;
    let mut http = doh(&lab).await;
    let mut post = |name: &str| {
        let request = Request::post(format!("https://{RESOLVER}/dns-query"))
            .header("content-type", "application/dns-message")
            .body(())
            .unwrap();
        let (response, mut body) = http.send_request(request, false).unwrap();
        body.send_data(query_for(name, 0).into(), true).unwrap();
        (response, body)
    };
    let mut dropped = post("drop.resolab.test");
    let (slow, _) = post("slow.resolab.test");
    let (quick, _) = post("a.resolab.test");
    let begin = Instant::now();
    let first = tokio::select! {
        response = slow => (response, "slow"),
        response = quick => (response, "quick"),
    };
    assert_eq!(
        (first.0.unwrap().status().as_u16(), first.1),
        (200, "quick")
    );
    let (slow, _) = post("slow.resolab.test");
    assert_eq!(slow.await.unwrap().status().as_u16(), 200);
    assert!(begin.elapsed() >= DELAY);
    let silence = timeout(Duration::from_millis(20), &mut dropped.0).await;
    assert!(silence.is_err(), "a dropped query was answered");
    dropped.1.send_reset(h2::Reason::CANCEL);
    let records = lab.queries(4).await;
    assert_eq!(of(&records, "drop.").answered_ns, None);
    // The connection is as good as before.
    assert_eq!(
        post("a.resolab.test").0.await.unwrap().status().as_u16(),
        200
    );
}

#[tokio::test]
async fn a_withheld_doh3_answer_is_given_up_by_a_reset_not_by_an_empty_response() {
    let more = format!("{NAMES}\n[limits]\nidle_timeout_s = 0.4\n");
    let lab = Lab::start_with("", &more).await;
    let quic = lab.quic_client("h3").connect(lab.doh(), RESOLVER).unwrap();
    let transport = h3_quinn::Connection::new(quic.await.unwrap());
    let (mut driver, mut http) = h3::client::new(transport).await.unwrap();
    tokio::spawn(async move { std::future::poll_fn(|cx| driver.poll_close(cx)).await });
    let get = |name: &str| {
        let message = URL_SAFE_NO_PAD.encode(query_for(name, 0));
        let uri = format!("https://{RESOLVER}/dns-query?dns={message}");
        Request::get(uri).body(()).unwrap()
    };
    let mut withheld = http.send_request(get("drop.resolab.test")).await.unwrap();
    withheld.finish().await.unwrap();
    // Other queries keep the connection from being idle.
    let keep_busy = async {
        loop {
            tokio::time::sleep(Duration::from_millis(50)).await;
            let mut stream = http.send_request(get("a.resolab.test")).await.unwrap();
            stream.finish().await.unwrap();
            stream.recv_response().await.unwrap();
        }
    };
    let ended = tokio::select! {
        ended = timeout(Duration::from_secs(10), withheld.recv_response()) => ended.unwrap(),
        () = keep_busy => unreachable!(),
    };
    assert!(
        matches!(
            ended,
            Err(h3::error::StreamError::RemoteTerminate {
                code: h3::error::Code::H3_REQUEST_CANCELLED,
                ..
            })
        ),
        "{ended:?}"
    );
}
