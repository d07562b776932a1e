//! Partial responses: what is lost is asked again, and nothing else; and who does not know them is
//! told apart from who is slow, was not reached, or restarts.
#![allow(clippy::unwrap_used)]

use hickory_proto::op::Message;
use hickory_proto::rr::{RData, Record};
use resolab_dns::partial::{LengthLimits, MultiQuestionMessage};
use resolab_dns::{
    ClientOptions, ConnectionPolicy, DnsClient, MessagePosition, Question, UdpRetryPolicy, Upstream,
};
use resolab_record::{Bootstrap, Failure, QueryRecord};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};

const ROOM: LengthLimits = LengthLimits {
    limit_bytes: 1_232,
    padding_block_bytes: 0,
};

const FIRST: MessagePosition = MessagePosition {
    first_sequence: 0,
    message_sequence: 0,
    one_by_one: false,
};

fn respond(single: &[u8]) -> Vec<u8> {
    let query = Message::from_vec(single).unwrap();
    let mut response = Message::response(query.metadata.id, query.metadata.op_code);
    let name = query.queries[0].name().clone();
    let data = RData::A(Ipv4Addr::new(192, 0, 2, 7).into());
    response.answers.push(Record::from_rdata(name, 60, data));
    response.queries = query.queries;
    response.edns = query.edns;
    response.to_vec().unwrap()
}

/// Messages received, and for each those of its questions that are answered: each in a message of
/// its own.
async fn serve(socket: &UdpSocket, answered: &[&[usize]]) -> Vec<usize> {
    let mut counts = Vec::new();
    for answered in answered {
        let mut query = vec![0; 4_096];
        let (length, from) = socket.recv_from(&mut query).await.unwrap();
        let Some(several) = MultiQuestionMessage::read(&query[..length]) else {
            // One that is left is a query like any other.
            counts.push(1);
            let response = respond(&query[..length]);
            socket.send_to(&response, from).await.unwrap();
            continue;
        };
        let responses: Vec<_> = several.singles().map(|single| respond(&single)).collect();
        counts.push(responses.len());
        for place in *answered {
            for message in several.combine(&[&responses[*place]], false, ROOM) {
                socket.send_to(&message.message, from).await.unwrap();
            }
        }
    }
    counts
}

fn upstream(at: SocketAddr, retries: UdpRetryPolicy) -> Upstream {
    let options = ClientOptions {
        udp_retry_policy: retries,
        ..ClientOptions::default()
    };
    let resolver = format!("udp://{at}").parse().unwrap();
    let client = DnsClient::new(resolver, (at, Bootstrap::Given), &options).unwrap();
    Upstream::new(client, ConnectionPolicy::default())
}

async fn ask(at: SocketAddr, count: usize, retries: UdpRetryPolicy) -> Vec<QueryRecord> {
    let deadline = Duration::from_secs(10);
    ask_by(&upstream(at, retries), count, deadline).await
}

async fn ask_by(upstream: &Upstream, count: usize, deadline: Duration) -> Vec<QueryRecord> {
    upstream
        .ask_several(&questions(count), FIRST, deadline)
        .await
}

fn questions(count: usize) -> Vec<Question> {
    (0..count)
        .map(|number| Question::parse(&format!("q{number}.test"), "A").unwrap())
        .collect()
}

#[tokio::test]
async fn what_is_missing_after_a_try_is_asked_again_and_nothing_else() {
    let server = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let at = server.local_addr().unwrap();
    let retries = UdpRetryPolicy::Custom {
        timeout: Duration::from_millis(200),
        try_count: 3,
    };
    // Of four, the second and the last are lost at first, and of those two the first again.
    let serving = serve(&server, &[&[2, 0], &[1], &[0]]);
    let (records, counts) = tokio::join!(ask(at, 4, retries), serving);
    assert_eq!(counts, [4, 2, 1]);
    let attempts: Vec<_> = records.iter().map(|record| record.attempt_count).collect();
    assert_eq!(attempts, [1, 3, 1, 2]);
    for record in &records {
        assert_eq!(record.failure, None, "{:?}", record.failure_detail);
        assert_eq!(record.addresses.len(), 1);
    }
    let indexes: Vec<_> = records
        .iter()
        .map(|record| record.message_facts.partial_response_index)
        .collect();
    assert_eq!(indexes, [Some(1), Some(3), Some(0), Some(2)]);
}

