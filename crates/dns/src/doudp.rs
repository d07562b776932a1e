//! DNS over UDP (RFC 1035, RFC 6891): a new connected socket for each query, an explicit retry
//! policy, and TCP when the response is truncated (RFC 7766 section 5).

use crate::cookie::{SentCookie, cookie_of};
use crate::dotcp;
use crate::edns::UDP_PAYLOAD_RANGE_BYTES;
use crate::exchange::ExchangeLog;
use crate::message::check_echo;
use hickory_proto::op::Message;
use resolab_record::Failure;
use resolab_transport::client::{MeasuredFailure, SetupLog};
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::UdpSocket;

/// TC in the third byte of a message.
const TRUNCATION_BIT: u8 = 0x02;
/// The largest payload size our queries may announce.
const DATAGRAM_MAX_BYTES: usize = *UDP_PAYLOAD_RANGE_BYTES.end() as usize;

/// What is done when no response comes. The default is that of a system resolver: 5 s, two tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UdpRetryPolicy {
    /// How long each try waits.
    pub timeout: Duration,
    /// Times the query is sent at most.
    pub try_count: u32,
}

impl Default for UdpRetryPolicy {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(5),
            try_count: 2,
        }
    }
}

/// Ask by UDP, and by TCP if the answer does not fit; the set-up log then has a TCP connect.
pub async fn exchange(
    resolver: SocketAddr,
    policy: UdpRetryPolicy,
    query: &[u8],
    setup: &Arc<SetupLog>,
    log: &ExchangeLog,
) -> Result<Vec<u8>, MeasuredFailure> {
    let answer = ask(resolver, policy, query, log).await?;
    let is_truncated = answer
        .get(2)
        .is_some_and(|flags| flags & TRUNCATION_BIT != 0);
    if !is_truncated {
        log.query_exchange.finish();
        return Ok(answer);
    }
    ask_by_tcp(resolver, query, setup, log)
        .await
        .map_err(|failure| {
            MeasuredFailure::new(
                Failure::QueryTruncated,
                format_args!("then over TCP: {failure}"),
            )
        })
}

async fn ask_by_tcp(
    resolver: SocketAddr,
    query: &[u8],
    setup: &Arc<SetupLog>,
    log: &ExchangeLog,
) -> Result<Vec<u8>, MeasuredFailure> {
    let connection = dotcp::open(resolver, setup).await?;
    connection.exchange(query, log).await
}

async fn ask(
    resolver: SocketAddr,
    policy: UdpRetryPolicy,
    query: &[u8],
    log: &ExchangeLog,
) -> Result<Vec<u8>, MeasuredFailure> {
    let socket = connected_socket(resolver)
        .await
        .map_err(|error| MeasuredFailure::new(Failure::Other, error))?;
    for _ in 0..policy.try_count {
        log.attempt(query);
        let answer = async {
            socket.send(query).await?;
            receive_answer(&socket, query, log.sent_cookie()).await
        };
        // The same socket and id for every try: a late answer to the first one counts.
        if let Ok(answer) = tokio::time::timeout(policy.timeout, answer).await {
            return answer.map_err(|error| failure_of(&error));
        }
    }
    let (tries, timeout) = (policy.try_count, policy.timeout);
    let detail = format!("no response to {tries} queries in {timeout:?} each");
    Err(MeasuredFailure::new(Failure::QueryTimeout, detail))
}

/// Connected, so that the kernel drops datagrams from elsewhere and reports a closed port.
async fn connected_socket(resolver: SocketAddr) -> io::Result<UdpSocket> {
    let local = match resolver {
        SocketAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
        SocketAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
    };
    let socket = UdpSocket::bind(local).await?;
    socket.connect(resolver).await?;
    Ok(socket)
}

/// Wait for the answer; what does not answer the query is passed over (RFC 5452 section 9.1), and
/// so is what has not its cookie (RFC 7873 section 5.3).
async fn receive_answer(
    socket: &UdpSocket,
    query: &[u8],
    cookie: Option<&SentCookie>,
) -> io::Result<Vec<u8>> {
    let mut datagram = vec![0; DATAGRAM_MAX_BYTES];
    loop {
        let length = socket.recv(&mut datagram).await?;
        let response = &datagram[..length];
        let has_cookie = || cookie.is_none_or(|cookie| is_for(cookie, response));
        if check_echo(query, response).is_ok() && has_cookie() {
            datagram.truncate(length);
            return Ok(datagram);
        }
    }
}

fn is_for(cookie: &SentCookie, response: &[u8]) -> bool {
    let message = Message::from_vec(response).ok();
    let received = message.as_ref().and_then(cookie_of);
    cookie.check_unconnected(received).is_ok()
}

