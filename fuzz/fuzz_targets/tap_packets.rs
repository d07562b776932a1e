//! Packets of hosts on the path, read by the tap.
#![no_main]

use libfuzzer_sys::fuzz_target;
use resolab_fuzz::prefixed;
use resolab_link::fuzzing::tap_packets;

fuzz_target!(|input: &[u8]| {
    let flows = tap_packets(prefixed(input));
    assert!(flows.len() <= prefixed(input).count());
});
