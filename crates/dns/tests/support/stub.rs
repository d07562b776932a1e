//! A running stub and what asks it.

use hickory_proto::op::Message;
use hickory_proto::rr::rdata::opt::{ClientSubnet as SubnetOption, EdnsCode, EdnsOption};
use resolab_dns::edns::QueryEdns;
use resolab_dns::message::{build_query, check_echo};
use resolab_dns::stub::{ConnectionPolicy, Stub, StubOptions};
use resolab_dns::{DnsClient, Question};
use resolab_record::{QueryRecord, Record};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use tokio::net::UdpSocket;

pub struct Running {
    pub stub: Arc<Stub>,
    pub address: SocketAddr,
    pub records: Receiver<Record>,
}

pub async fn start(client: DnsClient, deadline_ms: u64) -> Running {
    start_with(client, deadline_ms, ConnectionPolicy::default()).await
}

pub async fn start_with(
    client: DnsClient,
    deadline_ms: u64,
    connections: ConnectionPolicy,
) -> Running {
    let options = StubOptions {
        connections,
        ..StubOptions::from(Duration::from_millis(deadline_ms))
    };
    start_as(client, options).await
}

pub async fn start_as(client: DnsClient, options: StubOptions) -> Running {
    let (sender, records) = channel();
    let listen = "127.0.0.1:0".parse().unwrap();
    let stub = Arc::new(Stub::bind(listen, client, options, sender).await.unwrap());
    let address = stub.listen_address().unwrap();
    let serving = Arc::clone(&stub);
    tokio::spawn(async move { serving.serve().await });
    Running {
        stub,
        address,
        records,
    }
}

impl Running {
    pub async fn ask(&self, name: &str, id: u16) -> Message {
        self.ask_raw(&plain_query(name, id)).await
    }

    pub async fn ask_raw(&self, query: &[u8]) -> Message {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        socket.send_to(query, self.address).await.unwrap();
        let mut buffer = vec![0; 4096];
        let received = tokio::time::timeout(Duration::from_secs(5), socket.recv(&mut buffer));
        let length = received.await.unwrap().unwrap();
        check_echo(query, &buffer[..length]).unwrap();
        Message::from_vec(&buffer[..length]).unwrap()
    }

    pub async fn records(&self, count: usize) -> Vec<QueryRecord> {
        let mut found = Vec::new();
        let give_up = Instant::now() + Duration::from_secs(5);
        while found.len() < count && Instant::now() < give_up {
            match self.records.try_recv() {
                Ok(Record::Query(record)) => found.push(*record),
                _ => tokio::time::sleep(Duration::from_millis(1)).await,
            }
        }
        assert_eq!(found.len(), count);
        found
    }
}

/// As an old stub resolver asks: no EDNS.
pub fn plain_query(name: &str, id: u16) -> Vec<u8> {
    let question = Question::parse(name, "A").unwrap();
    let mut query =
        Message::from_vec(&build_query(&question, id, &QueryEdns::default()).unwrap()).unwrap();
    query.edns = None;
    query.to_vec().unwrap()
}

pub fn has_setup(record: &QueryRecord) -> bool {
    record.tcp_connect_end_ns.is_some() || record.quic_handshake_end_ns.is_some()
}

/// A query with all that a client may say in it.
pub fn edns_query(name: &str, id: u16, payload_bytes: u16) -> Vec<u8> {
    let question = Question::parse(name, "A").unwrap();
    let plain = build_query(&question, id, &QueryEdns::default()).unwrap();
    let mut query = Message::from_vec(&plain).unwrap();
    query.metadata.checking_disabled = true;
    query.metadata.authentic_data = true;
    let edns = query.edns.as_mut().unwrap();
    edns.set_max_payload(payload_bytes).set_dnssec_ok(true);
    let subnet = SubnetOption::new([192, 0, 2, 0].into(), 24, 0);
    edns.options_mut().insert(EdnsOption::Subnet(subnet));
    let cookie = EdnsOption::Unknown(EdnsCode::Cookie.into(), b"private!".to_vec());
    edns.options_mut().insert(cookie);
    query.to_vec().unwrap()
}
