//! A query to the edge: the answers can be read and have the query's id.
#![no_main]

use hickory_proto::op::Message;
use libfuzzer_sys::fuzz_target;
use resolab_edge::fuzzing::Resolvers;

fuzz_target!(|input: &[u8]| {
    let answers = Resolvers::new().answers(input);
    if let Some(datagram) = &answers[0].0 {
        assert!(datagram.len() <= 1_232);
    }
    for answer in answers.iter().flat_map(|(fresh, _)| fresh) {
        assert_eq!(answer[..2], input[..2]);
        assert!(Message::from_vec(answer).is_ok(), "{answer:02x?}");
    }
});
