//! Variable-length integers (RFC 9000 section 16). Not for: the meaning of the integers.

use bytes::{BufMut, BytesMut};

/// An integer arriving in pieces.
#[derive(Debug, Clone, Default)]
pub(crate) struct Varint {
    value: u64,
    missing: Option<u8>,
}

impl Varint {
    /// Returns true when any byte of the integer has come.
    pub fn has_begun(&self) -> bool {
        self.missing.is_some()
    }

    /// Takes bytes of the integer off the front; returns the value when complete.
    pub fn take(&mut self, bytes: &mut &[u8]) -> Option<u64> {
        while let Some((&byte, rest)) = bytes.split_first() {
            *bytes = rest;
            let missing = match self.missing {
                None => {
                    self.value = u64::from(byte & 0x3f);
                    (1_u8 << (byte >> 6)) - 1
                }
                Some(missing) => {
                    self.value = self.value << 8 | u64::from(byte);
                    missing - 1
                }
            };
            self.missing = Some(missing);
            if missing == 0 {
                return Some(self.value);
            }
        }
        None
    }
}

/// Takes a complete integer off the front of the bytes.
pub(crate) fn take_varint(bytes: &mut &[u8]) -> Option<u64> {
    Varint::default().take(bytes)
}

/// Appends an integer in the smallest number of bytes.
pub(crate) fn put_varint(buffer: &mut BytesMut, value: u64) {
    match value {
        0..=0x3f => buffer.put_u8(value as u8),
        0x40..=0x3fff => buffer.put_u16(value as u16 | 0x4000),
        0x4000..=0x3fff_ffff => buffer.put_u32(value as u32 | 0x8000_0000),
        _ => buffer.put_u64(value | 0xc000_0000_0000_0000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 9000 appendix A.1.
    #[test]
    fn integers_are_as_the_standard_says() {
        let examples: [(u64, &[u8]); 4] = [
            (37, &[0x25]),
            (15_293, &[0x7b, 0xbd]),
            (494_878_333, &[0x9d, 0x7f, 0x3e, 0x7d]),
            (
                151_288_809_941_952_652,
                &[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c],
            ),
        ];
        for (value, bytes) in examples {
            let mut written = BytesMut::new();
            put_varint(&mut written, value);
            assert_eq!(written, bytes);
            assert_eq!(take_varint(&mut &bytes[..]), Some(value));
            assert_eq!(take_varint(&mut &bytes[..bytes.len() - 1]), None);
        }
    }
}
