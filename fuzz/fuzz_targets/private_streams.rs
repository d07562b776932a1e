//! First bytes of a stream under the private ALPN, and the control stream's ORIGIN and
//! PRIORITY_UPDATE frames: the same for all divisions into pieces, and decided once.
#![no_main]

use libfuzzer_sys::fuzz_target;
use resolab_fuzz::pieces;
use resolab_http::private_alpn::{DNS_PREFIX, StreamKind, stream_kind};
use resolab_http::{ControlFrames, ControlReader, Origins, PriorityUpdates};
use std::sync::Arc;

fn read<'a>(
    wanted_by: impl ControlFrames + 'static,
    pieces: impl Iterator<Item = &'a [u8]>,
) -> String {
    let wanted_by = Arc::new(wanted_by);
    let mut reader = ControlReader::new(wanted_by.clone());
    pieces.for_each(|piece| reader.feed(piece));
    format!("{wanted_by:?}")
}

fn is_the_same_in_pieces<F: ControlFrames + Default + 'static>(input: &[u8]) {
    let (whole, pieces) = pieces(input);
    let at_once = read(F::default(), std::iter::once(whole));
    assert_eq!(read(F::default(), pieces), at_once);
}

fuzz_target!(|input: &[u8]| {
    let (whole, _) = pieces(input);
    let kind = stream_kind(whole);
    assert_eq!(
        kind == Some(StreamKind::Dns),
        whole.starts_with(&DNS_PREFIX)
    );
    for end in 0..whole.len().min(8) {
        let early = stream_kind(&whole[..end]);
        assert!(early.is_none() || early == kind, "{whole:02x?}");
    }
    is_the_same_in_pieces::<Origins>(input);
    is_the_same_in_pieces::<PriorityUpdates>(input);
});
