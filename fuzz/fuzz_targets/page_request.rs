//! The length of a body in eight bytes, then fields of a request for the body, a line each. The
//! part sent is within the body.
#![no_main]

use http::{HeaderMap, HeaderName, HeaderValue};
use libfuzzer_sys::fuzz_target;
use resolab_edge::fuzzing::page_part;

fuzz_target!(|input: &[u8]| {
    let Some((length, text)) = input.split_first_chunk::<8>() else {
        return;
    };
    let len_bytes = u64::from_be_bytes(*length);
    let mut fields = HeaderMap::new();
    for line in text.split(|byte| *byte == b'\n') {
        let (name, value) = line.split_at(line.iter().position(|byte| *byte == b':').unwrap_or(0));
        let value = value.get(1..).unwrap_or_default();
        if let (Ok(name), Ok(value)) =
            (HeaderName::from_bytes(name), HeaderValue::from_bytes(value))
        {
            fields.append(name, value);
        }
    }
    if let Some(part) = page_part(&fields, len_bytes) {
        assert!(part.start < part.end && part.end <= len_bytes);
    }
});
