//! A client's first bytes, as TLS records and in QUIC's form. After a complete reading, more bytes
//! change nothing. Reading in two parts gives the same result as reading at once.
#![no_main]

use libfuzzer_sys::fuzz_target;
use resolab_transport::server::{ClientHello, HelloProgress, RecordReader};

fuzz_target!(|input: &[u8]| {
    let half = &input[..input.len() / 2];
    if input.len() > 65_536 {
        return;
    }
    let early = ClientHello::from_handshake(half);
    if early != HelloProgress::Incomplete {
        assert_eq!(early, ClientHello::from_handshake(input));
    }
    let mut reader = RecordReader::default();
    let early = reader.read(half);
    let at_once = RecordReader::default().read(input);
    if early == HelloProgress::Incomplete {
        assert_eq!(reader.read(input), at_once);
    } else {
        assert_eq!(early, at_once);
    }
});
