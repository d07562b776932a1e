use super::*;
use crate::edns::{ClientEdns, EdnsOptions};
use hickory_proto::rr::rdata::opt::EdnsCode;
use hickory_proto::rr::rdata::svcb::{Alpn, SVCB, SvcParamKey, SvcParamValue};
use hickory_proto::rr::rdata::{A, AAAA, CNAME, HTTPS, MX, SOA, TXT};
use hickory_proto::rr::{Name, RecordType};

fn edns(padded: bool) -> QueryEdns {
    let resolver = IpAddr::from([192, 0, 2, 1]);
    let question = Question::parse("a.test", "A").unwrap();
    ClientEdns::new(EdnsOptions::default(), resolver, padded).query_contents(&question, None)
}

fn query(padded: bool) -> Vec<u8> {
    let question = Question::parse("Example.resolab.test", "A").unwrap();
    build_query(&question, 77, &edns(padded)).unwrap()
}

fn response(query: &[u8], change: impl FnOnce(&mut Message)) -> Vec<u8> {
    let mut message = Message::from_vec(query).unwrap().into_response();
    message.edns = None;
    change(&mut message);
    message.to_vec().unwrap()
}

#[test]
fn a_query_reads_back() {
    let message = Message::from_vec(&query(false)).unwrap();
    assert_eq!(message.metadata.id, 77);
    assert!(message.metadata.recursion_desired && !message.metadata.checking_disabled);
    assert_eq!(
        message.queries[0].name().to_ascii(),
        "Example.resolab.test."
    );
    assert_eq!(message.edns.unwrap().max_payload(), 1232);
}

#[test]
fn padding_fills_a_block_and_stays_valid() {
    for length in 1..60 {
        let name = format!("{}.test", "x".repeat(length));
        let question = Question::parse(&name, "A").unwrap();
        let bytes = build_query(&question, 0, &edns(true)).unwrap();
        assert_eq!(bytes.len() % 128, 0, "{name}");
        let edns = Message::from_vec(&bytes).unwrap().edns.unwrap();
        assert!(edns.option(EdnsCode::Padding).is_some());
    }
}

#[test]
fn dnssec_flags_are_carried() {
    let mut question = Question::parse("a.test", "A").unwrap();
    (question.dnssec_ok, question.checking_disabled) = (true, true);
    let message = Message::from_vec(&build_query(&question, 0, &edns(true)).unwrap()).unwrap();
    question.udp_payload_bytes = Some(1232);
    assert_eq!(Question::from_message(&message), Some(question));
}

#[test]
fn an_echo_may_differ_in_case_only() {
    let query = query(true);
    let mut echo = response(&query, |_| ());
    assert_eq!(check_echo(&query, &echo), Ok(()));
    echo[13] ^= 0x20;
    assert_eq!(check_echo(&query, &echo), Ok(()));
    echo[13] ^= 0x01;
    assert_eq!(check_echo(&query, &echo), Err(ResponseMismatch::Question));
}

#[test]
fn other_ids_types_and_directions_are_no_answer() {
    let query = query(false);
    let other = response(&query, |message| message.metadata.id = 78);
    assert_eq!(
        check_echo(&query, &other),
        Err(ResponseMismatch::Id { asked: 77, got: 78 })
    );
    assert_eq!(
        check_echo(&query, &query),
        Err(ResponseMismatch::NotAResponse)
    );
    let mut other = response(&query, |_| ());
    let type_at = questions_end(&query) - 3;
    other[type_at] = 28;
    assert_eq!(check_echo(&query, &other), Err(ResponseMismatch::Question));
    assert!(matches!(
        check_echo(&query, &other[..11]),
        Err(ResponseMismatch::Malformed(_))
    ));
}

#[test]
fn only_an_error_may_come_without_a_question() {
    let query = query(false);
    let empty = response(&query, |message| message.queries.clear());
    assert_eq!(check_echo(&query, &empty), Err(ResponseMismatch::Question));
    let no_name = response(&query, |message| {
        message.queries.clear();
        message.metadata.response_code = ResponseCode::NXDomain;
    });
    assert_eq!(
        check_echo(&query, &no_name),
        Err(ResponseMismatch::Question)
    );
    let refused = response(&query, |message| {
        message.queries.clear();
        message.metadata.response_code = ResponseCode::Refused;
    });
    assert_eq!(check_echo(&query, &refused), Ok(()));
    let read = read_response(&refused).unwrap();
    assert_eq!((read.rcode.as_str(), read.is_answer), ("REFUSED", false));
}

