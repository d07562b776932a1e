//! What the stub makes of connections and of its clients' EDNS.

#![allow(clippy::unwrap_used)]

use crate::support;
use crate::support::stub::{edns_query, has_setup, start, start_with};
use crate::support::{TestResolver, client};
use hickory_proto::op::{Edns, Message};
use hickory_proto::rr::rdata::opt::{ClientSubnet as SubnetOption, EdnsCode, EdnsOption};
use resolab_dns::stub::ConnectionPolicy;
use resolab_dns::{ClientOptions, EdnsOptions};
use resolab_record::{ConnectionEnd, ConnectionState, CookieState, TicketPolicy};
use std::num::NonZeroU32;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, UdpSocket};
use tokio::sync::mpsc;

#[tokio::test]
async fn a_cold_stub_opens_a_connection_for_each_query() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    let policy = ConnectionPolicy {
        is_cold: true,
        ..ConnectionPolicy::default()
    };
    for scheme in ["tcp", "tls", "https", "h3", "quic"] {
        let before = resolver.connections();
        let client = resolver.client(scheme, ClientOptions::default());
        let stub = start_with(client, 5000, policy).await;
        let (first, second) = tokio::join!(stub.ask("a.test", 1), stub.ask("b.test", 2));
        let third = stub.ask("c.test", 3).await;
        for reply in [first, second, third] {
            assert_eq!(reply.answers.len(), 1, "{scheme}");
        }
        for record in stub.records(3).await {
            assert_eq!(record.connection, Some(ConnectionState::Cold), "{scheme}");
            assert!(has_setup(&record), "{scheme}");
            assert_eq!(record.connection_facts.previous_connection_end, None);
        }
        assert_eq!(resolver.connections(), before + 3, "{scheme}");
    }
}

#[tokio::test]
async fn a_connection_has_so_many_queries_and_no_more() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    let policy = ConnectionPolicy {
        max_queries_count: NonZeroU32::new(2),
        ..ConnectionPolicy::default()
    };
    for scheme in ["tcp", "https", "quic"] {
        let before = resolver.connections();
        let client = resolver.client(scheme, ClientOptions::default());
        let stub = start_with(client, 5000, policy).await;
        for id in 0..5 {
            assert_eq!(stub.ask("a.test", id).await.answers.len(), 1, "{scheme}");
        }
        let records = stub.records(5).await;
        let opened: Vec<_> = records.iter().map(has_setup).collect();
        assert_eq!(opened, [true, false, true, false, true], "{scheme}");
        let end = records[2].connection_facts.previous_connection_end;
        assert_eq!(end, Some(ConnectionEnd::QueryLimit), "{scheme}");
        assert_eq!(resolver.connections(), before + 3, "{scheme}");
    }
}

/// Answers any number of queries a connection; sends how long after its last answer the client closed
/// each.
async fn tcp_resolver(ends: mpsc::UnboundedSender<Duration>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("tcp://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let ends = ends.clone();
            tokio::spawn(async move {
                let mut last = Instant::now();
                while let Ok(length) = stream.read_u16().await {
                    let mut query = vec![0; usize::from(length)];
                    stream.read_exact(&mut query).await.unwrap();
                    let answer = support::answer(&query, false).unwrap();
                    stream.write_u16(answer.len() as u16).await.unwrap();
                    stream.write_all(&answer).await.unwrap();
                    last = Instant::now();
                }
                ends.send(last.elapsed()).unwrap();
            });
        }
    });
    url
}

#[tokio::test]
async fn connections_are_closed_when_idle_and_after_a_cold_query() {
    const IDLE: Duration = Duration::from_millis(400);
    for (is_cold, least) in [(false, IDLE.mul_f64(0.9)), (true, Duration::ZERO)] {
        let (ends, mut closed) = mpsc::unbounded_channel();
        let client = client(&tcp_resolver(ends).await, &ClientOptions::default());
        let policy = ConnectionPolicy {
            is_cold,
            idle_timeout: Some(IDLE),
            ..ConnectionPolicy::default()
        };
        let stub = start_with(client, 5000, policy).await;
        for (id, pause_ms) in [(1, 0), (2, 100)] {
            tokio::time::sleep(Duration::from_millis(pause_ms)).await;
            stub.ask("a.test", id).await;
        }
        let idle = tokio::time::timeout(Duration::from_secs(5), closed.recv()).await;
        let idle = idle.unwrap().unwrap();
        assert!(idle >= least, "{is_cold} {idle:?}");
        stub.ask("a.test", 3).await;
        let record = stub.records(3).await.remove(2);
        assert_eq!(record.connection, Some(ConnectionState::Cold));
        let end = record.connection_facts.previous_connection_end;
        let expected = (!is_cold).then_some(ConnectionEnd::IdleTimeout);
        assert_eq!(end, expected);
    }
}

