//! A link profile's file; those that name other files are left out.
#![no_main]

use libfuzzer_sys::fuzz_target;
use resolab_link::fuzzing::read_profile;

fuzz_target!(|input: &str| {
    if input.contains("trace_file") || input.contains('/') {
        return;
    }
    if let Some(profile) = read_profile(input) {
        assert!(profile.mtu_bytes.is_some());
    }
});
