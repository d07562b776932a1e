//! A UDP datagram: the long headers of the QUIC packets inside.
#![no_main]

use libfuzzer_sys::fuzz_target;
use resolab_link::fuzzing::long_headers_count;

fuzz_target!(|input: &[u8]| {
    // The shortest packet with a long header: first byte, version, two empty ids, an empty length.
    assert!(long_headers_count(input) <= input.len() as u64 / 8 + 1);
});
