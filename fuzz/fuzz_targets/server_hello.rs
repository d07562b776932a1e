//! A server's handshake bytes: the result does not depend on the division into pieces.
#![no_main]

use libfuzzer_sys::fuzz_target;
use resolab_fuzz::pieces;
use resolab_transport::client::fuzzing::read_server_hello;

fuzz_target!(|input: &[u8]| {
    let (whole, pieces) = pieces(input);
    let found = read_server_hello(pieces);
    assert_eq!(found, read_server_hello(std::iter::once(whole)));
});
