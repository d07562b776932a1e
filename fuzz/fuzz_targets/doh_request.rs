//! A DoH request: method, media type, target and content, a line each except the content. The
//! result is a message or a refusal; the message of a GET is shorter than the target.
#![no_main]

use http::{HeaderValue, Method, Request};
use libfuzzer_sys::fuzz_target;
use resolab_edge::fuzzing::doh_message;

fuzz_target!(|input: &[u8]| {
    let mut lines = input.splitn(4, |byte| *byte == b'\n');
    let mut line = || lines.next().unwrap_or_default();
    let (method, media_type, target, body) = (line(), line(), line(), line());
    let (Ok(method), Ok(media_type)) = (
        Method::from_bytes(method),
        HeaderValue::from_bytes(media_type),
    ) else {
        return;
    };
    let head = Request::builder()
        .method(method)
        .uri(target)
        .header("content-type", media_type);
    let Ok(head) = head.body(()) else {
        return;
    };
    match doh_message(&head, body) {
        Ok(message) if head.method() == Method::POST => assert_eq!(message, body),
        Ok(message) => assert!(message.len() < target.len()),
        Err(status) => assert!([400, 405, 415].contains(&status.as_u16())),
    }
});
