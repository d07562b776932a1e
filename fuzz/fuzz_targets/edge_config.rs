//! The edge's configuration file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use resolab_edge::EdgeConfig;

fuzz_target!(|input: &str| {
    if let Err(error) = EdgeConfig::parse(input, "fuzz.toml") {
        assert!(!error.to_string().contains('\n'), "{error}");
    }
});
