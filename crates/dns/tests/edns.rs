//! EDNS(0) options against servers on loopback: what arrives, what is recorded, what is believed.

#![allow(clippy::unwrap_used)]

use crate::support;
use crate::support::{TestResolver, client};
use hickory_proto::op::{Edns, Message, ResponseCode};
use hickory_proto::rr::rdata::opt::{ClientSubnet as SubnetOption, EdnsCode, EdnsOption};
use resolab_dns::{
    ClientOptions, DnsClient, EdnsOptions, Padding, PendingQuery, Question, UdpRetryPolicy,
};
use resolab_record::{CookieState, Failure, QueryPurpose, QueryRecord, TicketPolicy};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};

const DEADLINE: Duration = Duration::from_secs(5);

async fn ask(client: &DnsClient) -> QueryRecord {
    let question = Question::parse("a.test", "A").unwrap();
    let asking = PendingQuery::begin(client, &question);
    let mut slot = None;
    let outcome = asking.ask(&mut slot, DEADLINE).await;
    let record = asking.record(&outcome, QueryPurpose::Measured, 0, None);
    if let Some((session, _)) = slot {
        session.close().await;
    }
    record
}

fn with_cookie() -> EdnsOptions {
    EdnsOptions {
        has_cookie: true,
        ..EdnsOptions::default()
    }
}

/// A UDP server that answers as told, and a client of it.
struct Server(UdpSocket);

impl Server {
    async fn start(edns: EdnsOptions, timeout_ms: u64) -> (Self, DnsClient) {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let options = ClientOptions {
            udp_retry_policy: UdpRetryPolicy::Custom {
                timeout: Duration::from_millis(timeout_ms),
                try_count: 1,
            },
            edns,
            ..ClientOptions::default()
        };
        let url = format!("udp://{}", socket.local_addr().unwrap());
        let client = client(&url, &options);
        (Self(socket), client)
    }

    async fn receive(&self) -> (Message, SocketAddr) {
        let mut buffer = [0; 4096];
        let (length, from) = self.0.recv_from(&mut buffer).await.unwrap();
        (Message::from_vec(&buffer[..length]).unwrap(), from)
    }

    async fn answer(&self, query: &Message, to: SocketAddr, options: Vec<EdnsOption>) {
        self.answer_with(query, to, options, ResponseCode::NoError)
            .await;
    }

    async fn answer_with(
        &self,
        query: &Message,
        to: SocketAddr,
        options: Vec<EdnsOption>,
        rcode: ResponseCode,
    ) {
        let mut response = query.clone().into_response();
        response.metadata.response_code = rcode;
        let mut edns = Edns::new();
        edns.set_max_payload(1400);
        for option in options {
            edns.options_mut().insert(option);
        }
        response.edns = Some(edns);
        let bytes = response.to_vec().unwrap();
        self.0.send_to(&bytes, to).await.unwrap();
    }
}

fn cookie_of(query: &Message) -> Vec<u8> {
    let option = query.edns.as_ref().unwrap().option(EdnsCode::Cookie);
    let EdnsOption::Unknown(_, bytes) = option.unwrap() else {
        panic!("{option:?}");
    };
    bytes.clone()
}

fn cookie(client: &[u8], server: &[u8]) -> EdnsOption {
    EdnsOption::Unknown(EdnsCode::Cookie.into(), [client, server].concat())
}

#[tokio::test]
async fn without_options_the_query_has_an_empty_opt() {
    let (server, client) = Server::start(EdnsOptions::default(), 2000).await;
    let serve = async {
        let (query, from) = server.receive().await;
        server.answer(&query, from, Vec::new()).await;
        query
    };
    let (record, query) = tokio::join!(ask(&client), serve);
    assert!(query.edns.unwrap().options().options.is_empty());
    assert_eq!(record.edns_udp_payload_bytes, Some(1232));
    assert_eq!(record.response_edns_udp_payload_bytes, Some(1400));
    assert_eq!(
        (record.ecs_sent, record.ecs_scope_prefix_length),
        (None, None)
    );
    assert_eq!((record.cookie_sent, record.cookie_received), (None, None));
}

