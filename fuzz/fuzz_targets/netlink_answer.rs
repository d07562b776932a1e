//! The attributes of a netlink answer.
#![no_main]

use libfuzzer_sys::fuzz_target;
use resolab_link::fuzzing::netlink_attribute;

fuzz_target!(|input: &[u8]| {
    if let Some((wanted, attributes)) = input.split_first_chunk() {
        let _ = netlink_attribute(attributes, u16::from_ne_bytes(*wanted));
    }
});
