//! A client's first bytes, as TLS records and as QUIC carries them: once read, more bytes change
//! nothing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use resolab_transport::server::{ClientHello, Progress};

fuzz_target!(|input: &[u8]| {
    for read in [ClientHello::from_handshake, ClientHello::from_records] {
        let whole = read(input);
        let half = read(&input[..input.len() / 2]);
        if half != Progress::Incomplete && input.len() <= 65_536 {
            assert_eq!(half, whole);
        }
    }
});