#[tokio::test]
async fn payload_size_and_subnet_arrive_and_the_scope_comes_back() {
    let options = EdnsOptions {
        udp_payload_bytes: 4096,
        client_subnet: Some("192.0.2.77/24".parse().unwrap()),
        ..EdnsOptions::default()
    };
    let (server, client) = Server::start(options, 2000).await;
    let serve = async {
        let (query, from) = server.receive().await;
        let scoped = SubnetOption::new("192.0.2.0".parse().unwrap(), 24, 20);
        let options = vec![EdnsOption::Subnet(scoped)];
        server.answer(&query, from, options).await;
        query.edns.unwrap()
    };
    let (record, edns) = tokio::join!(ask(&client), serve);
    assert_eq!(edns.max_payload(), 4096);
    let sent = SubnetOption::new("192.0.2.0".parse().unwrap(), 24, 0);
    assert_eq!(
        edns.option(EdnsCode::Subnet),
        Some(&EdnsOption::Subnet(sent))
    );
    assert_eq!(record.edns_udp_payload_bytes, Some(4096));
    assert_eq!(record.ecs_sent.as_deref(), Some("192.0.2.0/24"));
    assert_eq!(record.ecs_scope_prefix_length, Some(20));
}

#[tokio::test]
async fn what_the_server_says_of_itself_and_of_the_answer_is_recorded() {
    let options = EdnsOptions {
        asks_identifier: true,
        ..EdnsOptions::default()
    };
    let (server, client) = Server::start(options, 2000).await;
    let serve = async {
        let (query, from) = server.receive().await;
        let asked = query
            .edns
            .as_ref()
            .unwrap()
            .option(EdnsCode::NSID)
            .is_some();
        let options = vec![
            EdnsOption::Unknown(3, b"ns1.fra".to_vec()),
            EdnsOption::Unknown(15, b"\x00\x06no signature".to_vec()),
        ];
        let failed = ResponseCode::ServFail;
        server.answer_with(&query, from, options, failed).await;
        let (query, from) = server.receive().await;
        let mut validated = query.clone();
        validated.metadata.authentic_data = true;
        server.answer(&validated, from, Vec::new()).await;
        asked
    };
    let both = async { (ask(&client).await, ask(&client).await) };
    let ((failed, validated), asked) = tokio::join!(both, serve);
    assert!(asked);
    assert_eq!(failed.rcode.as_deref(), Some("SERVFAIL"));
    assert_eq!(failed.extended_dns_errors, ["6 DNSSEC Bogus: no signature"]);
    assert_eq!(failed.name_server_identifier.as_deref(), Some("ns1.fra"));
    assert_eq!(failed.authentic_data, Some(false));
    assert!(validated.extended_dns_errors.is_empty());
    assert_eq!(validated.name_server_identifier, None);
    assert_eq!(validated.authentic_data, Some(true));
}

#[tokio::test]
async fn the_server_cookie_comes_with_the_next_query_even_of_an_error() {
    let (server, client) = Server::start(with_cookie(), 2000).await;
    let serve = async {
        let (query, from) = server.receive().await;
        let first = cookie_of(&query);
        let options = vec![cookie(&first, b"server-8")];
        server
            .answer_with(&query, from, options, ResponseCode::ServFail)
            .await;
        let (query, from) = server.receive().await;
        let second = cookie_of(&query);
        let options = vec![cookie(&second, b"")];
        server.answer(&query, from, options).await;
        (first, second)
    };
    let ask_twice = async { (ask(&client).await, ask(&client).await) };
    let (records, (first, second)) = tokio::join!(ask_twice, serve);
    assert_eq!(first.len(), 8);
    assert_eq!(second, [&first[..], b"server-8"].concat());
    assert_eq!(records.0.failure, Some(Failure::DnsRcode));
    assert_eq!(records.0.attempt_count, 1);
    assert_eq!(records.0.cookie_sent, Some(CookieState::ClientOnly));
    assert_eq!(records.0.cookie_received, Some(CookieState::Server));
    assert_eq!(records.1.failure, None);
    assert_eq!(records.1.cookie_sent, Some(CookieState::Server));
    assert_eq!(records.1.cookie_received, Some(CookieState::Server));
}

