//! Functions shared by fuzz targets. Not for: the targets themselves, one file each in
//! `fuzz_targets/`.

/// Divides the input into pieces, for readers of streams; the first byte decides the length.
pub fn pieces(input: &[u8]) -> (&[u8], impl Iterator<Item = &[u8]>) {
    let (step, whole) = input.split_first().map_or((1, input), |(step, rest)| {
        (usize::from(*step % 64) + 1, rest)
    });
    (whole, whole.chunks(step))
}

/// Takes a byte string behind a two-byte length off the front; returns the rest when the input is
/// shorter.
pub fn take_prefixed<'a>(input: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, rest) = input.split_first_chunk::<2>()?;
    let length = usize::from(u16::from_be_bytes(*length)).min(rest.len());
    let (taken, left) = rest.split_at(length);
    *input = left;
    Some(taken)
}

/// Returns all byte strings of the input, each behind a two-byte length.
pub fn prefixed(mut input: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || take_prefixed(&mut input))
}
