//! A query to the edge: its answers can be read and have the query's id.
#![no_main]

use hickory_proto::op::Message;
use libfuzzer_sys::fuzz_target;
use resolab_edge::fuzzing::{FuzzZone, answers, zone};
use std::sync::LazyLock;

static ZONE: LazyLock<FuzzZone> = LazyLock::new(zone);

fuzz_target!(|input: &[u8]| {
    let answers = answers(input, &ZONE);
    if let Some(datagram) = &answers[0] {
        assert!(datagram.len() <= 1_232);
    }
    for answer in answers.iter().flatten() {
        assert_eq!(answer[..2], input[..2]);
        assert!(Message::from_vec(answer).is_ok(), "{answer:02x?}");
    }
});
