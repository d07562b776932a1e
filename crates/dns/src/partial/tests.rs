//! Both ends against each other.

use super::*;
use crate::edns::{ClientEdns, EdnsOptions};
use crate::message::{ResponseMismatch, build_message, build_query};
use crate::question::Question;
use hickory_proto::op::{Message, ResponseCode};
use hickory_proto::rr::rdata::opt::EdnsOption;
use hickory_proto::rr::{RData, Record};
use proptest::prelude::*;
use std::net::Ipv4Addr;

const ID: u16 = 4_711;
const WIDE: LengthLimits = LengthLimits {
    limit_bytes: 65_535,
    padding_block_bytes: 0,
};

fn questions(count: usize) -> Vec<Question> {
    (0..count)
        .map(|number| Question::parse(&format!("q{number}.a.test"), "A").unwrap())
        .collect()
}

fn edns(is_encrypted: bool) -> ClientEdns {
    let resolver = Ipv4Addr::LOCALHOST.into();
    ClientEdns::new(EdnsOptions::default(), resolver, is_encrypted)
}

fn message(questions: &[Question], is_encrypted: bool) -> Vec<u8> {
    let edns = edns(is_encrypted).message_contents(questions.first(), None);
    build_message(questions, ID, &edns.accept_partial_responses()).unwrap()
}

/// With so many addresses, each of which says which question it answers, or with a code.
fn respond(single: &[u8], address_count: u8, rcode: ResponseCode) -> Vec<u8> {
    let query = Message::from_vec(single).unwrap();
    let mut response = Message::response(query.metadata.id, query.metadata.op_code);
    let name = query.queries[0].name().clone();
    let number: u8 = name.to_ascii()[1..]
        .split('.')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    response.queries = query.queries;
    response.metadata.response_code = rcode;
    for last in 0..address_count {
        let data = RData::A(Ipv4Addr::new(192, 0, number, last).into());
        response
            .answers
            .push(Record::from_rdata(name.clone(), 60, data));
    }
    response.edns = query.edns;
    response.to_vec().unwrap()
}

/// Places only.
fn places(
    taken: Result<Vec<(usize, QuestionAnswer)>, UnmatchedResponse>,
) -> Result<Vec<usize>, UnmatchedResponse> {
    taken.map(|taken| taken.into_iter().map(|(place, _)| place).collect())
}

/// Answers by place, of messages one after the other, at instants from `begin_ns` on.
fn gathered(
    asked: &[Question],
    messages: &[&CombinedResponse],
    begin_ns: u64,
) -> Vec<Option<QuestionAnswer>> {
    let mut gathering = AnswerCollection::new(asked.to_vec());
    let mut parts = vec![None; asked.len()];
    for (now_ns, message) in (begin_ns..).zip(messages) {
        for (place, part) in gathering.take(ID, &message.message, now_ns).unwrap() {
            assert!(parts[place].replace(part).is_none(), "answered twice");
        }
    }
    let missing: Vec<_> = (0..asked.len())
        .filter(|place| parts[*place].is_none())
        .collect();
    assert_eq!(gathering.missing(), missing);
    assert_eq!(gathering.is_complete(), missing.is_empty());
    parts
}

fn combined(
    several: &MultiQuestionMessage,
    pieces: &[Vec<u8>],
    is_last: bool,
    room: LengthLimits,
) -> Vec<CombinedResponse> {
    let pieces: Vec<_> = pieces.iter().map(Vec::as_slice).collect();
    several.combine(&pieces, is_last, room)
}

#[test]
fn a_message_falls_apart_into_queries_as_they_would_be_sent_alone() {
    let asked = questions(3);
    let several = MultiQuestionMessage::read(&message(&asked, false)).unwrap();
    let alone = edns(false).message_contents(asked.first(), None);
    let expected: Vec<_> = asked
        .iter()
        .map(|question| build_query(question, ID, &alone).unwrap())
        .collect();
    assert_eq!(several.singles().collect::<Vec<_>>(), expected);
}

#[test]
fn only_several_questions_of_a_client_that_takes_partial_responses_are_read() {
    let asked = questions(QUESTIONS_MAX_COUNT + 1);
    assert!(MultiQuestionMessage::read(&message(&asked[..2], true)).is_some());
    assert!(MultiQuestionMessage::read(&message(&asked[..QUESTIONS_MAX_COUNT], true)).is_some());
    assert!(
        MultiQuestionMessage::read(&message(&asked, true)).is_none(),
        "too many"
    );
    assert!(
        MultiQuestionMessage::read(&message(&asked[..1], true)).is_none(),
        "one"
    );
    let plain = edns(true).message_contents(asked.first(), None);
    let plain = build_message(&asked[..2], ID, &plain).unwrap();
    assert!(
        MultiQuestionMessage::read(&plain).is_none(),
        "without the option"
    );
    let mut response = message(&asked[..2], true);
    response[2] |= 0x80;
    assert!(
        MultiQuestionMessage::read(&response).is_none(),
        "a response"
    );
    assert!(
        MultiQuestionMessage::read(&[0, 0, 1, 0, 0, 2]).is_none(),
        "a piece"
    );
}

