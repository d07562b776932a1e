//! A link profile's file, and packets over the profile's link; profiles naming other files are
//! skipped.
#![no_main]

use libfuzzer_sys::fuzz_target;
use resolab_link::fuzzing::{read_profile, released_count};

const PACKETS_COUNT: u64 = 20;

fuzz_target!(|input: &str| {
    if input.contains("trace_file") || input.contains('/') {
        return;
    }
    if let Some(profile) = read_profile(input) {
        assert!(profile.mtu_bytes.is_some());
        assert!(released_count(&profile, PACKETS_COUNT) <= 2 * PACKETS_COUNT as usize);
    }
});
