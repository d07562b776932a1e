//! What fuzz targets share. Not for: the targets themselves, one file each in `fuzz_targets/`.

/// The input in pieces whose lengths its first byte decides, to feed what reads a stream.
pub fn pieces(input: &[u8]) -> (&[u8], impl Iterator<Item = &[u8]>) {
    let (step, whole) = input.split_first().map_or((1, input), |(step, rest)| {
        (usize::from(*step % 64) + 1, rest)
    });
    (whole, whole.chunks(step))
}

/// A byte string behind its length, in two bytes, off the front; what is left when that is short.
pub fn take_prefixed<'a>(input: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, rest) = input.split_first_chunk::<2>()?;
    let length = usize::from(u16::from_be_bytes(*length)).min(rest.len());
    let (taken, left) = rest.split_at(length);
    *input = left;
    Some(taken)
}

/// All byte strings of the input, each behind its length in two bytes.
pub fn prefixed(mut input: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || take_prefixed(&mut input))
}
