//! A zone file and an included file, the second behind a form feed. The result is records, well
//! formed and answered, or an error of one line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use resolab_edge::fuzzing::{zone_answers, zone_records};

fuzz_target!(|input: &str| {
    let (text, more) = input.split_once('\u{c}').unwrap_or((input, ""));
    match zone_records(text, more) {
        Ok(records) => {
            for answer in zone_answers(records) {
                // At least header and question, and none refused.
                assert!(answer.len() >= 17 && answer[3] & 15 != 5, "{answer:02x?}");
            }
        }
        Err(error) => assert!(!error.contains('\n'), "{error}"),
    }
});