#[test]
fn answers_come_back_to_their_questions_in_any_order_and_once() {
    let asked = questions(4);
    let query = message(&asked, false);
    let several = MultiQuestionMessage::read(&query).unwrap();
    let singles: Vec<_> = several.singles().collect();
    let pieces: Vec<_> = [(2, 1), (0, 3)]
        .map(|(place, count): (usize, u8)| respond(&singles[place], count, ResponseCode::NoError))
        .to_vec();
    let late = [
        respond(&singles[3], 0, ResponseCode::NXDomain),
        respond(&singles[1], 2, ResponseCode::NoError),
    ];
    let early = combined(&several, &pieces, false, WIDE);
    let late = combined(&several, &late, true, WIDE);
    assert_eq!((early.len(), late.len()), (1, 1));
    let came = [&late[0], &late[0], &early[0]];
    assert_eq!(gathered(&asked, &came[..2], 9).iter().flatten().count(), 2);
    let parts: Vec<_> = gathered(&asked, &came, 9).into_iter().flatten().collect();
    let counts: Vec<_> = parts
        .iter()
        .map(|part| part.response.answer_count)
        .collect();
    assert_eq!(counts, [3, 2, 1, 0]);
    assert_eq!(parts[3].response.rcode, "NXDOMAIN");
    assert_eq!(parts[0].response.addresses[0].to_string(), "192.0.0.0");
    assert_eq!(parts[2].response.addresses[0].to_string(), "192.0.2.0");
    let times: Vec<_> = parts
        .iter()
        .map(|part| (part.complete_ns, part.response_index))
        .collect();
    assert_eq!(times, [(11, 2), (9, 0), (11, 2), (9, 0)]);
}

#[test]
fn what_does_not_fit_goes_in_several_messages_and_what_never_fits_is_cut() {
    let asked = questions(6);
    let several = MultiQuestionMessage::read(&message(&asked, false)).unwrap();
    let pieces: Vec<_> = several
        .singles()
        .enumerate()
        .map(|(place, single)| {
            let count = if place == 4 { 60 } else { 12 };
            respond(&single, count, ResponseCode::NoError)
        })
        .collect();
    let room = LengthLimits {
        limit_bytes: 512,
        padding_block_bytes: 0,
    };
    let messages = combined(&several, &pieces, true, room);
    assert!(messages.len() > 2);
    assert!(
        messages
            .iter()
            .all(|response| response.message.len() <= 512)
    );
    assert_eq!(
        messages
            .iter()
            .map(|response| response.count)
            .sum::<usize>(),
        6
    );
    let came: Vec<_> = messages.iter().collect();
    let parts: Vec<_> = gathered(&asked, &came, 1).into_iter().flatten().collect();
    let truncated: Vec<_> = parts.iter().map(|part| part.response.truncated).collect();
    assert_eq!(truncated, [false, false, false, false, true, false]);
    assert_eq!(parts[4].response.answer_count, 0);
    assert_eq!(parts[5].response.answer_count, 12);
}

#[test]
fn records_that_cannot_be_moved_are_left_for_who_asks_alone() {
    let asked = questions(2);
    let several = MultiQuestionMessage::read(&message(&asked, false)).unwrap();
    let mut pieces: Vec<_> = several
        .singles()
        .map(|single| respond(&single, 1, ResponseCode::NoError))
        .collect();
    let end = pieces[1].len() - 3;
    pieces[1].truncate(end);
    let messages = combined(&several, &pieces, true, WIDE);
    let came: Vec<_> = messages.iter().collect();
    let parts: Vec<_> = gathered(&asked, &came, 1).into_iter().flatten().collect();
    let outcomes: Vec<_> = parts
        .iter()
        .map(|part| (part.response.truncated, part.response.answer_count))
        .collect();
    assert_eq!(outcomes, [(false, 1), (true, 0)]);
}

