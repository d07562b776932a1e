//! The Brotli encoder (RFC 7932) for whole resources, before any request waits. The encoder is
//! generic, so the crate of its caller compiles the encoder. The release build compiles this crate
//! with opt-level 1, which takes less time (docs/decisions/0030). Not for: the choice of a coding.

/// The quality commonly used by servers for encoding once; far from the slowest.
const QUALITY: i32 = 6;
const WINDOW_BITS: i32 = 22;

/// Encodes bytes; the same bytes give the same result. Empty on failure.
pub fn encode(bytes: &[u8]) -> Vec<u8> {
    let params = brotli::enc::BrotliEncoderParams {
        quality: QUALITY,
        lgwin: WINDOW_BITS,
        size_hint: bytes.len(),
        ..Default::default()
    };
    let mut encoded = Vec::with_capacity(bytes.len() / 3 + 64);
    // Writing into memory does not fail.
    if brotli::BrotliCompress(&mut &bytes[..], &mut encoded, &params).is_err() {
        encoded.clear();
    }
    encoded
}
