//! What a kept answer is made of again, and how it ages and goes.

use super::*;
use crate::dns::wire::Query;
use crate::dns::wire::Rcode;

const NAME: &[u8] = b"\x01a\x04test\x00";

fn query(id: u8, name: &[u8]) -> Vec<u8> {
    let mut message = vec![0, id, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    message.extend_from_slice(name);
    message.extend_from_slice(&[0, 1, 0, 1]);
    message
}

fn request(message: &[u8]) -> AnswerRequest<'_> {
    AnswerRequest {
        message,
        query: Query::parse(message).unwrap(),
        limits: TransportLimits::Datagram,
        padding_block_bytes: 468,
        server_cookie: [7; 8],
        client_subnet_scope: None,
    }
}

/// An answer with two records, TTL 300 and 5.
fn response(message: &[u8]) -> (Vec<u8>, ResponseFacts) {
    let mut response = message.to_vec();
    response[2] |= 0x80;
    response[7] = 2;
    for ttl_s in [300_u32, 5] {
        response.extend_from_slice(b"\xc0\x0c\x00\x01\x00\x01");
        response.extend_from_slice(&ttl_s.to_be_bytes());
        response.extend_from_slice(b"\x00\x04\xc0\x00\x02\x01");
    }
    let facts = ResponseFacts {
        rcode: Rcode::NoError,
        ttl_s: Some(5),
        cookie_at: None,
    };
    (response, facts)
}

fn filled(counts_down: bool) -> WireCache {
    let message = query(1, NAME);
    let (response, facts) = response(&message);
    let mut cache = WireCache::default();
    cache.keep(&request(&message), &response, facts, counts_down, 1_000);
    cache
}

#[test]
fn an_answer_takes_id_and_case_of_its_query() {
    let mut cache = filled(false);
    let other = query(9, b"\x01A\x04tEst\x00");
    let mut out = Vec::new();
    let facts = cache.find(&request(&other), u64::MAX, &mut out).unwrap();
    assert_eq!(facts.ttl_s, Some(5));
    let (mut expected, _) = response(&other);
    expected[3] = 0x80;
    assert_eq!(out, expected);
    let summary = cache.summary();
    assert_eq!(
        (summary.hit_count, summary.miss_count, summary.entry_count),
        (1, 0, 1)
    );
    assert_eq!(summary.hit_ratio, Some(1.0));
}

#[test]
fn other_questions_and_other_edns_are_not_answered_by_it() {
    let mut cache = filled(false);
    let mut out = Vec::new();
    let plain = query(1, NAME);
    let mut other_type = plain.clone();
    *other_type.last_chunk_mut::<3>().unwrap() = [28, 0, 1];
    let mut with_edns = plain.clone();
    with_edns[11] = 1;
    with_edns.extend_from_slice(b"\x00\x00\x29\x04\xd0\x00\x00\x00\x00\x00\x00");
    for message in [&query(1, b"\x01b\x04test\x00"), &other_type, &with_edns] {
        assert_eq!(cache.find(&request(message), 0, &mut out), None);
    }
    let mut over_stream = request(&plain);
    over_stream.limits = TransportLimits::Stream;
    assert_eq!(cache.find(&over_stream, 0, &mut out), None);
    assert_eq!(cache.summary().miss_count, 4);
    cache.invalidate();
    assert_eq!(cache.find(&request(&plain), 0, &mut out), None);
    assert_eq!(
        (
            cache.summary().entry_count,
            cache.summary().invalidation_count
        ),
        (0, 1)
    );
}

#[test]
fn ttls_of_forwarded_answers_count_down_to_their_end() {
    let mut cache = filled(true);
    let message = query(1, NAME);
    let mut out = Vec::new();
    let at = |seconds: u64| 1_000 + seconds * NS_PER_S;
    let facts = cache.find(&request(&message), at(3), &mut out).unwrap();
    assert_eq!(facts.ttl_s, Some(2));
    let first = out.len() - 2 * 16 + 6;
    assert_eq!(out[first..first + 4], 297_u32.to_be_bytes());
    assert_eq!(out[first + 16..first + 20], 2_u32.to_be_bytes());
    assert!(cache.find(&request(&message), at(4), &mut out).is_some());
    assert_eq!(cache.find(&request(&message), at(5), &mut out), None);
}

#[test]
fn it_is_bounded_and_keeps_what_is_asked_for() {
    let mut cache = filled(false);
    let mut out = Vec::new();
    let first = query(1, NAME);
    for number in 0..3 * GENERATION_COUNT_MAX as u32 {
        let digits = format!("{number:08}");
        let mut name = vec![8];
        name.extend_from_slice(digits.as_bytes());
        name.push(0);
        let message = query(1, &name);
        let (response, facts) = response(&message);
        cache.keep(&request(&message), &response, facts, false, 0);
        if number % 1_000 == 0 {
            assert!(
                cache.find(&request(&first), 0, &mut out).is_some(),
                "{number}"
            );
        }
    }
    let count = cache.summary().entry_count as usize;
    assert!(count <= 2 * GENERATION_COUNT_MAX, "{count}");
}