#[test]
fn options_are_those_of_the_question_s_own_response() {
    let asked = questions(4);
    let several = MultiQuestionMessage::read(&message(&asked, false)).unwrap();
    let error = EdnsOption::Unknown(15, vec![0, 22]);
    let with_error = |place: usize| place == 2;
    let pieces: Vec<_> = several
        .singles()
        .enumerate()
        .map(|(place, single)| {
            let mut response =
                Message::from_vec(&respond(&single, 1, ResponseCode::NoError)).unwrap();
            if with_error(place) {
                let edns = response.edns.get_or_insert_default();
                edns.options_mut().insert(error.clone());
            }
            response.to_vec().unwrap()
        })
        .collect();
    let messages = combined(&several, &pieces, true, WIDE);
    let counts: Vec<_> = messages.iter().map(|response| response.count).collect();
    assert_eq!(counts, [2, 1, 1]);
    let came: Vec<_> = messages.iter().collect();
    for (place, part) in gathered(&asked, &came, 1).into_iter().enumerate() {
        let edns = part.unwrap().response.message.edns.unwrap();
        let has_error = edns
            .options()
            .options
            .iter()
            .any(|(_, option)| *option == error);
        assert_eq!(has_error, with_error(place));
    }
}

#[test]
fn a_padded_message_is_answered_by_padded_ones() {
    let asked = questions(3);
    let padded = LengthLimits {
        padding_block_bytes: 468,
        ..WIDE
    };
    for (is_encrypted, room, multiple) in [(true, padded, 468), (false, padded, 1), (true, WIDE, 1)]
    {
        let several = MultiQuestionMessage::read(&message(&asked, is_encrypted)).unwrap();
        let pieces: Vec<_> = several
            .singles()
            .map(|single| respond(&single, 1, ResponseCode::NoError))
            .collect();
        let messages = combined(&several, &pieces, true, room);
        assert_eq!(messages[0].message.len() % multiple, 0);
        assert_eq!(multiple == 468, messages[0].message.len() == 468);
    }
}

#[test]
fn what_is_no_part_is_told_apart() {
    let asked = questions(2);
    let several = MultiQuestionMessage::read(&message(&asked, false)).unwrap();
    let pieces: Vec<_> = several
        .singles()
        .map(|single| respond(&single, 1, ResponseCode::NoError))
        .collect();
    let whole = combined(&several, &pieces, true, WIDE).remove(0).message;
    let mut gathering = AnswerCollection::new(asked);
    let other_id = places(gathering.take(ID + 1, &whole, 1));
    assert!(matches!(
        other_id,
        Err(UnmatchedResponse::ResponseMismatch(
            ResponseMismatch::Id { .. }
        ))
    ));
    let plain = places(gathering.take(ID, &pieces[0], 1));
    assert_eq!(plain, Err(UnmatchedResponse::NotKnown));
    let mut query = whole.clone();
    query[2] &= 0x7f;
    let query = places(gathering.take(ID, &query, 1));
    assert_eq!(
        query,
        Err(UnmatchedResponse::ResponseMismatch(
            ResponseMismatch::NotAResponse
        ))
    );
    let mut fewer = Message::from_vec(&whole).unwrap();
    fewer.answers.pop();
    let fewer = places(gathering.take(ID, &fewer.to_vec().unwrap(), 1));
    assert!(matches!(fewer, Err(UnmatchedResponse::Contradiction(_))));
    assert_eq!(gathering.response_count(), 0);
    assert_eq!(places(gathering.take(ID, &whole, 1)), Ok(vec![0, 1]));
}

proptest! {
    /// However the answers are cut into messages and whichever of those are lost or come twice:
    /// what came is known as it was answered, and nothing else is.
    #[test]
    fn nothing_is_mixed_up(
        counts in proptest::collection::vec(0_u8..6, 2..20),
        order in proptest::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 0..40),
        limit_bytes in 512_usize..4_000,
    ) {
        let asked = questions(counts.len());
        let several = MultiQuestionMessage::read(&message(&asked, false)).unwrap();
        let pieces: Vec<_> = several
            .singles()
            .zip(&counts)
            .map(|(single, count)| respond(&single, *count, ResponseCode::NoError))
            .collect();
        let room = LengthLimits { limit_bytes, padding_block_bytes: 0 };
        let messages = combined(&several, &pieces, true, room);
        let mut came = std::collections::BTreeSet::new();
        let mut arrived = Vec::new();
        for (index, is_lost) in &order {
            let at = index.index(messages.len());
            if !is_lost {
                arrived.push(&messages[at]);
                let before: usize = messages[..at].iter().map(|response| response.count).sum();
                came.extend(before..before + messages[at].count);
            }
        }
        for (place, part) in gathered(&asked, &arrived, 1).into_iter().enumerate() {
            prop_assert_eq!(part.is_some(), came.contains(&place));
            if let Some(part) = part {
                prop_assert_eq!(part.response.answer_count, u32::from(counts[place]));
                let expected = format!("192.0.{place}.");
                let mut addresses = part.response.addresses.iter();
                prop_assert!(addresses.all(|address| address.to_string().starts_with(&expected)));
            }
        }
    }
}
