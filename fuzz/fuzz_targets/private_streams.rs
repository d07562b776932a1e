//! First bytes of a stream under the private ALPN, and the control stream's ORIGIN frames: the same
//! whatever the pieces, and decided once.
#![no_main]

use libfuzzer_sys::fuzz_target;
use resolab_fuzz::pieces;
use resolab_http::private_alpn::{DNS_PREFIX, StreamKind, stream_kind};
use resolab_http::{OriginReader, Origins};

fn read<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> String {
    let origins = Origins::default();
    let mut reader = OriginReader::new(origins.clone());
    pieces.for_each(|piece| reader.feed(piece));
    format!("{origins:?}")
}

fuzz_target!(|input: &[u8]| {
    let (whole, pieces) = pieces(input);
    let kind = stream_kind(whole);
    assert_eq!(kind == Some(StreamKind::Dns), whole.starts_with(&DNS_PREFIX));
    for end in 0..whole.len().min(8) {
        let early = stream_kind(&whole[..end]);
        assert!(early.is_none() || early == kind, "{whole:02x?}");
    }
    assert_eq!(read(pieces), read(std::iter::once(whole)));
});
