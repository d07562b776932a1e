//! Connections that break off while they are set up, and what is said of the queries they were for.

#![allow(clippy::unwrap_used)]

use crate::support::{HOST, TestResolver, client};
use resolab_dns::{
    ClientOptions, ConnectionPolicy, MessagePosition, PendingQuery, Question, Upstream,
};
use resolab_record::{ConnectionState, Failure, TicketPolicy};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const DEADLINE: Duration = Duration::from_secs(2);

/// What becomes of a connection.
#[derive(Clone)]
enum Fate {
    /// It ends when its client says something once this is set.
    RelayedUntil(Arc<AtomicBool>),
    /// Nothing is ever said.
    Silent,
    /// It ends at the first byte.
    Ended,
    Relayed,
}

/// Stand before a resolver; the port to ask.
async fn stand_before(resolver: &TestResolver, fates: Vec<Fate>) -> u16 {
    let (_, resolver_port) = resolver.url("tls").rsplit_once(':').unwrap();
    let resolver_port: u16 = resolver_port.parse().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        for fate in fates {
            let (near, _) = listener.accept().await.unwrap();
            tokio::spawn(meet(near, resolver_port, fate));
        }
    });
    port
}

async fn meet(near: TcpStream, resolver_port: u16, fate: Fate) {
    match fate {
        Fate::Silent => tokio::time::sleep(10 * DEADLINE).await,
        Fate::Ended => {
            near.readable().await.unwrap();
        }
        Fate::Relayed => relay(near, resolver_port, &AtomicBool::new(false)).await,
        Fate::RelayedUntil(is_over) => relay(near, resolver_port, &is_over).await,
    }
}

async fn relay(mut near: TcpStream, resolver_port: u16, is_over: &AtomicBool) {
    let mut far = TcpStream::connect(("127.0.0.1", resolver_port))
        .await
        .unwrap();
    let (mut up, mut down) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        tokio::select! {
            count = near.read(&mut up) => {
                let count = count.unwrap_or(0);
                if count == 0 || is_over.load(Ordering::Relaxed) {
                    return;
                }
                far.write_all(&up[..count]).await.unwrap();
            }
            count = far.read(&mut down) => {
                let count = count.unwrap_or(0);
                if count == 0 {
                    return;
                }
                near.write_all(&down[..count]).await.unwrap();
            }
        }
    }
}

async fn upstream(resolver: &TestResolver, fates: Vec<Fate>) -> Upstream {
    let port = stand_before(resolver, fates).await;
    let options = ClientOptions {
        ca_file: Some(resolver.ca_file.clone()),
        ..ClientOptions::default()
    };
    let client = client(&format!("tls://{HOST}:{port}"), &options);
    Upstream::new(client, ConnectionPolicy::default())
}

#[tokio::test]
async fn a_deadline_behind_a_lost_connection_is_told_of_the_one_that_was_being_opened() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    let is_over = Arc::<AtomicBool>::default();
    let fates = vec![Fate::RelayedUntil(Arc::clone(&is_over)), Fate::Silent];
    let upstream = upstream(&resolver, fates).await;
    let question = Question::parse("a.test", "A").unwrap();
    let first = PendingQuery::begin(&upstream.client, &question);
    let first = upstream.ask(&first, DEADLINE).await.outcome;
    assert!(first.result.is_ok());
    is_over.store(true, Ordering::Relaxed);
    let second = PendingQuery::begin(&upstream.client, &question);
    let second = upstream.ask(&second, DEADLINE).await.outcome;
    let failure = second.result.err().unwrap();
    assert_eq!(failure.failure, Failure::TlsHandshakeTimeout, "{failure:?}");
    assert_eq!(second.connection, ConnectionState::Cold);
    assert!(second.is_opener);
    assert!(!Arc::ptr_eq(&first.setup, &second.setup));
}

#[tokio::test]
async fn a_handshake_that_broke_off_refuses_no_partial_responses() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    let upstream = upstream(&resolver, vec![Fate::Ended, Fate::Relayed, Fate::Relayed]).await;
    let questions = ["a.test", "b.test"].map(|name| Question::parse(name, "A").unwrap());
    let position = MessagePosition {
        first_sequence: 0,
        message_sequence: 0,
        one_by_one: false,
    };
    let broken = upstream.ask_several(&questions, position, DEADLINE).await;
    for record in &broken {
        assert_eq!(record.failure, Some(Failure::TlsHandshakeFailed));
        assert_eq!(record.message_facts.asked_alone, Some(false));
    }
    // This resolver answers the first of several questions, which is a refusal; it has been asked
    // then.
    let refused = upstream.ask_several(&questions, position, DEADLINE).await;
    for record in &refused {
        assert_eq!(record.failure, None, "{:?}", record.failure_detail);
        assert_eq!(record.message_facts.asked_alone, Some(true));
    }
}