#[tokio::test]
async fn a_resolver_that_says_nothing_to_several_questions_is_asked_one_by_one() {
    let server = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let at = server.local_addr().unwrap();
    let serving = async {
        for number in 0..4 {
            let mut query = vec![0; 4_096];
            let (length, from) = server.recv_from(&mut query).await.unwrap();
            assert_eq!(
                MultiQuestionMessage::read(&query[..length]).is_some(),
                number < 2
            );
            if number >= 2 {
                let response = respond(&query[..length]);
                server.send_to(&response, from).await.unwrap();
            }
        }
    };
    let retries = UdpRetryPolicy::Custom {
        timeout: Duration::from_millis(200),
        try_count: 2,
    };
    let (records, ()) = tokio::join!(ask(at, 2, retries), serving);
    for record in records {
        assert_eq!(record.failure, None, "{:?}", record.failure_detail);
        assert_eq!(record.message_facts.asked_alone, Some(true));
        assert_eq!(record.attempt_count, 3);
        assert!(record.query_response_time_ns.unwrap() >= 400_000_000);
    }
}

/// Of the first message, or of the two queries of their own, nothing arrives.
#[tokio::test]
async fn a_lost_message_waits_for_the_retry_as_a_lost_query_does_and_teaches_nothing() {
    const TIMEOUT: Duration = Duration::from_millis(300);
    let retries = UdpRetryPolicy::Custom {
        timeout: TIMEOUT,
        try_count: 3,
    };
    for one_by_one in [false, true] {
        let server = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let upstream = upstream(server.local_addr().unwrap(), retries);
        let answered: &[&[usize]] = if one_by_one {
            &[&[], &[]]
        } else {
            &[&[], &[0, 1], &[0, 1]]
        };
        let serving = async {
            if one_by_one {
                lose(&server, answered.len()).await;
                serve(&server, &[&[] as &[usize]; 4]).await
            } else {
                serve(&server, answered).await
            }
        };
        let asking = async {
            let position = MessagePosition {
                one_by_one,
                ..FIRST
            };
            let questions = questions(2);
            let deadline = Duration::from_secs(10);
            let first = upstream.ask_several(&questions, position, deadline).await;
            let next = upstream.ask_several(&questions, position, deadline).await;
            (first, next)
        };
        let ((first, next), _) = tokio::join!(asking, serving);
        for (records, attempts) in [(first, 2), (next, 1)] {
            for record in records {
                assert_eq!(record.failure, None, "{:?}", record.failure_detail);
                assert_eq!(record.attempt_count, attempts, "{one_by_one}");
                assert_eq!(record.message_facts.asked_alone, Some(one_by_one));
                let time_ns = u128::from(record.query_response_time_ns.unwrap());
                assert_eq!(time_ns >= TIMEOUT.as_nanos(), attempts == 2, "{time_ns}");
            }
        }
    }
}

async fn lose(socket: &UdpSocket, count: usize) {
    for _ in 0..count {
        socket.recv_from(&mut [0; 4_096]).await.unwrap();
    }
}

/// How a resolver over TCP treats a message of several questions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Handling {
    Drops,
    AnswersLate,
    RestartsOnce,
    CutsTheFirst,
}

const LATE: Duration = Duration::from_millis(2_500);

/// Messages of several questions, queries alone, and connections.
#[derive(Default)]
struct Seen([AtomicUsize; 3]);

impl Seen {
    fn add(&self, what: usize) -> usize {
        self.0[what].fetch_add(1, Ordering::SeqCst)
    }

    fn counts(&self) -> [usize; 3] {
        [0, 1, 2].map(|what| self.0[what].load(Ordering::SeqCst))
    }
}

/// Over TCP; queries alone are answered but where messages are answered late.
async fn tcp_upstream(handling: Handling) -> (Upstream, Arc<Seen>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let seen = Arc::<Seen>::default();
    let counted = Arc::clone(&seen);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            counted.add(2);
            tokio::spawn(serve_tcp(handling, stream, Arc::clone(&counted)));
        }
    });
    let resolver = format!("tcp://{at}").parse().unwrap();
    let options = ClientOptions::default();
    let client = DnsClient::new(resolver, (at, Bootstrap::Given), &options).unwrap();
    (Upstream::new(client, ConnectionPolicy::default()), seen)
}

