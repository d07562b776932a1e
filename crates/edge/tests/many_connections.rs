//! Many open DoQ connections, and many new ones a second beside them: no error, and no growth once
//! they are gone. Small here; `scripts/edge_load.py` runs it large.
#![allow(clippy::unwrap_used)]

mod support;

use quinn::{Connection, Endpoint, VarInt};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use support::{Lab, ask_doq, open_doq};
use tokio::sync::Semaphore;
use tokio::time::{MissedTickBehavior, interval, timeout};

const PATIENCE: Duration = Duration::from_mins(1);
/// Handshakes under way at once: a slow machine falls behind the rate, it does not fail.
const UNDER_WAY_COUNT: usize = 100;

fn setting(name: &str, usual: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.map_or(usual, |text| text.parse().unwrap())
}

/// A client on a thread of its own.
fn in_thread<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> std::thread::JoinHandle<T> {
    std::thread::spawn(|| {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime.unwrap().block_on(work)
    })
}

fn client(config: Arc<rustls::ClientConfig>) -> Endpoint {
    let mut endpoint = Endpoint::client("127.0.0.1:0".parse().unwrap()).unwrap();
    let crypto = quinn::crypto::rustls::QuicClientConfig::try_from(config).unwrap();
    let mut config = quinn::ClientConfig::new(Arc::new(crypto));
    let mut transport = quinn::TransportConfig::default();
    transport.keep_alive_interval(Some(Duration::from_secs(10)));
    config.transport_config(Arc::new(transport));
    endpoint.set_default_client_config(config);
    endpoint
}

async fn open_one(endpoint: Endpoint, server: SocketAddr) -> Connection {
    let quic = timeout(PATIENCE, open_doq(&endpoint, server))
        .await
        .unwrap();
    timeout(PATIENCE, ask_doq(&quic)).await.unwrap().unwrap();
    quic
}

/// Open `count` connections at a rate, each with a query; those that stay open.
async fn open_many(
    endpoint: &Endpoint,
    server: SocketAddr,
    count: u64,
    rate: u64,
    keep: bool,
) -> Vec<Connection> {
    let mut pace = interval(Duration::from_nanos(1_000_000_000 / rate));
    pace.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let under_way = Arc::new(Semaphore::new(UNDER_WAY_COUNT));
    let mut tasks = Vec::new();
    for _ in 0..count {
        pace.tick().await;
        let permit = Arc::clone(&under_way).acquire_owned().await.unwrap();
        let endpoint = endpoint.clone();
        tasks.push(tokio::spawn(async move {
            let quic = open_one(endpoint, server).await;
            drop(permit);
            if !keep {
                quic.close(VarInt::from_u32(0), b"");
            }
            quic
        }));
    }
    let mut open = Vec::new();
    for task in tasks {
        let quic = task.await.unwrap();
        open.extend(keep.then_some(quic));
    }
    open
}

#[tokio::test]
async fn open_connections_and_new_ones_neither_fail_nor_leave_anything() {
    let (open, rate) = (setting("RESOLAB_OPEN", 300), setting("RESOLAB_RATE", 50));
    let seconds = setting("RESOLAB_SECONDS", 5);
    let patient = "[limits]\nhandshake_timeout_s = 60\n[resolver]";
    let mut lab = Lab::start_edited(|text| text.replacen("[resolver]", patient, 1)).await;
    let (config, server) = (lab.tls_client("doq"), lab.doq());
    let mut resident = Vec::new();
    for round in 0..2 {
        let config = Arc::clone(&config);
        let work = in_thread(async move {
            let endpoint = client(config);
            let held = open_many(&endpoint, server, open, rate.max(500), true).await;
            if round == 0 {
                let began = Instant::now();
                open_many(&endpoint, server, rate * seconds, rate, false).await;
                println!("{} new ones in {:?}", rate * seconds, began.elapsed());
            }
            for quic in &held {
                timeout(PATIENCE, ask_doq(quic)).await.unwrap().unwrap();
                quic.close(VarInt::from_u32(0), b"");
            }
            endpoint.wait_idle().await;
        });
        while !work.is_finished() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        work.join().unwrap();
        let wanted = open * (round + 1) + rate * seconds;
        let ended = lab.connections(wanted as usize).await;
        let failed: Vec<_> = ended
            .iter()
            .filter(|record| record.failure.is_some())
            .collect();
        assert!(
            failed.is_empty(),
            "{} failed: {:#?}",
            failed.len(),
            failed[0]
        );
        let summary = lab.summary().await;
        assert_eq!(summary.open_connections_count, 0);
        assert_eq!(summary.quic_connections_count, wanted);
        resident.push(summary.resident_bytes);
    }
    println!("resident after each round: {resident:?} bytes");
    // The second round found room the first had left; the records it leaves count, too.
    assert!(
        resident[1] < resident[0] + resident[0] / 3 + (16 << 20),
        "{resident:?}"
    );
}
