//! DNS over UDP (RFC 1035, RFC 6891). Each query uses a new connected socket; a policy decides
//! about repeated queries. TCP follows when the response is truncated (RFC 7766 section 5) or
//! longer than announced.

mod receiver;

use crate::exchange::ExchangeLog;
use crate::message::id_of;
use crate::transports::batch::QueryBatch;
use crate::transports::dotcp;
use crate::transports::retry::{ResolverRetries, ResponseWait};
use receiver::{ReceivedDatagram, ResponseReceiver};
use resolab_record::Failure;
use resolab_transport::client::{MeasuredFailure, SetupLog, is_unreachable};
use resolab_transport::clock::monotonic_ns;
use resolab_transport::stamped_udp::StampedUdpSocket;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// The TC bit in the third byte of a message.
const TRUNCATION_BIT: u8 = 0x02;
/// Asks by UDP, then by TCP when the answer does not fit. The set-up log then has a TCP connect.
pub(crate) async fn exchange(
    resolver: SocketAddr,
    retries: &ResolverRetries,
    query: &[u8],
    setup: &Arc<SetupLog>,
    log: &ExchangeLog,
) -> Result<Vec<u8>, MeasuredFailure> {
    if log.is_switched_to_tcp() {
        return ask_by_tcp(resolver, query, setup, log).await;
    }
    let answer = ask(resolver, retries, query, log).await?;
    let is_truncated = answer
        .message
        .get(2)
        .is_some_and(|flags| flags & TRUNCATION_BIT != 0);
    let reason = match (answer.is_cut, is_truncated) {
        (false, false) => {
            log.query_exchange.finish();
            return Ok(answer.message);
        }
        (true, _) => "the response by UDP was longer than announced (RFC 6891 section 6.2.3), ",
        (false, true) => "",
    };
    let asked = ask_by_tcp(resolver, query, setup, log).await;
    asked.map_err(|failure| {
        let detail = format_args!("{reason}then over TCP: {failure}");
        MeasuredFailure::new(Failure::QueryTruncated, detail)
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
    retries: &ResolverRetries,
    query: &[u8],
    log: &ExchangeLog,
) -> Result<ReceivedDatagram, MeasuredFailure> {
    let mut tries = retries.begin();
    let mut receiver = None;
    let socket = StampedUdpSocket::connect(resolver).map_err(|error| failure_of(&error))?;
    let socket = Arc::new(socket);
    while let Some(wait) = tries.next() {
        log.attempt(query);
        let sent_ns = monotonic_ns();
        // The same socket and id for every try: a late answer to the first one counts.
        socket.send(query).map_err(|error| failure_of(&error))?;
        let receiver = match &receiver {
            Some(receiver) => receiver,
            // Only now, so that the query need not wait for it.
            None => receiver.insert(prepare(&socket, log).map_err(|error| failure_of(&error))?),
        };
        if let Some(answer) = wait_within(wait, receiver.receive_answer(query, log)).await {
            let round_trip = Duration::from_nanos(monotonic_ns() - sent_ns);
            tries.note_answer(round_trip);
            return answer.map_err(|error| failure_of(&error));
        }
    }
    let detail = format!("no response to {} queries", log.attempt_count());
    Err(MeasuredFailure::new(Failure::QueryTimeout, detail))
}

/// Asks several questions in one message, and takes responses until all questions are answered.
/// After each attempt, asks the missing questions again in a message with the same id.
pub(crate) async fn gather(
    resolver: SocketAddr,
    retries: &ResolverRetries,
    message: impl Fn() -> Result<Vec<u8>, MeasuredFailure>,
    batch: &QueryBatch,
) -> Result<(), MeasuredFailure> {
    let mut tries = retries.begin();
    let socket = StampedUdpSocket::connect(resolver).map_err(|error| failure_of(&error))?;
    let receiver = ResponseReceiver::new(Arc::new(socket)).map_err(|error| failure_of(&error))?;
    while let Some(wait) = tries.next() {
        let query = message()?;
        batch.attempt(&query);
        let sent_ns = monotonic_ns();
        receiver
            .socket()
            .send(&query)
            .map_err(|error| failure_of(&error))?;
        let answered = || tries.note_answer(Duration::from_nanos(monotonic_ns() - sent_ns));
        let gathered = receiver.gather(id_of(&query), batch, answered);
        if let Some(gathered) = wait_within(wait, gathered).await {
            return gathered;
        }
    }
    let detail = "not every question was answered";
    Err(MeasuredFailure::new(Failure::QueryTimeout, detail))
}

fn prepare(socket: &Arc<StampedUdpSocket>, log: &ExchangeLog) -> io::Result<ResponseReceiver> {
    log.kernel_stamps.begin(Arc::clone(socket));
    ResponseReceiver::new(Arc::clone(socket))
}

async fn wait_within<T>(wait: ResponseWait, answer: impl Future<Output = T>) -> Option<T> {
    match wait {
        ResponseWait::For(time) => tokio::time::timeout(time, answer).await.ok(),
        ResponseWait::UntilDeadline => Some(answer.await),
    }
}

fn failure_of(error: &io::Error) -> MeasuredFailure {
    let failure = if error.kind() == io::ErrorKind::ConnectionRefused {
        Failure::QueryRefused
    } else if is_unreachable(error) {
        Failure::QueryUnreachable
    } else {
        Failure::Other
    };
    MeasuredFailure::new(failure, error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edns::QueryEdns;
    use crate::message::build_query;
    use crate::question::Question;
    use crate::transports::retry::UdpRetryPolicy;
    use resolab_transport::stamped_udp::keep_stamping;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, UdpSocket};

    fn query() -> Vec<u8> {
        let question = Question::parse("a.test", "A").unwrap();
        build_query(&question, 4711, &QueryEdns::default()).unwrap()
    }

    fn answer_to(query: &[u8]) -> Vec<u8> {
        let mut answer = query.to_vec();
        answer[2] |= 0x80;
        answer
    }

    fn tries(timeout_ms: u64, try_count: u32) -> ResolverRetries {
        ResolverRetries::new(UdpRetryPolicy::Custom {
            timeout: Duration::from_millis(timeout_ms),
            try_count,
        })
    }

    async fn server() -> (UdpSocket, SocketAddr) {
        keep_stamping();
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
        let tries = tries(2000, 1);
        let (query, log, setup) = (query(), ExchangeLog::default(), Arc::default());
        let serve = async {
            let (query, from) = receive(&server).await;
            let mut wrong_id = answer_to(&query);
            wrong_id[0] ^= 1;
            for datagram in [&wrong_id, &query, &answer_to(&query)] {
                server.send_to(datagram, from).await.unwrap();
            }
        };
        let (answer, ()) = tokio::join!(exchange(address, &tries, &query, &setup, &log), serve);
        assert_eq!(answer.unwrap(), answer_to(&query));
        assert_eq!(log.attempt_count(), 1);
        assert!(log.query_exchange.end_ns() > log.query_exchange.start_ns());
        assert_eq!(setup.tcp_connect.start_ns(), None);
    }

    #[tokio::test]
    async fn asks_again_from_the_same_port_with_the_same_id() {
        let (server, address) = server().await;
        let (tries, begun_ns) = (tries(50, 2), monotonic_ns());
        let (query, log) = (query(), ExchangeLog::default());
        let serve = async {
            let first = receive(&server).await;
            assert_eq!(receive(&server).await, first);
            server.send_to(&answer_to(&first.0), first.1).await.unwrap();
        };
        let setup = Arc::default();
        let (answer, ()) = tokio::join!(exchange(address, &tries, &query, &setup, &log), serve);
        answer.unwrap();
        assert_eq!(log.attempt_count(), 2);
        let stamped = log.kernel_stamps.read(begun_ns);
        // The second try's: the first one was at least 50 ms before it.
        let transmit_ns = stamped.transmit_ns.unwrap();
        assert!(transmit_ns > begun_ns + 50_000_000);
        assert!(stamped.receive_ns.unwrap() > transmit_ns);
    }

    #[tokio::test]
    async fn silence_is_a_timeout_and_a_closed_port_a_refusal() {
        let (server, address) = server().await;
        let (query, log, setup) = (query(), ExchangeLog::default(), Arc::default());
        let failure = exchange(address, &tries(20, 3), &query, &setup, &log)
            .await
            .unwrap_err();
        assert_eq!(failure.failure, Failure::QueryTimeout);
        assert_eq!(log.attempt_count(), 3);
        assert_eq!(log.query_exchange.end_ns(), None);
        let stamped = log.kernel_stamps.read(0);
        assert!(stamped.transmit_ns.is_some() && stamped.receive_ns.is_none());
        drop(server);
        let failure = exchange(address, &tries(2000, 1), &query, &setup, &log)
            .await
            .unwrap_err();
        assert_eq!(failure.failure, Failure::QueryRefused);
    }

    /// Answers by UDP as told, and then whole by TCP.
    async fn is_had_by_tcp(by_udp: impl Fn(&[u8]) -> Vec<u8>) {
        let (server, address) = server().await;
        let listener = TcpListener::bind(address).await.unwrap();
        let tries = tries(2000, 1);
        let (query, log, setup) = (query(), ExchangeLog::default(), Arc::default());
        let serve = async {
            let (query, from) = receive(&server).await;
            server.send_to(&by_udp(&query), from).await.unwrap();
            let (mut stream, _) = listener.accept().await.unwrap();
            let length = stream.read_u16().await.unwrap();
            let mut query = vec![0; usize::from(length)];
            stream.read_exact(&mut query).await.unwrap();
            stream.write_u16(length).await.unwrap();
            stream.write_all(&answer_to(&query)).await.unwrap();
        };
        let (answer, ()) = tokio::join!(exchange(address, &tries, &query, &setup, &log), serve);
        assert_eq!(answer.unwrap(), answer_to(&query));
        assert_eq!(log.attempt_count(), 2);
        assert!(setup.tcp_connect.end_ns().is_some());
    }

    #[tokio::test]
    async fn a_truncated_answer_is_had_by_tcp() {
        is_had_by_tcp(|query| {
            let mut truncated = answer_to(query);
            truncated[2] |= TRUNCATION_BIT;
            truncated
        })
        .await;
    }

    #[tokio::test]
    async fn an_answer_longer_than_any_announced_is_had_by_tcp() {
        is_had_by_tcp(|query| {
            let mut long = answer_to(query);
            long.resize(9_900, 0);
            long
        })
        .await;
    }

    #[tokio::test]
    async fn what_cannot_be_sent_to_has_a_class_of_its_own() {
        keep_stamping();
        // A scope of IPv6 that no machine has (RFC 4007 section 6).
        let nowhere = "[fe80::1%4294967295]:53".parse().unwrap();
        let (query, log, setup) = (query(), ExchangeLog::default(), Arc::default());
        let asked = exchange(nowhere, &tries(2000, 1), &query, &setup, &log).await;
        let failure = asked.unwrap_err();
        assert_eq!(failure.failure, Failure::QueryUnreachable, "{failure}");
    }
}