/// Refuses a query over UDP for its cookie, whatever it is, and gives another.
async fn refuse(server: &Server, new_cookie: &[u8]) -> (Message, Vec<u8>) {
    let (query, from) = server.receive().await;
    let sent = cookie_of(&query);
    let options = vec![cookie(&sent[..8], new_cookie)];
    server
        .answer_with(&query, from, options, ResponseCode::BADCOOKIE)
        .await;
    (query, sent)
}

#[tokio::test]
async fn a_refused_cookie_is_asked_again_once_with_the_servers() {
    let (server, client) = Server::start(with_cookie(), 2000).await;
    let serve = async {
        let (first, first_cookie) = refuse(&server, b"server-8").await;
        tokio::time::sleep(Duration::from_millis(20)).await;
        let (query, from) = server.receive().await;
        let sent = cookie_of(&query);
        server.answer(&query, from, vec![cookie(&sent, b"")]).await;
        assert_eq!(first.queries, query.queries);
        (first_cookie, sent)
    };
    let (record, (first, second)) = tokio::join!(ask(&client), serve);
    assert_eq!(second, [&first[..], b"server-8"].concat());
    assert_eq!((record.failure, record.attempt_count), (None, 2));
    assert_eq!(record.rcode.as_deref(), Some("NOERROR"));
    assert_eq!(record.cookie_sent, Some(CookieState::Server));
    // From the first query to the answer of the second.
    let exchange = record.query_exchange_end_ns.unwrap() - record.query_exchange_start_ns.unwrap();
    assert!(exchange >= 20_000_000);
    assert!(record.query_response_time_ns >= record.query_exchange_end_ns);
    // The stamps are the second query's.
    assert!(record.kernel_transmit_ns.unwrap() > record.query_exchange_start_ns.unwrap());
    assert!(record.kernel_receive_ns > record.kernel_transmit_ns);
}

#[tokio::test]
async fn a_cookie_refused_twice_by_udp_is_tried_by_tcp() {
    let (server, client) = Server::start(with_cookie(), 2000).await;
    let listener = TcpListener::bind(server.0.local_addr().unwrap())
        .await
        .unwrap();
    let serve = async {
        refuse(&server, b"server-8").await;
        refuse(&server, b"server-9").await;
        let (mut stream, _) = listener.accept().await.unwrap();
        let query = read_framed(&mut stream).await;
        let sent = cookie_of(&query);
        write_framed(&mut stream, &query.into_response()).await;
        sent
    };
    let (record, sent) = tokio::join!(ask(&client), serve);
    assert_eq!(sent[8..], *b"server-9");
    assert_eq!((record.failure, record.attempt_count), (None, 3));
    assert!(record.tcp_connect_end_ns.is_some());
}

#[tokio::test]
async fn on_a_connection_a_refused_cookie_is_asked_again_once() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let options = ClientOptions {
        edns: with_cookie(),
        ..ClientOptions::default()
    };
    let client = client(
        &format!("tcp://{}", listener.local_addr().unwrap()),
        &options,
    );
    let serve = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        for _ in 0..2 {
            let query = read_framed(&mut stream).await;
            let mut edns = Edns::new();
            edns.options_mut()
                .insert(cookie(&cookie_of(&query)[..8], b"server-8"));
            let mut response = query.into_response();
            response.metadata.response_code = ResponseCode::BADCOOKIE;
            response.edns = Some(edns);
            write_framed(&mut stream, &response).await;
        }
    };
    let (record, ()) = tokio::join!(ask(&client), serve);
    assert_eq!(record.failure, Some(Failure::DnsRcode));
    assert_eq!(record.rcode.as_deref(), Some("BADCOOKIE"));
    assert_eq!(record.attempt_count, 2);
}

