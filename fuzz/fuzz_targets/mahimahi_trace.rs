//! A text read as a mahimahi trace.
#![no_main]

use libfuzzer_sys::fuzz_target;
use resolab_link::elements::trace::Trace;

fuzz_target!(|input: &str| {
    match Trace::parse(input) {
        Ok(trace) => {
            assert!(trace.period_ms() > 0 && trace.mean_rate_bps().is_finite());
            assert!(trace.opportunities_ms().is_sorted());
        }
        Err((line, _)) => assert!(line >= 1 && line <= input.lines().count().max(1)),
    }
});