#[test]
fn reads_addresses_and_the_smallest_ttl() {
    let bytes = response(&query(false), |message| {
        let name = message.queries[0].name().clone();
        let records = [
            (300, RData::CNAME(CNAME(name.clone()))),
            (60, RData::A(A::new(10, 77, 1, 1))),
            (90, RData::AAAA(AAAA::new(0xfd00, 0, 0, 0, 0, 0, 0, 1))),
        ];
        for (ttl, data) in records {
            message.add_answer(Record::from_rdata(name.clone(), ttl, data));
        }
        message.metadata.truncation = true;
    });
    let read = read_response(&bytes).unwrap();
    assert_eq!(read.rcode, "NOERROR");
    assert!(read.is_answer && read.truncated);
    assert_eq!((read.answer_count, read.ttl_s), (3, Some(60)));
    assert_eq!(
        read.addresses,
        ["10.77.1.1", "fd00::1"].map(|a| a.parse::<IpAddr>().unwrap())
    );
}

#[test]
fn a_response_without_answers_is_kept_as_long_as_its_soa_says() {
    let with_soa = |ttl: u32, minimum: u32, answered: bool| {
        let bytes = response(&query(false), |message| {
            let name = message.queries[0].name().clone();
            let soa = SOA::new(name.clone(), name.clone(), 1, 2, 3, 4, minimum);
            message.add_authority(Record::from_rdata(name.clone(), ttl, RData::SOA(soa)));
            if answered {
                message.add_answer(Record::from_rdata(name, 9, RData::A(A::new(1, 2, 3, 4))));
            }
        });
        negative_ttl_s(&read_response(&bytes).unwrap().message)
    };
    assert_eq!(with_soa(300, 60, false), Some(60));
    assert_eq!(with_soa(20, 60, false), Some(20));
    assert_eq!(with_soa(300, 60, true), None);
    let bare = response(&query(false), |_| {});
    assert_eq!(negative_ttl_s(&read_response(&bare).unwrap().message), None);
}

#[test]
fn the_time_in_a_cache_is_taken_off_all_ttls() {
    let bytes = response(&query(false), |message| {
        let name = message.queries[0].name().clone();
        let record = |ttl| Record::from_rdata(name.clone(), ttl, RData::A(A::new(1, 2, 3, 4)));
        message.add_answer(record(60));
        message.add_authority(record(30));
        message.add_additional(record(90));
    });
    let ttls = |age_s| {
        let read = read_response(&bytes).unwrap().with_age(age_s);
        let message = read.message;
        let sections = [message.answers, message.authorities, message.additionals];
        (read.ttl_s, sections.map(|section| section[0].ttl))
    };
    assert_eq!(ttls(0), (Some(60), [60, 30, 90]));
    assert_eq!(ttls(40), (Some(20), [20, 0, 50]));
    assert_eq!(ttls(u32::MAX), (Some(0), [0, 0, 0]));
}

/// A response whose question has this name, with these answers.
fn answered(name: &Name, answers: Vec<Record>) -> Message {
    let mut message = Message::new(0, MessageType::Response, OpCode::Query);
    message.add_query(Query::query(name.clone(), RecordType::ANY));
    message.answers = answers;
    message
}

#[test]
fn records_of_other_owners_answer_nothing() {
    // RFC 1034 section 5.3.3: the name and what it is an alias of.
    let bytes = response(&query(false), |message| {
        let name = |text| Question::parse(text, "A").unwrap().name;
        let alias = RData::CNAME(CNAME(name("b.test")));
        message.add_answer(Record::from_rdata(
            name("victim.test"),
            5,
            RData::A(A::new(203, 0, 113, 66)),
        ));
        message.add_answer(Record::from_rdata(name("EXAMPLE.resolab.test"), 60, alias));
        message.add_answer(Record::from_rdata(
            name("b.test"),
            30,
            RData::A(A::new(192, 0, 2, 1)),
        ));
    });
    let read = read_response(&bytes).unwrap();
    assert_eq!(read.addresses, [IpAddr::from([192, 0, 2, 1])]);
    assert_eq!((read.answer_count, read.ttl_s), (3, Some(30)));
    assert_eq!(
        non_address_answers(&read.message),
        ["victim.test. A 203.0.113.66", "CNAME b.test."]
    );
}