#[tokio::test]
async fn another_client_subnet_is_passed_over_by_udp_and_spoils_a_response_on_a_connection() {
    let subnet = |text: &str| {
        let address = text.parse().unwrap();
        EdnsOption::Subnet(SubnetOption::new(address, 24, 24))
    };
    let options = EdnsOptions {
        client_subnet: Some("192.0.2.0/24".parse().unwrap()),
        ..EdnsOptions::default()
    };
    let (server, client) = Server::start(options, 2000).await;
    let serve = async {
        let (query, from) = server.receive().await;
        let nxdomain = ResponseCode::NXDomain;
        for (address, rcode) in [
            ("198.51.100.0", nxdomain),
            ("192.0.2.0", ResponseCode::NoError),
        ] {
            server
                .answer_with(&query, from, vec![subnet(address)], rcode)
                .await;
        }
    };
    let (record, ()) = tokio::join!(ask(&client), serve);
    assert_eq!(record.failure, None);
    assert_eq!(record.rcode.as_deref(), Some("NOERROR"));

    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let all = ClientOptions {
        edns: options,
        ..ClientOptions::default()
    };
    let client = support::client(&format!("tcp://{}", listener.local_addr().unwrap()), &all);
    let serve = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut response = read_framed(&mut stream).await.into_response();
        let mut edns = Edns::new();
        edns.options_mut().insert(subnet("198.51.100.0"));
        response.edns = Some(edns);
        write_framed(&mut stream, &response).await;
    };
    let (record, ()) = tokio::join!(ask(&client), serve);
    assert_eq!(record.failure, Some(Failure::QueryMalformed));
    assert!(record.failure_detail.unwrap().contains("198.51.100.0/24"));
}

async fn read_framed(stream: &mut TcpStream) -> Message {
    let length = stream.read_u16().await.unwrap();
    let mut query = vec![0; usize::from(length)];
    stream.read_exact(&mut query).await.unwrap();
    Message::from_vec(&query).unwrap()
}

async fn write_framed(stream: &mut TcpStream, response: &Message) {
    let bytes = response.to_vec().unwrap();
    stream.write_u16(bytes.len() as u16).await.unwrap();
    stream.write_all(&bytes).await.unwrap();
}

#[tokio::test]
async fn a_forged_cookie_is_passed_over_until_the_time_is_up() {
    let (server, client) = Server::start(with_cookie(), 150).await;
    let serve = async {
        let (query, from) = server.receive().await;
        let mut forged = cookie_of(&query);
        forged[0] ^= 1;
        server
            .answer(&query, from, vec![cookie(&forged, b"server-8")])
            .await;
        let own = cookie_of(&query);
        server
            .answer(&query, from, vec![cookie(&own, b"odd")])
            .await;
    };
    let (record, ()) = tokio::join!(ask(&client), serve);
    assert_eq!(record.failure, Some(Failure::QueryTimeout));
    assert_eq!(record.cookie_sent, Some(CookieState::ClientOnly));
    assert_eq!(record.cookie_received, None);
    let serve = async {
        let (query, from) = server.receive().await;
        let own = cookie_of(&query);
        let mut forged = own.clone();
        forged[0] ^= 1;
        for client in [&forged, &own] {
            let options = vec![cookie(client, b"server-8")];
            server.answer(&query, from, options).await;
        }
        own
    };
    let (record, own) = tokio::join!(ask(&client), serve);
    assert_eq!(own.len(), 8, "the forged server cookie was not kept");
    assert_eq!(record.failure, None);
    assert_eq!(record.cookie_received, Some(CookieState::Server));
}

