//! What the resolver on loopback answers, by name. Not for: how that travels.

use super::{PAUSE, hold};
use hickory_proto::op::{Message, ResponseCode};
use hickory_proto::rr::rdata::opt::{EdnsCode, EdnsOption};
use hickory_proto::rr::rdata::{A, TXT};
use hickory_proto::rr::{RData, Record};
use std::time::Duration;

/// `silent.*` is not answered, `here.*` has the resolver's own address, `servfail.*` fails, `other.*` gets the answer to another question,
/// `large.*` has an answer too large for UDP, `keepalive.*` one with an edns-tcp-keepalive option,
/// `aged.*` one that was 7 s in an HTTP cache, `held.*` is answered when the client says so
/// ([`super::hold`]), `late.*` is answered after [`PAUSE`], and the second
/// half of the answer to `halves.*` comes that long after the first. Over QUIC the stream of
/// `unended.*` ends that long after its answer; over HTTP/3 that of `trailers.*` has
/// trailers, too, and ends that long after them.
pub fn answer(query: &[u8], is_udp: bool) -> Option<Vec<u8>> {
    let query = Message::from_vec(query).unwrap();
    let name = query.queries[0].name().clone();
    let text = name.to_ascii().to_ascii_lowercase();
    let mut answer = query.into_response();
    let mut data = vec![RData::A(A::new(192, 0, 2, 7))];
    if text.starts_with("silent.") {
        return None;
    } else if text.starts_with("here.") {
        data = vec![RData::A(A::new(127, 0, 0, 1))];
    } else if text.starts_with("servfail.") {
        answer.metadata.response_code = ResponseCode::ServFail;
        data.clear();
    } else if text.starts_with("other.") {
        answer.queries[0].set_name("another.test.".parse().unwrap());
    } else if text.starts_with("keepalive.") {
        let option = EdnsOption::Unknown(EdnsCode::Keepalive.into(), vec![0, 100]);
        let edns = answer.edns.get_or_insert_default();
        edns.options_mut().insert(option);
    } else if text.starts_with("large.") {
        answer.metadata.truncation = is_udp;
        data = (0..10)
            .map(|_| RData::TXT(TXT::new(vec!["x".repeat(200)])))
            .collect();
        data.truncate(if is_udp { 0 } else { 10 });
    }
    for data in data {
        answer.add_answer(Record::from_rdata(name.clone(), 60, data));
    }
    Some(answer.to_vec().unwrap())
}

/// Whether a message's question begins with this, in small letters.
pub fn is_named(message: &[u8], prefix: &str) -> bool {
    message
        .get(13..)
        .is_some_and(|name| name.starts_with(prefix.as_bytes()))
}

/// Waits where the name asks for it; the answer in two parts, the second of which may have to wait
/// as long.
pub async fn in_halves(mut answer: Vec<u8>) -> (Vec<u8>, Duration, Vec<u8>) {
    let (is_late, is_halved) = (is_named(&answer, "late"), is_named(&answer, "halves"));
    if is_late {
        tokio::time::sleep(PAUSE).await;
    }
    hold::until_wanted(&answer).await;
    let second = answer.split_off(answer.len() / 2);
    (
        answer,
        if is_halved { PAUSE } else { Duration::ZERO },
        second,
    )
}
