//! Responses read back by an independent implementation.

use super::*;
use crate::wire::{TYPE_A, TYPE_TXT, name_wire};
use crate::zone::parse_content;
use hickory_proto::op::{Edns as ClientEdns, Message, OpCode, Query as ClientQuery};
use hickory_proto::rr::rdata::opt::{EdnsCode, EdnsOption};
use hickory_proto::rr::{Name, RData, RecordType};

fn zone() -> Zone {
    let mut zone = Zone::default();
    let wire = |text: &str| name_wire(text).unwrap();
    zone.add_origin(wire("resolab.test"));
    zone.add(&wire("page.resolab.test"), TYPE_A, 300, vec![10, 77, 1, 1]);
    zone.add(
        &wire("page.resolab.test"),
        crate::wire::TYPE_HTTPS,
        300,
        parse_content("HTTPS", "h3,h2").unwrap().1,
    );
    zone.add(
        &wire("alias.resolab.test"),
        TYPE_CNAME,
        60,
        wire("page.resolab.test"),
    );
    zone.add(
        &wire("gone.resolab.test"),
        TYPE_CNAME,
        60,
        wire("nothing.resolab.test"),
    );
    let (_, long) = parse_content("TXT", &"x".repeat(2_000)).unwrap();
    zone.add(&wire("long.resolab.test"), TYPE_TXT, 300, long);
    zone
}

fn query(name: &str, record_type: RecordType) -> Message {
    let mut message = Message::query();
    message.metadata.id = 4_711;
    message.metadata.recursion_desired = true;
    message.add_query(ClientQuery::query(
        Name::from_ascii(name).unwrap(),
        record_type,
    ));
    message
}

fn with_edns(mut message: Message, padded: bool) -> Message {
    let mut edns = ClientEdns::new();
    edns.set_max_payload(4_096);
    if padded {
        edns.options_mut()
            .insert(EdnsOption::Unknown(EdnsCode::Padding.into(), vec![0; 40]));
    }
    message.set_edns(edns);
    message
}

fn ask(message: &Message, channel: Channel) -> (Answer, Message) {
    let answer = answer(&message.to_vec().unwrap(), &zone(), channel).unwrap();
    let response = Message::from_vec(&answer.message).unwrap();
    assert_eq!(response.metadata.id, 4_711);
    (answer, response)
}

#[test]
fn an_address_is_answered_with_the_question_as_asked() {
    let (answer, response) = ask(
        &query("pAgE.ResoLab.tEst.", RecordType::A),
        Channel::Datagram,
    );
    assert_eq!(answer.rcode, Rcode::NoError);
    assert_eq!(
        (answer.qname.as_str(), answer.qtype.as_str()),
        ("pAgE.ResoLab.tEst.", "A")
    );
    assert_eq!(answer.ttl_s, Some(300));
    assert_eq!(response.queries[0].name().to_ascii(), "pAgE.ResoLab.tEst.");
    assert_eq!(response.answers[0].name.to_ascii(), "pAgE.ResoLab.tEst.");
    assert!(matches!(&response.answers[0].data, RData::A(a) if a.octets() == [10, 77, 1, 1]));
    assert!(response.metadata.recursion_available && response.metadata.recursion_desired);
    assert!(response.edns.is_none());
}

#[test]
fn negative_answers_carry_the_soa_and_foreign_names_are_refused() {
    let (answer, response) = ask(
        &query("page.resolab.test.", RecordType::AAAA),
        Channel::Datagram,
    );
    assert_eq!((answer.rcode, response.answers.len()), (Rcode::NoError, 0));
    assert_eq!(response.authorities[0].name.to_ascii(), "resolab.test.");
    assert!(matches!(&response.authorities[0].data, RData::SOA(soa) if soa.minimum == 300));
    let (answer, response) = ask(
        &query("no.such.resolab.test.", RecordType::A),
        Channel::Datagram,
    );
    assert_eq!(
        (answer.rcode, response.authorities.len()),
        (Rcode::NxDomain, 1)
    );
    let (answer, response) = ask(&query("www.example.com.", RecordType::A), Channel::Datagram);
    assert_eq!(
        (answer.rcode, response.authorities.len()),
        (Rcode::Refused, 0)
    );
    assert_eq!(answer.rcode.text(), "REFUSED");
}