async fn serve_tcp(handling: Handling, mut stream: TcpStream, seen: Arc<Seen>) {
    while let Ok(length) = stream.read_u16().await {
        let mut query = vec![0; usize::from(length)];
        stream.read_exact(&mut query).await.unwrap();
        let answer = if let Some(several) = MultiQuestionMessage::read(&query) {
            let is_first = seen.add(0) == 0;
            match handling {
                Handling::Drops => continue,
                Handling::RestartsOnce if is_first => return,
                Handling::RestartsOnce | Handling::CutsTheFirst => (),
                Handling::AnswersLate => tokio::time::sleep(LATE).await,
            }
            let mut responses: Vec<_> = several.singles().map(|single| respond(&single)).collect();
            if handling == Handling::CutsTheFirst {
                // TC.
                responses[0][2] |= 0x02;
            }
            let responses: Vec<_> = responses.iter().map(Vec::as_slice).collect();
            several.combine(&responses, true, ROOM).remove(0).message
        } else {
            seen.add(1);
            if handling == Handling::AnswersLate {
                continue;
            }
            respond(&query)
        };
        stream.write_u16(answer.len() as u16).await.unwrap();
        stream.write_all(&answer).await.unwrap();
    }
}

#[tokio::test]
async fn a_resolver_that_passes_a_message_over_on_a_connection_is_asked_one_by_one_from_then_on() {
    let (upstream, seen) = tcp_upstream(Handling::Drops).await;
    for _ in 0..2 {
        for record in ask_by(&upstream, 2, Duration::from_secs(10)).await {
            assert_eq!(record.failure, None, "{:?}", record.failure_detail);
            assert_eq!(record.message_facts.asked_alone, Some(true));
        }
    }
    assert_eq!(seen.counts(), [1, 4, 1]);
}

#[tokio::test]
async fn a_message_that_is_answered_late_on_a_connection_is_answered() {
    let (upstream, seen) = tcp_upstream(Handling::AnswersLate).await;
    for record in ask_by(&upstream, 2, Duration::from_secs(10)).await {
        assert_eq!(record.failure, None, "{:?}", record.failure_detail);
        assert_eq!(record.message_facts.asked_alone, Some(false));
        assert_eq!(record.message_facts.partial_response_index, Some(0));
    }
    assert_eq!(seen.counts()[0], 1);
}

#[tokio::test]
async fn a_resolver_that_restarts_in_the_first_message_does_not_refuse_it() {
    let (upstream, seen) = tcp_upstream(Handling::RestartsOnce).await;
    for record in ask_by(&upstream, 2, Duration::from_secs(10)).await {
        assert_eq!(record.failure, None, "{:?}", record.failure_detail);
        assert_eq!(record.message_facts.asked_alone, Some(false));
        assert_eq!(record.connection_facts.repeat_count, Some(1));
    }
    assert_eq!(seen.counts(), [2, 0, 2]);
}

#[tokio::test]
async fn a_resolver_that_gave_partial_responses_is_silent_and_does_not_refuse() {
    let server = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let upstream = upstream(server.local_addr().unwrap(), UdpRetryPolicy::None);
    let serving = serve(&server, &[&[0, 1], &[], &[1, 0]]);
    let asking = async {
        let mut failures = Vec::new();
        for deadline_ms in [5_000, 200, 5_000] {
            let deadline = Duration::from_millis(deadline_ms);
            for record in ask_by(&upstream, 2, deadline).await {
                assert_eq!(record.message_facts.asked_alone, Some(false));
                failures.push(record.failure);
            }
        }
        failures
    };
    let (failures, counts) = tokio::join!(asking, serving);
    let silent = Some(Failure::QueryTimeout);
    assert_eq!(failures, [None, None, silent, silent, None, None]);
    assert_eq!(counts, [2, 2, 2]);
}

#[tokio::test]
async fn what_is_truncated_on_a_connection_is_asked_for_alone() {
    let (upstream, seen) = tcp_upstream(Handling::CutsTheFirst).await;
    let records = ask_by(&upstream, 2, Duration::from_secs(10)).await;
    for record in &records {
        assert_eq!(record.failure, None, "{:?}", record.failure_detail);
        assert_eq!(record.addresses.len(), 1);
    }
    let alone: Vec<_> = records
        .iter()
        .map(|record| record.message_facts.asked_alone.unwrap())
        .collect();
    assert_eq!(alone, [true, false]);
    assert_eq!(seen.counts(), [1, 1, 1]);
}
