//! Do53: the address that was asked answers, over UDP and TCP.
#![allow(clippy::unwrap_used)]

use crate::support::{Lab, assert_answer, framed, query};
use resolab_record::DnsTransport;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};

#[tokio::test]
async fn udp_answers_from_the_address_asked_and_drops_responses() {
    let lab = Lab::start().await;
    let server: SocketAddr = (lab.resolver, 8053).into();
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let mut response = query();
    response[2] |= 0x80;
    socket.send_to(&response, server).await.unwrap();
    socket.send_to(&query(), server).await.unwrap();
    let mut buffer = [0; 600];
    let (length, from) = socket.recv_from(&mut buffer).await.unwrap();
    assert_eq!(from, server);
    assert_answer(&lab, &buffer[..length]);
    let queries = lab.queries(2).await;
    assert_eq!(
        (queries[0].answered_ns, queries[0].rcode.as_deref()),
        (None, None)
    );
    assert_eq!(queries[1].dns_transport, DnsTransport::Doudp);
    assert_eq!(
        (queries[1].connection_id, queries[1].in_early_data),
        (None, None)
    );
    assert_eq!(queries[1].response_bytes, Some(length as u32));
}

#[tokio::test]
async fn tcp_answers_and_ends_with_the_client() {
    let lab = Lab::start().await;
    let mut tcp = TcpStream::connect((lab.resolver, 8053)).await.unwrap();
    tcp.write_all(&framed(&query())).await.unwrap();
    tcp.shutdown().await.unwrap();
    let mut answer = Vec::new();
    tcp.read_to_end(&mut answer).await.unwrap();
    assert_answer(&lab, &answer[2..]);
    let connection = lab.connections(1).await.pop().unwrap();
    assert_eq!(
        (connection.protocol.as_str(), connection.handshake_mode),
        ("tcp", None)
    );
    assert_eq!(
        lab.queries(1).await[0].connection_id,
        Some(connection.connection_id)
    );
}