#[test]
fn any_gets_hinfo_and_https_its_parameters() {
    let (_, response) = ask(
        &query("page.resolab.test.", RecordType::ANY),
        Channel::Datagram,
    );
    assert_eq!(response.answers.len(), 1);
    assert!(matches!(&response.answers[0].data, RData::HINFO(hinfo) if &*hinfo.cpu == b"RFC8482"));
    let (_, response) = ask(
        &query("page.resolab.test.", RecordType::HTTPS),
        Channel::Datagram,
    );
    assert!(matches!(&response.answers[0].data, RData::HTTPS(_)));
}

#[test]
fn aliases_are_followed_to_their_end() {
    let (answer, response) = ask(
        &query("alias.resolab.test.", RecordType::A),
        Channel::Datagram,
    );
    assert_eq!((answer.ttl_s, response.answers.len()), (Some(60), 2));
    assert_eq!(response.answers[1].name.to_ascii(), "page.resolab.test.");
    let (answer, response) = ask(
        &query("gone.resolab.test.", RecordType::A),
        Channel::Datagram,
    );
    assert_eq!((answer.rcode, response.answers.len()), (Rcode::NxDomain, 1));
}

#[test]
fn too_long_for_a_datagram_is_truncated_and_whole_over_a_stream() {
    for message in [
        query("long.resolab.test.", RecordType::TXT),
        with_edns(query("long.resolab.test.", RecordType::TXT), false),
    ] {
        let (_, response) = ask(&message, Channel::Datagram);
        assert!(response.metadata.truncation && response.answers.is_empty());
        assert_eq!(response.edns.is_some(), message.edns.is_some());
        let (_, response) = ask(&message, Channel::Stream);
        assert!(!response.metadata.truncation && response.answers.len() == 1);
    }
}

#[test]
fn padding_is_given_only_where_it_was_used_and_hides_lengths() {
    let padded = with_edns(query("page.resolab.test.", RecordType::A), true);
    assert_eq!(ask(&padded, Channel::Encrypted).0.message.len(), 468);
    assert!(ask(&padded, Channel::Datagram).0.message.len() < 100);
    let long = with_edns(query("long.resolab.test.", RecordType::TXT), true);
    assert_eq!(ask(&long, Channel::Encrypted).0.message.len() % 468, 0);
    let plain = with_edns(query("page.resolab.test.", RecordType::A), false);
    let (answer, response) = ask(&plain, Channel::Encrypted);
    assert!(answer.message.len() < 100);
    assert_eq!(response.edns.unwrap().max_payload(), 1_232);
}

#[test]
fn what_cannot_be_answered_is_told_or_dropped() {
    assert_eq!(answer(b"short", &zone(), Channel::Stream), None);
    let mut message = query("page.resolab.test.", RecordType::A);
    message.metadata.op_code = OpCode::Update;
    assert_eq!(ask(&message, Channel::Stream).0.rcode, Rcode::NotImp);
    let mut bytes = query("page.resolab.test.", RecordType::A).to_vec().unwrap();
    bytes.truncate(bytes.len() - 1);
    assert_eq!(
        answer(&bytes, &zone(), Channel::Stream).unwrap().rcode,
        Rcode::FormErr
    );
    let mut newer = with_edns(query("page.resolab.test.", RecordType::A), false);
    newer.edns.as_mut().unwrap().set_version(1);
    assert_eq!(ask(&newer, Channel::Stream).0.rcode, Rcode::BadVers);
}