fn failure_of(error: &io::Error) -> MeasuredFailure {
    let failure = match error.kind() {
        io::ErrorKind::ConnectionRefused => Failure::QueryRefused,
        _ => Failure::Other,
    };
    MeasuredFailure::new(failure, error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edns::QueryEdns;
    use crate::message::build_query;
    use crate::question::Question;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    fn query() -> Vec<u8> {
        let question = Question::parse("a.test", "A").unwrap();
        build_query(&question, 4711, &QueryEdns::default()).unwrap()
    }

    fn answer_to(query: &[u8]) -> Vec<u8> {
        let mut answer = query.to_vec();
        answer[2] |= 0x80;
        answer
    }

    fn policy(timeout_ms: u64, try_count: u32) -> UdpRetryPolicy {
        UdpRetryPolicy {
            timeout: Duration::from_millis(timeout_ms),
            try_count,
        }
    }

    async fn server() -> (UdpSocket, SocketAddr) {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let address = socket.local_addr().unwrap();
        (socket, address)
    }

    async fn receive(server: &UdpSocket) -> (Vec<u8>, SocketAddr) {
        let mut buffer = vec![0; 2048];
        let (length, from) = server.recv_from(&mut buffer).await.unwrap();
        buffer.truncate(length);
        (buffer, from)
    }

    #[tokio::test]
    async fn passes_over_what_is_no_answer() {
        let (server, address) = server().await;
        let (query, log, setup) = (query(), ExchangeLog::default(), Arc::default());
        let serve = async {
            let (query, from) = receive(&server).await;
            let mut wrong_id = answer_to(&query);
            wrong_id[0] ^= 1;
            for datagram in [&wrong_id, &query, &answer_to(&query)] {
                server.send_to(datagram, from).await.unwrap();
            }
        };
        let (answer, ()) = tokio::join!(
            exchange(address, policy(2000, 1), &query, &setup, &log),
            serve
        );
        assert_eq!(answer.unwrap(), answer_to(&query));
        assert_eq!(log.attempt_count(), 1);
        assert!(log.query_exchange.end_ns() > log.query_exchange.start_ns());
        assert_eq!(setup.tcp_connect.start_ns(), None);
    }

    #[tokio::test]
    async fn asks_again_from_the_same_port_with_the_same_id() {
        let (server, address) = server().await;
        let (query, log) = (query(), ExchangeLog::default());
        let serve = async {
            let first = receive(&server).await;
            assert_eq!(receive(&server).await, first);
            server.send_to(&answer_to(&first.0), first.1).await.unwrap();
        };
        let setup = Arc::default();
        let (answer, ()) = tokio::join!(
            exchange(address, policy(50, 2), &query, &setup, &log),
            serve
        );
        answer.unwrap();
        assert_eq!(log.attempt_count(), 2);
    }

    #[tokio::test]
    async fn silence_is_a_timeout_and_a_closed_port_a_refusal() {
        let (server, address) = server().await;
        let (query, log, setup) = (query(), ExchangeLog::default(), Arc::default());
        let failure = exchange(address, policy(20, 3), &query, &setup, &log)
            .await
            .unwrap_err();
        assert_eq!(failure.failure, Failure::QueryTimeout);
        assert_eq!(log.attempt_count(), 3);
        assert_eq!(log.query_exchange.end_ns(), None);
        drop(server);
        let failure = exchange(address, policy(2000, 1), &query, &setup, &log)
            .await
            .unwrap_err();
        assert_eq!(failure.failure, Failure::QueryRefused);
    }

    #[tokio::test]
    async fn a_truncated_answer_is_had_by_tcp() {
        let (server, address) = server().await;
        let listener = TcpListener::bind(address).await.unwrap();
        let (query, log, setup) = (query(), ExchangeLog::default(), Arc::default());
        let serve = async {
            let (query, from) = receive(&server).await;
            let mut truncated = answer_to(&query);
            truncated[2] |= TRUNCATION_BIT;
            server.send_to(&truncated, from).await.unwrap();
            let (mut stream, _) = listener.accept().await.unwrap();
            let length = stream.read_u16().await.unwrap();
            let mut query = vec![0; usize::from(length)];
            stream.read_exact(&mut query).await.unwrap();
            stream.write_u16(length).await.unwrap();
            stream.write_all(&answer_to(&query)).await.unwrap();
        };
        let (answer, ()) = tokio::join!(
            exchange(address, policy(2000, 1), &query, &setup, &log),
            serve
        );
        assert_eq!(answer.unwrap(), answer_to(&query));
        assert_eq!(log.attempt_count(), 2);
        assert!(setup.tcp_connect.end_ns().is_some());
    }
}