#[tokio::test]
async fn what_a_client_says_goes_upstream_but_for_its_cookie() {
    let upstream = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let url = format!("udp://{}", upstream.local_addr().unwrap());
    let stub = start(client(&url, &ClientOptions::default()), 5000).await;
    for (payload_bytes, forwarded_bytes) in [(4096, 1232), (700, 700), (100, 512)] {
        let serve = async {
            let mut buffer = [0; 4096];
            let (length, from) = upstream.recv_from(&mut buffer).await.unwrap();
            let seen = Message::from_vec(&buffer[..length]).unwrap();
            let mut answer = Message::from_vec(&support::answer(&buffer[..length], true).unwrap());
            let answer = answer.as_mut().unwrap();
            answer.metadata.authentic_data = true;
            let mut edns = Edns::new();
            let subnet = SubnetOption::new([192, 0, 2, 0].into(), 24, 20);
            edns.options_mut().insert(EdnsOption::Subnet(subnet));
            answer.edns = Some(edns);
            upstream
                .send_to(&answer.to_vec().unwrap(), from)
                .await
                .unwrap();
            seen
        };
        let query = edns_query("A.tEst", 7, payload_bytes);
        let (reply, seen) = tokio::join!(stub.ask_raw(&query), serve);
        assert_eq!(seen.queries[0].name().to_ascii(), "A.tEst.");
        assert!(seen.metadata.checking_disabled);
        // RFC 6840 section 5.7.
        assert!(seen.metadata.authentic_data);
        let edns = seen.edns.unwrap();
        assert!(edns.flags().dnssec_ok);
        assert_eq!(edns.max_payload(), forwarded_bytes);
        let subnet = SubnetOption::new([192, 0, 2, 0].into(), 24, 0);
        let codes: Vec<_> = edns
            .options()
            .options
            .iter()
            .map(|(_, o)| o.clone())
            .collect();
        assert_eq!(codes, [EdnsOption::Subnet(subnet)]);
        assert!(reply.metadata.authentic_data && reply.metadata.checking_disabled);
        let edns = reply.edns.unwrap();
        assert!(edns.flags().dnssec_ok);
        let Some(EdnsOption::Subnet(subnet)) = edns.option(EdnsCode::Subnet) else {
            panic!("the reply has no client subnet");
        };
        assert_eq!(subnet.scope_prefix(), 20);
        let record = stub.records(1).await.remove(0);
        assert_eq!(record.edns_udp_payload_bytes, Some(forwarded_bytes));
        assert_eq!(record.ecs_sent.as_deref(), Some("192.0.2.0/24"));
        assert_eq!(record.cookie_sent, None);
        assert_eq!(record.ecs_scope_prefix_length, Some(20));
    }
}

#[tokio::test]
async fn the_stub_s_own_subnet_is_for_those_who_give_none() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    let options = ClientOptions {
        edns: EdnsOptions {
            client_subnet: Some("198.51.100.0/24".parse().unwrap()),
            has_cookie: true,
            ..EdnsOptions::default()
        },
        ..ClientOptions::default()
    };
    let stub = start(resolver.client("quic", options), 5000).await;
    let reply = stub.ask("a.test", 1).await;
    assert!(reply.edns.is_none());
    stub.ask_raw(&edns_query("a.test", 2, 700)).await;
    let records = stub.records(2).await;
    assert_eq!(records[0].ecs_sent.as_deref(), Some("198.51.100.0/24"));
    assert_eq!(records[1].ecs_sent.as_deref(), Some("192.0.2.0/24"));
    for record in records {
        assert_eq!(record.cookie_sent, Some(CookieState::ClientOnly));
        assert_eq!(record.edns_udp_payload_bytes, Some(1232));
        assert_eq!(record.query_bytes, 128);
    }
}
