//! Frames of an HTTP/2 server to the load generator, in pieces. Each request ends once at most, and
//! a protocol violation ends the connection.
#![no_main]

use libfuzzer_sys::fuzz_target;
use resolab_fuzz::pieces;
use resolab_load::fuzzing::FuzzedRequests;

fuzz_target!(|input: &[u8]| {
    let (_, pieces) = pieces(input);
    let mut requests = FuzzedRequests::opened(20);
    for piece in pieces {
        if requests.receive(piece).is_none() {
            break;
        }
    }
    assert!(requests.ended_counts().iter().all(|count| *count <= 1));
});
