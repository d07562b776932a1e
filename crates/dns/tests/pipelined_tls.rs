//! What leaves over DoT when: each query is a TLS record of its own, those that are there at once
//! leave together, and an alert leaves although nobody flushes it.

#![allow(clippy::unwrap_used)]

use crate::support::{HOST, TestResolver, client, stub};
use futures_util::future::join_all;
use resolab_dns::{ClientOptions, DnsClient, PendingQuery, Question};
use resolab_record::TicketPolicy;
use std::mem;
use std::os::fd::AsRawFd;
use std::ptr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const QUERY_COUNT: usize = 12;
/// Of a TLS 1.3 record: its header, and what follows the message inside (type, tag).
const RECORD_HEADER_BYTES: usize = 5;
const SEALED_BYTES: usize = 17;
const ALERT_BYTES: usize = 2;
/// A padded query (RFC 8467) behind its length.
const FRAMED_BYTES: usize = 2 + 128;
const APPLICATION_DATA: u8 = 23;

/// What a client sent over one connection.
#[derive(Default)]
struct Sent {
    bytes: Vec<u8>,
    segments_count: u32,
}

impl Sent {
    /// Lengths of the application data records.
    fn record_lengths(&self) -> Vec<usize> {
        let mut lengths = Vec::new();
        let mut rest = &self.bytes[..];
        while let [kind, _, _, high, low, ..] = rest {
            let length = usize::from(u16::from_be_bytes([*high, *low]));
            if *kind == APPLICATION_DATA {
                lengths.push(length);
            }
            rest = &rest[RECORD_HEADER_BYTES + length..];
        }
        lengths
    }
}

/// Segments with data that a socket has received.
fn segments_count(stream: &TcpStream) -> u32 {
    // SAFETY: all zeros is a valid tcp_info, which has integers only.
    let mut info: libc::tcp_info = unsafe { mem::zeroed() };
    let mut length = mem::size_of::<libc::tcp_info>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes into `info`.
    let result = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            ptr::from_mut(&mut info).cast(),
            &raw mut length,
        )
    };
    assert_eq!(result, 0);
    info.tcpi_data_segs_in
}

/// Stand before a resolver and note what its client sends; returns the port to ask.
async fn watch(resolver_port: u16, sent: Arc<Mutex<Sent>>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (mut near, _) = listener.accept().await.unwrap();
        let mut far = TcpStream::connect(("127.0.0.1", resolver_port))
            .await
            .unwrap();
        far.set_nodelay(true).unwrap();
        near.set_nodelay(true).unwrap();
        let (mut up, mut down) = (vec![0; 1 << 16], vec![0; 1 << 16]);
        loop {
            tokio::select! {
                count = near.read(&mut up) => {
                    let count = count.unwrap();
                    if count == 0 {
                        return;
                    }
                    {
                        let mut sent = sent.lock().unwrap();
                        sent.bytes.extend(&up[..count]);
                        sent.segments_count = segments_count(&near);
                    }
                    far.write_all(&up[..count]).await.unwrap();
                }
                count = far.read(&mut down) => {
                    let count = count.unwrap();
                    if count == 0 {
                        return;
                    }
                    near.write_all(&down[..count]).await.unwrap();
                }
            }
        }
    });
    port
}

/// A client of a resolver that is watched.
async fn watched(
    resolver: &TestResolver,
    options: &ClientOptions,
) -> (DnsClient, Arc<Mutex<Sent>>) {
    let sent = Arc::<Mutex<Sent>>::default();
    let (_, port) = resolver.url("tls").rsplit_once(':').unwrap();
    let port = watch(port.parse().unwrap(), Arc::clone(&sent)).await;
    (client(&format!("tls://{HOST}:{port}"), options), sent)
}

#[tokio::test]
async fn each_query_is_a_record_and_those_that_are_there_leave_together() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    let options = ClientOptions {
        ca_file: Some(resolver.ca_file.clone()),
        ..ClientOptions::default()
    };
    let (client, sent) = watched(&resolver, &options).await;
    let running = stub::start(client, 5_000).await;
    // All wait for the one handshake.
    join_all((0..QUERY_COUNT as u16).map(|id| running.ask("a.test", id))).await;
    let sent = sent.lock().unwrap();
    let of_a_query = FRAMED_BYTES + SEALED_BYTES;
    let records = sent.record_lengths();
    let of_queries = records.iter().filter(|&&length| length == of_a_query);
    assert_eq!(of_queries.count(), QUERY_COUNT, "{records:?}");
    // The hello and the end of the handshake beside them.
    assert!(
        (sent.segments_count as usize) < QUERY_COUNT,
        "{} segments",
        sent.segments_count
    );
}

#[tokio::test]
async fn a_resolver_nobody_vouches_for_gets_an_alert() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    let (client, sent) = watched(&resolver, &ClientOptions::default()).await;
    let question = Question::parse("a.test", "A").unwrap();
    let outcome = PendingQuery::begin(&client, &question)
        .ask(&mut None, Duration::from_secs(5))
        .await;
    assert!(outcome.result.is_err());
    let alert = || sent.lock().unwrap().record_lengths() == [ALERT_BYTES + SEALED_BYTES];
    let give_up = Instant::now() + Duration::from_secs(5);
    while !alert() {
        assert!(
            Instant::now() < give_up,
            "{:?}",
            sent.lock().unwrap().record_lengths()
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
