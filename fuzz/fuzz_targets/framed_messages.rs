//! Messages on a byte stream: the same for all divisions into pieces, and nothing is lost.
#![no_main]

use libfuzzer_sys::fuzz_target;
use resolab_dns::fuzzing::take_messages;
use resolab_fuzz::pieces;

fuzz_target!(|input: &[u8]| {
    let (whole, pieces) = pieces(input);
    let (messages, left) = take_messages(pieces);
    let at_once = take_messages(std::iter::once(whole));
    assert_eq!((&messages, left), (&at_once.0, at_once.1));
    let taken: usize = messages.iter().map(|message| message.len() + 2).sum();
    assert_eq!(taken + left, whole.len());
});
