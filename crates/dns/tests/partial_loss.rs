//! Loss costs the first message of a load what it costs its queries one by one: the waits of the
//! retry policy, and none of ours. Both arms lose the same: whether the datagrams of a pair arrive
//! is drawn once.
#![allow(clippy::unwrap_used)]

use hickory_proto::op::Message;
use hickory_proto::rr::{RData, Record};
use resolab_dns::partial::{LengthLimits, MultiQuestionMessage};
use resolab_dns::{
    ClientOptions, ConnectionPolicy, DnsClient, ForgetScope, MessagePosition, Question,
    UdpRetryPolicy, Upstream,
};
use resolab_record::{Bootstrap, QueryRecord};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;
use tokio::net::UdpSocket;

const PAIRS_COUNT: usize = 400;
/// Each way.
const LOSS_RATIO: f64 = 0.015;
const TIMEOUT: Duration = Duration::from_millis(400);
const MARGIN_MS: f64 = 5.0;
const ROOM: LengthLimits = LengthLimits {
    limit_bytes: 1_232,
    padding_block_bytes: 0,
};

/// Numbers that look drawn, the same in every run (xorshift64*).
struct Draws(u64);

impl Draws {
    fn is_lost(&mut self) -> bool {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let bits = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11;
        (bits as f64) < LOSS_RATIO * (1_u64 << 53) as f64
    }

    /// Tries of a pair before one and its answer arrive.
    fn lost_tries(&mut self) -> usize {
        std::iter::from_fn(|| (self.is_lost() | self.is_lost()).then_some(())).count()
    }
}

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

/// Datagrams that are not to arrive yet.
type Lost = Arc<Mutex<usize>>;

async fn serve(socket: UdpSocket, lost: Lost) {
    let mut buffer = [0; 4_096];
    loop {
        let (length, from) = socket.recv_from(&mut buffer).await.unwrap();
        let query = &buffer[..length];
        {
            let mut lost = lost.lock().unwrap();
            if *lost > 0 {
                *lost -= 1;
                continue;
            }
        }
        let response = match MultiQuestionMessage::read(query) {
            None => respond(query),
            Some(several) => {
                let responses: Vec<_> = several.singles().map(|query| respond(&query)).collect();
                let responses: Vec<_> = responses.iter().map(Vec::as_slice).collect();
                several.combine(&responses, true, ROOM).remove(0).message
            }
        };
        socket.send_to(&response, from).await.unwrap();
    }
}

fn time_ms(records: &[QueryRecord]) -> f64 {
    let times = records
        .iter()
        .map(|record| record.query_response_time_ns.unwrap());
    times.max().unwrap() as f64 / 1e6
}

#[tokio::test]
async fn lost_messages_wait_as_long_as_lost_queries() {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let at = socket.local_addr().unwrap();
    let lost = Lost::default();
    tokio::spawn(serve(socket, Arc::clone(&lost)));
    let options = ClientOptions {
        udp_retry_policy: UdpRetryPolicy::Custom {
            timeout: TIMEOUT,
            try_count: 20,
        },
        ..ClientOptions::default()
    };
    let resolver = format!("udp://{at}").parse().unwrap();
    let client = DnsClient::new(resolver, (at, Bootstrap::Given), &options).unwrap();
    let upstream = Upstream::new(client, ConnectionPolicy::default());
    let questions = ["a.test", "b.test"].map(|name| Question::parse(name, "A").unwrap());
    let mut draws = Draws(0x1234_5678_9abc_def1);
    let (mut differences_ms, mut waits) = (Vec::new(), 0);
    for pair in 0..PAIRS_COUNT {
        let lost_tries = draws.lost_tries();
        waits += lost_tries;
        let mut arms = Vec::new();
        for one_by_one in [false, true] {
            // Of a message one datagram a try, of two queries two.
            *lost.lock().unwrap() = lost_tries * if one_by_one { 2 } else { 1 };
            upstream.close(ForgetScope::All).await;
            let position = MessagePosition {
                first_sequence: 0,
                message_sequence: pair as u64,
                one_by_one,
            };
            let deadline = Duration::from_secs(30);
            let records = upstream.ask_several(&questions, position, deadline).await;
            for record in &records {
                assert_eq!(record.failure, None, "{:?}", record.failure_detail);
                assert_eq!(record.message_facts.asked_alone, Some(one_by_one), "{pair}");
                assert_eq!(record.attempt_count as usize, 1 + lost_tries, "{pair}");
            }
            arms.push(time_ms(&records));
        }
        differences_ms.push(arms[0] - arms[1]);
    }
    // 1 - (1 - 0.015)^2 = 0.030 of the tries.
    assert!((4..=30).contains(&waits), "{waits}");
    differences_ms.sort_by(f64::total_cmp);
    let middle = &differences_ms[PAIRS_COUNT / 4..PAIRS_COUNT * 3 / 4];
    let mean_ms = middle.iter().sum::<f64>() / middle.len() as f64;
    assert!(mean_ms.abs() < MARGIN_MS, "{mean_ms}");
}
