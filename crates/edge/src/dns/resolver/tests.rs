//! Responses read back by an independent implementation, with and without the cache.

use super::*;
use crate::dns::answer::ResponseFacts;
use crate::dns::wire::{TYPE_A, TYPE_CNAME, TYPE_HTTPS, TYPE_TXT, name_wire};
use crate::dns::zone::{DEFAULT_TTL_S, parse_content};
use hickory_proto::op::{Edns as ClientEdns, Message, OpCode, Query as ClientQuery};
use hickory_proto::rr::rdata::opt::{EdnsCode, EdnsOption};
use hickory_proto::rr::{Name, RData, RecordType};
use proptest::prelude::*;

/// CNAMEs of `step-0.resolab.test`, one behind the other.
const CHAIN_STEPS: usize = 17;

fn zone() -> Zone {
    let mut zone = Zone::default();
    let wire = |text: &str| name_wire(text).unwrap();
    zone.add_origin(wire("resolab.test"));
    zone.add(&wire("page.resolab.test"), TYPE_A, 300, vec![10, 77, 1, 1]);
    zone.add(
        &wire("page.resolab.test"),
        TYPE_HTTPS,
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
    for (owner, target) in [("loop-1", "loop-2"), ("loop-2", "loop-1")] {
        let [owner, target] = [owner, target].map(|label| wire(&format!("{label}.resolab.test")));
        zone.add(&owner, TYPE_CNAME, 60, target);
    }
    for step in 0..CHAIN_STEPS {
        let [owner, target] =
            [step, step + 1].map(|step| wire(&format!("step-{step}.resolab.test")));
        zone.add(&owner, TYPE_CNAME, 60, target);
    }
    let last = wire(&format!("step-{CHAIN_STEPS}.resolab.test"));
    zone.add(&last, TYPE_A, 60, vec![10, 77, 1, 2]);
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

fn resolver(wire_cache: bool) -> Resolver {
    let settings = ResolverSettings {
        wire_cache,
        ..ResolverSettings::default()
    };
    Resolver::new(settings, zone(), Behaviours::default())
}

fn context(limits: TransportLimits) -> MessageContext {
    MessageContext {
        transport: match limits {
            TransportLimits::Datagram => DnsTransport::Doudp,
            TransportLimits::Stream => DnsTransport::Dotcp,
            TransportLimits::Encrypted => DnsTransport::Dot,
        },
        peer: [192, 0, 2, 1].into(),
        now_ns: 1_000_000_000,
        in_early_data: false,
    }
}

/// Code, TTL and bytes of the answer; the cache's is the same.
fn answer(message: &[u8], limits: TransportLimits) -> Option<(ResponseFacts, Vec<u8>)> {
    let mut resolver = resolver(true);
    let mut fresh = Vec::new();
    let facts = resolver
        .judge(message, context(limits), &mut fresh)
        .answer?;
    let mut kept = Vec::new();
    let again = resolver.judge(message, context(limits), &mut kept).answer;
    assert_eq!((again, &kept), (Some(facts), &fresh));
    Some((facts, fresh))
}

fn ask(message: &Message, limits: TransportLimits) -> (ResponseFacts, Message) {
    let (facts, _, response) = ask_bytes(message, limits);
    (facts, response)
}

fn ask_bytes(message: &Message, limits: TransportLimits) -> (ResponseFacts, Vec<u8>, Message) {
    let (facts, bytes) = answer(&message.to_vec().unwrap(), limits).unwrap();
    let response = Message::from_vec(&bytes).unwrap();
    assert_eq!(response.metadata.id, 4_711);
    (facts, bytes, response)
}

#[test]
fn an_address_is_answered_with_the_question_as_asked() {
    let (answer, response) = ask(
        &query("pAgE.ResoLab.tEst.", RecordType::A),
        TransportLimits::Datagram,
    );
    assert_eq!(answer.rcode, Rcode::NoError);
    assert_eq!(answer.ttl_s, Some(300));
    assert_eq!(response.queries[0].name().to_ascii(), "pAgE.ResoLab.tEst.");
    assert_eq!(response.answers[0].name.to_ascii(), "pAgE.ResoLab.tEst.");
    assert!(matches!(&response.answers[0].data, RData::A(a) if a.octets() == [10, 77, 1, 1]));
    assert!(response.metadata.recursion_available && response.metadata.recursion_desired);
    assert!(response.edns.is_none());
}

/// RFC 1034 section 3.6.2: chains are followed, loops are an error.
#[test]
fn a_chain_is_followed_and_a_loop_is_an_error() {
    let answers = |name: &str| {
        let (answer, response) = ask(&query(name, RecordType::A), TransportLimits::Stream);
        assert_eq!(
            answer.rcode.number(),
            u16::from(response.metadata.response_code)
        );
        (answer.rcode, response.answers.len())
    };
    let (rcode, count) = answers("step-1.resolab.test.");
    assert_eq!((rcode, count), (Rcode::NoError, CHAIN_STEPS));
    for endless in ["loop-1.resolab.test.", "step-0.resolab.test."] {
        assert_eq!(answers(endless), (Rcode::ServFail, 0), "{endless}");
    }
    let alias = query("loop-1.resolab.test.", RecordType::CNAME);
    let (answer, response) = ask(&alias, TransportLimits::Stream);
    assert_eq!((answer.rcode, response.answers.len()), (Rcode::NoError, 1));
}

/// RFC 5936 section 2.2.1: who transfers no zones says so, whatever the name and the transport.
#[test]
fn transfers_are_not_implemented() {
    for record_type in [RecordType::AXFR, RecordType::IXFR] {
        for name in ["resolab.test.", "page.resolab.test.", "other.test."] {
            for limits in [
                TransportLimits::Datagram,
                TransportLimits::Stream,
                TransportLimits::Encrypted,
            ] {
                let (answer, response) = ask(&query(name, record_type), limits);
                assert_eq!(answer.rcode, Rcode::NotImp, "{name}");
                assert!(response.answers.is_empty() && response.authorities.is_empty());
            }
        }
    }
}

#[test]
fn negative_answers_carry_the_soa_and_foreign_names_are_refused() {
    let (answer, response) = ask(
        &query("page.resolab.test.", RecordType::AAAA),
        TransportLimits::Datagram,
    );
    assert_eq!((answer.rcode, response.answers.len()), (Rcode::NoError, 0));
    assert_eq!(response.authorities[0].name.to_ascii(), "resolab.test.");
    assert!(matches!(&response.authorities[0].data, RData::SOA(soa) if soa.minimum == 300));
    let (answer, response) = ask(
        &query("no.such.resolab.test.", RecordType::A),
        TransportLimits::Datagram,
    );
    assert_eq!(
        (answer.rcode, response.authorities.len()),
        (Rcode::NxDomain, 1)
    );
    let (answer, response) = ask(
        &query("www.example.com.", RecordType::A),
        TransportLimits::Datagram,
    );
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
        TransportLimits::Datagram,
    );
    assert_eq!(response.answers.len(), 1);
    assert!(matches!(&response.answers[0].data, RData::HINFO(hinfo) if &*hinfo.cpu == b"RFC8482"));
    let (_, response) = ask(
        &query("page.resolab.test.", RecordType::HTTPS),
        TransportLimits::Datagram,
    );
    assert!(matches!(&response.answers[0].data, RData::HTTPS(_)));
}

#[test]
fn aliases_are_followed_to_their_end() {
    let (answer, response) = ask(
        &query("alias.resolab.test.", RecordType::A),
        TransportLimits::Datagram,
    );
    assert_eq!((answer.ttl_s, response.answers.len()), (Some(60), 2));
    assert_eq!(response.answers[1].name.to_ascii(), "page.resolab.test.");
    let (answer, response) = ask(
        &query("gone.resolab.test.", RecordType::A),
        TransportLimits::Datagram,
    );
    assert_eq!((answer.rcode, response.answers.len()), (Rcode::NxDomain, 1));
}

#[test]
fn too_long_for_a_datagram_is_truncated_and_whole_over_a_stream() {
    for message in [
        query("long.resolab.test.", RecordType::TXT),
        with_edns(query("long.resolab.test.", RecordType::TXT), false),
    ] {
        let (_, response) = ask(&message, TransportLimits::Datagram);
        assert!(response.metadata.truncation && response.answers.is_empty());
        assert_eq!(response.edns.is_some(), message.edns.is_some());
        let (_, response) = ask(&message, TransportLimits::Stream);
        assert!(!response.metadata.truncation && response.answers.len() == 1);
    }
}

#[test]
fn padding_is_given_only_where_it_was_used_and_hides_lengths() {
    let padded = with_edns(query("page.resolab.test.", RecordType::A), true);
    assert_eq!(ask_bytes(&padded, TransportLimits::Encrypted).1.len(), 468);
    assert!(ask_bytes(&padded, TransportLimits::Datagram).1.len() < 100);
    let long = with_edns(query("long.resolab.test.", RecordType::TXT), true);
    assert_eq!(
        ask_bytes(&long, TransportLimits::Encrypted).1.len() % 468,
        0
    );
    let plain = with_edns(query("page.resolab.test.", RecordType::A), false);
    let (_, bytes, response) = ask_bytes(&plain, TransportLimits::Encrypted);
    assert!(bytes.len() < 100);
    assert_eq!(response.edns.unwrap().max_payload(), 1_232);
}

#[test]
fn what_cannot_be_answered_is_told_or_dropped() {
    assert_eq!(answer(b"short", TransportLimits::Stream), None);
    let mut message = query("page.resolab.test.", RecordType::A);
    message.metadata.op_code = OpCode::Update;
    assert_eq!(
        ask(&message, TransportLimits::Stream).0.rcode,
        Rcode::NotImp
    );
    let mut bytes = query("page.resolab.test.", RecordType::A).to_vec().unwrap();
    bytes.truncate(bytes.len() - 1);
    assert_eq!(
        answer(&bytes, TransportLimits::Stream).unwrap().0.rcode,
        Rcode::FormErr
    );
    let mut newer = with_edns(query("page.resolab.test.", RecordType::A), false);
    newer.edns.as_mut().unwrap().set_version(1);
    assert_eq!(ask(&newer, TransportLimits::Stream).0.rcode, Rcode::BadVers);
}

#[test]
fn cookies_come_back_with_a_servers_part_that_stays() {
    let mut resolver = resolver(true);
    let ask = |resolver: &mut Resolver, cookie: &[u8], peer: u8| {
        let mut message = query("page.resolab.test.", RecordType::A);
        let mut edns = ClientEdns::new();
        edns.options_mut()
            .insert(EdnsOption::Unknown(10, cookie.to_vec()));
        message.set_edns(edns);
        let mut context = context(TransportLimits::Datagram);
        context.peer = [192, 0, 2, peer].into();
        let mut out = Vec::new();
        resolver.judge(&message.to_vec().unwrap(), context, &mut out);
        let options = Message::from_vec(&out)
            .ok()?
            .edns?
            .options()
            .options
            .clone();
        let cookie = options.iter().find(|(code, _)| u16::from(*code) == 10);
        cookie.map(|(_, option)| Vec::<u8>::try_from(option).unwrap())
    };
    let first = ask(&mut resolver, &[1; 8], 1).unwrap();
    assert_eq!((first.len(), &first[..8]), (16, &[1; 8][..]));
    assert_eq!(ask(&mut resolver, &first, 1), Some(first.clone()));
    let other_client = ask(&mut resolver, &[1; 8], 2).unwrap();
    assert_ne!(other_client[8..], first[8..]);
    let other_cookie = ask(&mut resolver, &[2; 8], 1).unwrap();
    assert_eq!(other_cookie[..8], [2; 8]);
    // RFC 7873 section 5.2.2: such lengths are malformed.
    for length in [7, 9, 15, 41] {
        assert_eq!(ask(&mut resolver, &vec![1; length], 1), None, "{length}");
    }
}

#[test]
fn the_apex_has_an_ns_and_negative_answers_the_smaller_ttl() {
    let (_, response) = ask(
        &query("resolab.test.", RecordType::NS),
        TransportLimits::Datagram,
    );
    assert!(
        matches!(&response.answers[0].data, RData::NS(ns) if ns.0.to_ascii() == "ns.resolab.test.")
    );
    let mut zone = zone();
    let soa = parse_content("SOA", "ns.a. h.a. 1 2 3 4 60").unwrap().1;
    zone.add(&name_wire("resolab.test").unwrap(), 6, 900, soa);
    let mut resolver = Resolver::new(ResolverSettings::default(), zone, Behaviours::default());
    let message = query("none.resolab.test.", RecordType::A).to_vec().unwrap();
    let decision = resolver.judge(&message, context(TransportLimits::Stream), &mut Vec::new());
    assert_eq!(decision.answer.unwrap().ttl_s, Some(60));
}

#[test]
fn a_message_that_came_too_early_is_counted_by_the_code_it_got() {
    let mut update = query("page.resolab.test.", RecordType::A).to_vec().unwrap();
    update[2] |= 0x28; // opcode UPDATE
    let early = MessageContext {
        in_early_data: true,
        ..context(TransportLimits::Encrypted)
    };
    let mut resolver = resolver(false);
    let decision = resolver.judge(&update, early, &mut Vec::new());
    assert_eq!(decision.answer.unwrap().rcode, Rcode::Refused);
    let codes = resolver.summary(None, 0).rcodes;
    assert_eq!(codes, [("REFUSED".to_owned(), 1)].into());
}

#[test]
fn answers_say_for_which_clients_they_hold_where_that_is_wanted() {
    let subnet = vec![0, 1, 24, 0, 192, 0, 2];
    let mut asking = with_edns(query("page.resolab.test.", RecordType::A), false);
    let option = EdnsOption::Unknown(EdnsCode::Subnet.into(), subnet.clone());
    asking.edns.as_mut().unwrap().options_mut().insert(option);
    let message = asking.to_vec().unwrap();
    for (scope, expected) in [(None, None), (Some(20), Some(20)), (Some(0), Some(0))] {
        let settings = ResolverSettings {
            client_subnet_scope: scope,
            ..ResolverSettings::default()
        };
        let mut resolver = Resolver::new(settings, zone(), Behaviours::default());
        // The second time by the cache, where there is one for such answers.
        for _ in 0..2 {
            let mut out = Vec::new();
            resolver.judge(&message, context(TransportLimits::Datagram), &mut out);
            let answer = Message::from_vec(&out).unwrap();
            let option = answer.edns.as_ref().unwrap().option(EdnsCode::Subnet);
            let said = option.map(|option| {
                let EdnsOption::Subnet(subnet) = option else {
                    panic!("{option:?}");
                };
                assert_eq!(subnet.addr().to_string(), "192.0.2.0");
                assert_eq!(subnet.source_prefix(), 24);
                subnet.scope_prefix()
            });
            assert_eq!(said, expected);
        }
        let plain = query("page.resolab.test.", RecordType::A).to_vec().unwrap();
        let mut out = Vec::new();
        resolver.judge(&plain, context(TransportLimits::Datagram), &mut out);
        assert!(Message::from_vec(&out).unwrap().edns.is_none());
    }
    let mut broken = message.clone();
    let end = broken.len();
    broken[end - 4] = 1;
    let mut out = Vec::new();
    resolver(true).judge(&broken, context(TransportLimits::Datagram), &mut out);
    assert_eq!(out[3] & 0x0f, 1, "a scope in a query is FORMERR");
}

#[test]
fn padding_can_be_switched_off_and_other_classes_are_refused() {
    let settings = ResolverSettings {
        padding_block_bytes: 0,
        ..ResolverSettings::default()
    };
    let mut resolver = Resolver::new(settings, zone(), Behaviours::default());
    let padded = with_edns(query("page.resolab.test.", RecordType::A), true);
    let mut out = Vec::new();
    resolver.judge(
        &padded.to_vec().unwrap(),
        context(TransportLimits::Encrypted),
        &mut out,
    );
    assert!(out.len() < 100, "{}", out.len());
    let mut chaos = query("page.resolab.test.", RecordType::A).to_vec().unwrap();
    *chaos.last_mut().unwrap() = 3;
    assert_eq!(
        answer(&chaos, TransportLimits::Stream).unwrap().0.rcode,
        Rcode::Refused
    );
    let mut unknown_type = query("page.resolab.test.", RecordType::A).to_vec().unwrap();
    *unknown_type.last_chunk_mut::<4>().unwrap() = [0xff, 0x01, 0, 1];
    let (facts, _) = answer(&unknown_type, TransportLimits::Stream).unwrap();
    assert_eq!(
        (facts.rcode, facts.ttl_s),
        (Rcode::NoError, Some(DEFAULT_TTL_S))
    );
}

#[test]
fn a_changed_zone_is_answered_from_at_once() {
    let mut resolver = resolver(true);
    let message = query("page.resolab.test.", RecordType::A).to_vec().unwrap();
    let mut out = Vec::new();
    resolver.judge(&message, context(TransportLimits::Datagram), &mut out);
    assert!(out.ends_with(&[10, 77, 1, 1]));
    let name = name_wire("page.resolab.test").unwrap();
    resolver.change_zone(|zone| {
        zone.remove(&name, TYPE_A);
        zone.add(&name, TYPE_A, 300, vec![10, 77, 1, 9]);
    });
    resolver.judge(&message, context(TransportLimits::Datagram), &mut out);
    assert!(out.ends_with(&[10, 77, 1, 9]));
}

/// RFC 8767 section 4: what is kept has a TTL of seven days at most, the first time it is said,
/// too.
#[test]
fn what_upstream_says_is_kept_for_a_week_at_most() {
    const WEEK_S: u32 = 604_800;
    let message = query("a.other.test.", RecordType::A).to_vec().unwrap();
    let mut upstream = message.clone();
    upstream[2] |= 0x80;
    upstream[7] = 2;
    for ttl_s in [u32::MAX, 1_000_000] {
        upstream.extend(b"\xc0\x0c\x00\x01\x00\x01");
        upstream.extend(ttl_s.to_be_bytes());
        upstream.extend(b"\x00\x04\xc0\x00\x02\x01");
    }
    let ttls_s = |bytes: &[u8]| -> Vec<u32> {
        let response = Message::from_vec(bytes).unwrap();
        response.answers.iter().map(|record| record.ttl).collect()
    };
    for (caches_forwarded, said_s) in [(true, [WEEK_S; 2]), (false, [u32::MAX, 1_000_000])] {
        let settings = ResolverSettings {
            forwards: true,
            caches_forwarded,
            ..ResolverSettings::default()
        };
        let mut resolver = Resolver::new(settings, zone(), Behaviours::default());
        let mut context = context(TransportLimits::Stream);
        let mut out = upstream.clone();
        let said = Some((Rcode::NoError, Some(1_000_000)));
        let facts = resolver.finish_forwarded(&message, context, said, &mut out);
        assert_eq!(facts.unwrap().ttl_s, said_s.iter().min().copied());
        assert_eq!(ttls_s(&out), said_s);
        context.now_ns += 5_000_000_000;
        let decision = resolver.judge(&message, context, &mut out);
        assert_eq!(decision.forward, !caches_forwarded);
        if caches_forwarded {
            assert_eq!(ttls_s(&out), [WEEK_S - 5; 2]);
        }
    }
}

/// RFC 6840 section 5.8.
#[test]
fn what_upstream_validated_is_told_to_those_who_asked() {
    const AD: u8 = 0x20;
    for keeps in [true, false] {
        for (asks_by_ad, asks_by_do) in [(true, false), (false, true), (true, true), (false, false)]
        {
            for is_validated in [true, false] {
                let mut message = query("a.other.test.", RecordType::A);
                message.metadata.authentic_data = asks_by_ad;
                if asks_by_do {
                    let mut edns = ClientEdns::new();
                    edns.set_dnssec_ok(true);
                    message.edns = Some(edns);
                }
                let message = message.to_vec().unwrap();
                let mut upstream = query("a.other.test.", RecordType::A).to_vec().unwrap();
                upstream[2] |= 0x80;
                upstream[3] |= if is_validated { AD } else { 0 };
                upstream[7] = 1;
                upstream.extend(b"\xc0\x0c\x00\x01\x00\x01\0\0\0\x3c\x00\x04\xc0\x00\x02\x01");
                let settings = ResolverSettings {
                    forwards: true,
                    caches_forwarded: keeps,
                    ..ResolverSettings::default()
                };
                let mut resolver = Resolver::new(settings, zone(), Behaviours::default());
                let context = context(TransportLimits::Stream);
                let said = Some((Rcode::NoError, Some(60)));
                let mut out = upstream;
                resolver.finish_forwarded(&message, context, said, &mut out);
                let is_told = |out: &[u8]| out[3] & AD != 0;
                let expected = is_validated && (asks_by_ad || asks_by_do);
                let case = format!("{keeps} {asks_by_ad} {asks_by_do} {is_validated}");
                assert_eq!(is_told(&out), expected, "{case}");
                // From the cache alike; who asks otherwise is not served from the same entry.
                let kept = resolver.judge(&message, context, &mut out);
                assert_eq!(kept.forward, !keeps, "{case}");
                if keeps {
                    assert_eq!(is_told(&out), expected, "{case}");
                }
                let mut other = message.clone();
                other[3] ^= AD;
                assert!(resolver.judge(&other, context, &mut out).forward, "{case}");
            }
        }
    }
}

#[test]
fn nothing_of_the_own_zone_is_validated() {
    let mut message = query("page.resolab.test.", RecordType::A);
    message.metadata.authentic_data = true;
    let mut resolver = Resolver::new(ResolverSettings::default(), zone(), Behaviours::default());
    let mut out = Vec::new();
    resolver.judge(
        &message.to_vec().unwrap(),
        context(TransportLimits::Stream),
        &mut out,
    );
    assert!(!Message::from_vec(&out).unwrap().metadata.authentic_data);
}

/// Any query for one of the names: letters of any case, any id and flags, with EDNS or without.
fn any_query() -> impl Strategy<Value = Vec<u8>> {
    let edns = proptest::option::of((
        any::<u16>(),
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        0..2_u8,
    ));
    (
        proptest::sample::select(vec![
            "page", "alias", "gone", "long", "none", "a.b", "loop-1", "step-0",
        ]),
        any::<u64>(),
        proptest::sample::select(vec![1_u16, 2, 5, 6, 16, 28, 65, 252, 255, 731, 65_281]),
        proptest::sample::select(vec![1_u16, 1, 1, 1, 3, 255]),
        any::<[u8; 4]>(),
        edns,
    )
        .prop_map(|(name, case, qtype, class, head, edns)| {
            let mut message = head.to_vec();
            message[2] &= 0x01;
            message.extend([0, 1, 0, 0, 0, 0, 0, u8::from(edns.is_some())]);
            let wire = name_wire(&format!("{name}.resolab.test")).unwrap();
            let cased = wire.iter().enumerate().map(|(at, byte)| {
                if case >> (at % 64) & 1 == 1 {
                    byte.to_ascii_uppercase()
                } else {
                    *byte
                }
            });
            message.extend(cased);
            message.extend(qtype.to_be_bytes());
            message.extend(class.to_be_bytes());
            if let Some((size, dnssec_ok, padded, cookie, version)) = edns {
                let mut options = Vec::new();
                if padded {
                    options.extend([0, 12, 0, 3, 0, 0, 0]);
                }
                if cookie {
                    options.extend([0, 10, 0, 8]);
                    options.extend(case.to_be_bytes());
                }
                message.extend([0, 0, 41]);
                message.extend(size.to_be_bytes());
                message.extend([
                    0,
                    version,
                    u8::from(dnssec_ok) << 7,
                    0,
                    0,
                    options.len() as u8,
                ]);
                message.extend(options);
            }
            message
        })
}

proptest! {
    #[test]
    fn kept_answers_are_fresh_ones_and_can_be_read(
        queries in proptest::collection::vec(any_query(), 1..40),
    ) {
        let (mut kept, mut fresh) = (resolver(true), resolver(false));
        fresh.share_cookies(&kept);
        for message in queries.iter().chain(&queries) {
            for limits in [TransportLimits::Datagram, TransportLimits::Stream, TransportLimits::Encrypted] {
                let (mut from_kept, mut from_fresh) = (Vec::new(), Vec::new());
                let facts = kept.judge(message, context(limits), &mut from_kept).answer;
                prop_assert_eq!(facts, fresh.judge(message, context(limits), &mut from_fresh).answer);
                prop_assert_eq!(&from_kept, &from_fresh);
                let query = Query::parse(message).unwrap();
                let limit = match limits {
                    TransportLimits::Datagram => crate::dns::answer::datagram_limit(query.edns),
                    TransportLimits::Stream | TransportLimits::Encrypted => 65_535,
                };
                prop_assert!(from_kept.len() <= limit);
                prop_assert_eq!(&from_kept[..2], &message[..2]);
                let end = 12 + query.question.name.len() + 4;
                prop_assert_eq!(&from_kept[12..end], &message[12..end]);
                let read = Message::from_vec(&from_kept);
                prop_assert!(read.is_ok(), "{:?}", read);
                prop_assert_eq!(read.unwrap().edns.is_some(), query.edns.is_some());
            }
        }
    }
}
