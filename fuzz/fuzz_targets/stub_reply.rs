//! Two messages, a client's query and an upstream's response. The stub's replies can be read and
//! stay within the client's limit.
#![no_main]

use hickory_proto::op::Message;
use libfuzzer_sys::fuzz_target;
use resolab_dns::Question;
use resolab_dns::fuzzing::stub_replies;
use resolab_fuzz::take_prefixed;

fuzz_target!(|input: &[u8]| {
    let mut rest = input;
    let Some(query) = take_prefixed(&mut rest) else {
        return;
    };
    let (Ok(query), Ok(response)) = (Message::from_vec(query), Message::from_vec(rest)) else {
        return;
    };
    let Some(question) = Question::from_message(&query) else {
        return;
    };
    let _ = (question.name_text(), question.type_text());
    let limit = query
        .edns
        .as_ref()
        .map_or(512, |edns| edns.max_payload().max(512));
    let [by_udp, by_tcp, failed] = stub_replies(&query, &response);
    assert!(by_udp.len() <= usize::from(limit) && by_tcp.len() <= 65_535);
    for reply in [by_udp, by_tcp, failed] {
        let reply = Message::from_vec(&reply).expect("a reply is a message");
        assert_eq!(reply.metadata.id, query.metadata.id);
    }
});