#[tokio::test]
async fn a_response_without_cookie_counts_only_until_the_server_sent_one() {
    let (server, client) = Server::start(with_cookie(), 150).await;
    let serve = async {
        for round in 0..3 {
            let (query, from) = server.receive().await;
            let own = cookie_of(&query);
            let options = match round {
                1 => vec![cookie(&own, b"server-8")],
                _ => Vec::new(),
            };
            server.answer(&query, from, options).await;
        }
    };
    let ask_thrice = async { [ask(&client).await, ask(&client).await, ask(&client).await] };
    let (records, ()) = tokio::join!(ask_thrice, serve);
    let failures = records.each_ref().map(|record| record.failure);
    assert_eq!(failures, [None, None, Some(Failure::QueryTimeout)]);
    assert_eq!(records[0].cookie_received, Some(CookieState::None));
}

#[tokio::test]
async fn on_a_connection_a_foreign_cookie_spoils_the_response_and_a_missing_one_does_not() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let options = ClientOptions {
        edns: with_cookie(),
        ..ClientOptions::default()
    };
    let url = format!("tcp://{}", listener.local_addr().unwrap());
    let client = client(&url, &options);
    let serve = async {
        for round in 0..3 {
            let (mut stream, _) = listener.accept().await.unwrap();
            let query = read_framed(&mut stream).await;
            let mut client = cookie_of(&query);
            client[0] ^= u8::from(round == 0);
            let mut response = query.into_response();
            response.edns = (round < 2).then(Edns::new);
            if let Some(edns) = &mut response.edns {
                edns.options_mut().insert(cookie(&client, b"server-8"));
            }
            write_framed(&mut stream, &response).await;
        }
    };
    let ask_thrice = async { [ask(&client).await, ask(&client).await, ask(&client).await] };
    let (records, ()) = tokio::join!(ask_thrice, serve);
    let failures = records.each_ref().map(|record| record.failure);
    assert_eq!(failures, [Some(Failure::QueryMalformed), None, None]);
    let sent = records.each_ref().map(|record| record.cookie_sent);
    let (new, known) = (Some(CookieState::ClientOnly), Some(CookieState::Server));
    assert_eq!(sent, [new, new, known]);
    assert_eq!(records[2].cookie_received, Some(CookieState::None));
}

/// The resolver of these tests sends a query's options back.
#[tokio::test]
async fn every_transport_carries_the_options() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    for scheme in ["udp", "tcp", "tls", "https", "h3", "quic"] {
        let options = ClientOptions {
            edns: EdnsOptions {
                client_subnet: Some("2001:db8::1/56".parse().unwrap()),
                padding: Padding::Block(468.try_into().unwrap()),
                ..with_cookie()
            },
            ..ClientOptions::default()
        };
        let record = ask(&resolver.client(scheme, options)).await;
        assert_eq!(
            record.failure, None,
            "{scheme}: {:?}",
            record.failure_detail
        );
        assert_eq!(record.ecs_sent.as_deref(), Some("2001:db8::/56"));
        assert_eq!(record.ecs_scope_prefix_length, Some(0));
        assert_eq!(record.cookie_received, Some(CookieState::ClientOnly));
        let is_encrypted = !matches!(scheme, "udp" | "tcp");
        assert_eq!(record.query_bytes == 468, is_encrypted, "{scheme}");
    }
}

#[tokio::test]
async fn the_server_cookie_is_forgotten_with_the_tickets_and_kept_with_them() {
    let (server, client) = Server::start(with_cookie(), 2000).await;
    let stub = support::stub::start(client, 5000).await;
    let mut lengths = Vec::new();
    for forget_tickets in [false, true, true] {
        let serve = async {
            let (query, from) = server.receive().await;
            let sent = cookie_of(&query);
            let options = vec![cookie(&sent[..8], b"12345678")];
            server.answer(&query, from, options).await;
            sent.len()
        };
        let (_, length) = tokio::join!(stub.ask("a.test", 1), serve);
        lengths.push(length);
        stub.stub.close_connections(forget_tickets).await;
    }
    // Eight bytes are the client's own (RFC 7873 section 4).
    assert_eq!(lengths, [8, 16, 8]);
}