#[test]
fn other_answers_are_texts_few_and_short() {
    let name = Question::parse("a.test", "MX").unwrap().name;
    let mail = RData::MX(MX::new(10, "mail.a.test.".parse().unwrap()));
    let long = RData::TXT(TXT::new(vec!["x".repeat(255); 4]));
    let address = RData::A(A::new(10, 77, 1, 1));
    let data = [address, mail].into_iter().chain(vec![long; 40]);
    let record = |data| Record::from_rdata(name.clone(), 60, data);
    let texts = non_address_answers(&answered(&name, data.map(record).collect()));
    assert_eq!(texts[0], "MX 10 mail.a.test.");
    assert_eq!((texts.len(), texts[1].chars().count()), (16, 256));
    assert!(texts[1].starts_with("TXT \"xxx") && texts[1].ends_with("x\u{2026}"));
}

#[test]
fn service_records_are_as_zone_files_have_them() {
    let name = Question::parse("a.test", "HTTPS").unwrap().name;
    let alpn = SvcParamValue::Alpn(Alpn(vec!["h2".into(), "h3".into()]));
    let service = SVCB::new(1, ".".parse().unwrap(), vec![(SvcParamKey::Alpn, alpn)]);
    let record = Record::from_rdata(name.clone(), 60, RData::HTTPS(HTTPS(service)));
    let response = answered(&name, vec![record]);
    assert_eq!(non_address_answers(&response), ["HTTPS 1 . alpn=h2,h3"]);
}

/// A response with one HTTPS or SVCB record of these parameters.
fn with_parameters(record_type: u16, parameters: &[(u16, &[u8])]) -> Vec<u8> {
    let query = build_query(
        &Question::parse("a.test", "HTTPS").unwrap(),
        7,
        &edns(false),
    )
    .unwrap();
    let mut message = query[..questions_end(&query)].to_vec();
    message[2] |= 0x80;
    message[4..12].copy_from_slice(&[0, 1, 0, 1, 0, 0, 0, 0]);
    let mut data = b"\x00\x01\x01b\x04test\x00".to_vec();
    for (key, value) in parameters {
        data.extend(key.to_be_bytes());
        data.extend((value.len() as u16).to_be_bytes());
        data.extend(*value);
    }
    message.extend(b"\xc0\x0c");
    message.extend(record_type.to_be_bytes());
    message.extend(b"\x00\x01\x00\x00\x00\x3c");
    message.extend((data.len() as u16).to_be_bytes());
    message.extend(data);
    message
}

#[test]
fn service_parameters_of_a_wrong_length_are_never_shown_as_others() {
    for record_type in [64, 65] {
        for (key, value) in [
            (0, &[][..]),
            (0, &[0, 1, 0]),
            (1, &[]),
            (1, &[3, b'h', b'2']),
            (1, &[2, b'h', b'2', 1]),
            (2, &[0]),
            (3, &[]),
            (3, &[1]),
            (3, &[0, 0, 1]),
            (3, &[0, 53, 0, 0]),
            (4, &[]),
            (4, &[192, 0, 2]),
            (4, &[192, 0, 2, 1, 9]),
            (5, &[]),
            (6, &[]),
            (6, &[0x20; 15]),
            (6, &[0x20; 17]),
        ] {
            let message = with_parameters(record_type, &[(key, value)]);
            // Refused, or shown under the key's number with all bytes.
            if let Ok(response) = read_response(&message) {
                let texts = non_address_answers(&response.message);
                let is_generic = texts[0].contains(&format!(" key{key}")) && value.is_empty();
                assert!(is_generic, "{key} {value:?} {texts:?}");
            }
        }
        for (key, value) in [(3, &[32, 251][..]), (4, &[192, 0, 2, 1]), (6, &[0x20; 32])] {
            let message = with_parameters(record_type, &[(1, b"\x02h2"), (key, value)]);
            assert!(read_response(&message).is_ok(), "{key}");
        }
    }
    let wrong = with_parameters(65, &[(1, b"\x02h2"), (3, &[0, 0, 1])]);
    let error = read_response(&wrong).unwrap_err().to_string();
    assert!(error.contains("port has 3 bytes"), "{error}");
}

#[test]
fn cut_messages_are_malformed() {
    let query = query(false);
    let name = Question::parse("a.test", "A").unwrap().name;
    let whole = response(&query, |message| {
        message.add_answer(Record::from_rdata(name, 60, RData::A(A::new(1, 2, 3, 4))));
    });
    for cut in 12..whole.len() {
        assert!(read_response(&whole[..cut]).is_err(), "cut at {cut}");
    }
}
