//! What clients can make the stub hold: queries, streams, replies they do not take.

#![allow(clippy::unwrap_used)]

use crate::support;
use crate::support::client;
use crate::support::stub::{Running, plain_query, start_as};
use hickory_proto::op::{Message, ResponseCode};
use resolab_dns::ClientOptions;
use resolab_dns::stub::{ClientLimits, StubOptions};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::time::timeout;

/// Of streams.
const IDLE: Duration = Duration::from_millis(300);
/// What is to happen at all happens within this.
const WITHIN: Duration = Duration::from_secs(10);
/// By when something would have happened.
const A_WHILE: Duration = Duration::from_millis(300);

async fn stub_of(url: &str, deadline: Duration, limits: ClientLimits) -> Running {
    let options = StubOptions {
        limits,
        ..StubOptions::from(deadline)
    };
    start_as(client(url, &ClientOptions::default()), options).await
}

/// An upstream that never answers, and its URL.
async fn silence() -> (UdpSocket, String) {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let url = format!("udp://{}", socket.local_addr().unwrap());
    (socket, url)
}

/// Queries that come until none has come for a while.
async fn queries_at(upstream: &UdpSocket) -> usize {
    let mut count = 0;
    while timeout(A_WHILE, upstream.recv(&mut [0; 512])).await.is_ok() {
        count += 1;
    }
    count
}

async fn ask(stream: &mut TcpStream, name: &str, id: u16) -> std::io::Result<()> {
    let query = plain_query(name, id);
    let framed = [&(query.len() as u16).to_be_bytes()[..], &query].concat();
    stream.write_all(&framed).await
}

async fn reply_of(stream: &mut TcpStream) -> Message {
    let mut reply = vec![0; usize::from(stream.read_u16().await.unwrap())];
    stream.read_exact(&mut reply).await.unwrap();
    Message::from_vec(&reply).unwrap()
}

/// Until the stub closes the stream.
async fn closing_takes(stream: &mut TcpStream) -> Duration {
    let begun = Instant::now();
    let read = timeout(WITHIN, stream.read(&mut [0; 1])).await;
    assert!(matches!(read, Ok(Ok(0) | Err(_))), "{read:?}");
    begun.elapsed()
}

#[tokio::test]
async fn no_more_queries_are_read_than_may_be_under_way() {
    let (upstream, url) = silence().await;
    let limits = ClientLimits {
        queries_max_count: 4,
        stream_queries_max_count: 3,
        ..ClientLimits::default()
    };
    let stub = stub_of(&url, WITHIN, limits).await;
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    for id in 0..10 {
        let query = plain_query("a.test", id);
        socket.send_to(&query, stub.address).await.unwrap();
    }
    assert_eq!(queries_at(&upstream).await, 4, "over UDP");
    let mut streams = Vec::new();
    for under_way_count in [3, 1, 0] {
        let mut stream = TcpStream::connect(stub.address).await.unwrap();
        for id in 0..10 {
            ask(&mut stream, "a.test", id).await.unwrap();
        }
        streams.push(stream);
        assert_eq!(queries_at(&upstream).await, under_way_count);
    }
}

#[tokio::test]
async fn queries_that_had_to_wait_are_answered_when_others_are() {
    let (_upstream, url) = silence().await;
    let limits = ClientLimits {
        stream_queries_max_count: 2,
        ..ClientLimits::default()
    };
    let stub = stub_of(&url, Duration::from_millis(100), limits).await;
    let mut stream = TcpStream::connect(stub.address).await.unwrap();
    for id in 0..6 {
        ask(&mut stream, "a.test", id).await.unwrap();
    }
    for _ in 0..6 {
        let reply = timeout(WITHIN, reply_of(&mut stream)).await.unwrap();
        assert_eq!(reply.metadata.response_code, ResponseCode::ServFail);
    }
}

#[tokio::test]
async fn streams_beyond_those_allowed_wait_until_one_is_closed() {
    let (upstream, url) = silence().await;
    let limits = ClientLimits {
        streams_max_count: 1,
        ..ClientLimits::default()
    };
    let stub = stub_of(&url, WITHIN, limits).await;
    let first = TcpStream::connect(stub.address).await.unwrap();
    let mut second = TcpStream::connect(stub.address).await.unwrap();
    ask(&mut second, "a.test", 1).await.unwrap();
    assert_eq!(queries_at(&upstream).await, 0);
    drop(first);
    assert_eq!(queries_at(&upstream).await, 1);
}

#[tokio::test]
async fn idle_streams_are_closed_but_not_those_whose_queries_are_being_answered() {
    let (_upstream, url) = silence().await;
    let limits = ClientLimits {
        stream_idle_timeout: IDLE,
        ..ClientLimits::default()
    };
    let stub = stub_of(&url, IDLE * 3, limits).await;
    let mut silent = TcpStream::connect(stub.address).await.unwrap();
    assert!(closing_takes(&mut silent).await > IDLE / 2);
    let mut asking = TcpStream::connect(stub.address).await.unwrap();
    ask(&mut asking, "a.test", 1).await.unwrap();
    let reply = timeout(WITHIN, reply_of(&mut asking)).await.unwrap();
    assert_eq!(reply.metadata.response_code, ResponseCode::ServFail);
    closing_takes(&mut asking).await;
}

#[tokio::test]
async fn a_stream_that_never_has_a_whole_query_is_closed() {
    let (_upstream, url) = silence().await;
    let limits = ClientLimits {
        stream_idle_timeout: IDLE,
        ..ClientLimits::default()
    };
    let stub = stub_of(&url, WITHIN, limits).await;
    let mut stream = TcpStream::connect(stub.address).await.unwrap();
    let drip = async {
        while stream.write_all(&[1]).await.is_ok() {
            tokio::time::sleep(IDLE / 10).await;
        }
    };
    timeout(WITHIN, drip).await.unwrap();
}

/// Answers every query on its connections with a message of 60,000 bytes.
async fn large_answers() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("tcp://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                while let Ok(length) = stream.read_u16().await {
                    let mut query = vec![0; usize::from(length)];
                    stream.read_exact(&mut query).await.unwrap();
                    let mut answer = support::answer(&query, false).unwrap();
                    let mut message = Message::from_vec(&answer).unwrap();
                    let record = message.answers[0].clone();
                    message.answers = vec![record; 3_700];
                    answer = message.to_vec().unwrap();
                    stream.write_u16(answer.len() as u16).await.unwrap();
                    if stream.write_all(&answer).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    url
}

#[tokio::test]
async fn a_client_that_takes_no_replies_is_closed() {
    let limits = ClientLimits {
        stream_queries_max_count: 16,
        stream_idle_timeout: IDLE,
        ..ClientLimits::default()
    };
    let stub = stub_of(&large_answers().await, WITHIN, limits).await;
    let mut stream = TcpStream::connect(stub.address).await.unwrap();
    // More than the buffers of both sockets hold.
    for id in 0..600 {
        if ask(&mut stream, "a.test", id).await.is_err() {
            return;
        }
    }
    // It ends, though nothing is read.
    let ends = async {
        while stream.write_all(&[0, 0]).await.is_ok() {
            tokio::time::sleep(IDLE / 10).await;
        }
    };
    timeout(WITHIN, ends).await.unwrap();
}
