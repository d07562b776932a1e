//! The DNS message of an HTTP response, read from status, media type and body.
#![no_main]

use libfuzzer_sys::fuzz_target;
use resolab_dns::fuzzing::read_http_response;
use resolab_fuzz::take_prefixed;

fuzz_target!(|input: &[u8]| {
    let Some((status, mut rest)) = input.split_first_chunk::<2>() else {
        return;
    };
    let status = u16::from_be_bytes(*status);
    let Some(media_type) = take_prefixed(&mut rest) else {
        return;
    };
    if let Some(message) = read_http_response(status, media_type, rest) {
        assert_eq!((status, &message[..]), (200, rest));
        let text = String::from_utf8_lossy(media_type).to_ascii_lowercase();
        assert!(
            text.trim_start().starts_with("application/dns-message"),
            "{text:?}"
        );
    }
});
