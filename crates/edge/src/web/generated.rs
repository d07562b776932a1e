//! Bodies of any size made from a seed, byte for byte the same each time and from any offset on.
//!
//! For: pages of exact sizes without files. Not for: randomness anybody relies on.

use bytes::{Bytes, BytesMut};
use std::ops::Range;
use std::sync::LazyLock;

/// What the bytes are like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Texture {
    /// Words of seven letters, eight a line: shrinks to about a fifth.
    Text,
    /// Nothing a compressor could take away.
    Noise,
}

/// A stretch of the bytes of one seed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generated {
    seed: u64,
    texture: Texture,
    at: u64,
    end: u64,
}

/// Bytes made in one step.
const UNIT_BYTES: usize = 8;
const WORDS_PER_LINE: u64 = 8;

static WORDS: LazyLock<[[u8; UNIT_BYTES]; 256]> = LazyLock::new(|| {
    std::array::from_fn(|index| {
        let mut bits = mixed(index as u64);
        let mut word = [b' '; UNIT_BYTES];
        for letter in &mut word[..UNIT_BYTES - 1] {
            *letter = b'a' + (bits % 26) as u8;
            bits /= 26;
        }
        word
    })
});

impl Generated {
    /// The first `len` bytes of a seed.
    pub fn new(seed: u64, texture: Texture, len: u64) -> Self {
        Self {
            seed,
            texture,
            at: 0,
            end: len,
        }
    }

    /// Bytes left.
    pub fn len(&self) -> u64 {
        self.end - self.at
    }

    /// A part of what is left.
    pub fn part(&self, range: Range<u64>) -> Self {
        Self {
            at: self.at + range.start,
            end: self.at + range.end,
            ..self.clone()
        }
    }

    /// Make the next bytes, at most `limit_bytes`.
    pub fn next(&mut self, limit_bytes: usize) -> Bytes {
        let count = self.len().min(limit_bytes as u64) as usize;
        let mut skip = (self.at % UNIT_BYTES as u64) as usize;
        let mut unit = self.at / UNIT_BYTES as u64;
        let mut bytes = BytesMut::with_capacity(count);
        while bytes.len() < count {
            let made = self.unit(unit);
            let wanted = (UNIT_BYTES - skip).min(count - bytes.len());
            bytes.extend_from_slice(&made[skip..skip + wanted]);
            skip = 0;
            unit += 1;
        }
        self.at += count as u64;
        bytes.freeze()
    }

    /// Tells this content from every other of the same seed.
    pub fn fingerprint(&self) -> String {
        let texture = match self.texture {
            Texture::Text => 't',
            Texture::Noise => 'n',
        };
        format!("{:x}{texture}{:x}-{:x}", self.seed, self.at, self.end)
    }

    fn unit(&self, index: u64) -> [u8; UNIT_BYTES] {
        match self.texture {
            Texture::Noise => mixed(self.seed.wrapping_add(index)).to_le_bytes(),
            Texture::Text => {
                let line = mixed(self.seed.wrapping_add(index / WORDS_PER_LINE)).to_le_bytes();
                let place = (index % WORDS_PER_LINE) as usize;
                let mut word = WORDS[usize::from(line[place])];
                if place + 1 == line.len() {
                    word[UNIT_BYTES - 1] = b'\n';
                }
                word
            }
        }
    }
}

/// One output of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), for the state after `index` steps.
pub fn mixed(index: u64) -> u64 {
    let mut z = index.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(texture: Texture, len: u64) -> Vec<u8> {
        let mut generated = Generated::new(7, texture, len);
        let mut bytes = Vec::new();
        while generated.len() > 0 {
            bytes.extend_from_slice(&generated.next(4_097));
        }
        bytes
    }

    #[test]
    fn any_part_is_the_part_of_the_whole() {
        for texture in [Texture::Text, Texture::Noise] {
            let all = whole(texture, 10_001);
            assert_eq!(all.len(), 10_001);
            for (start, end) in [(0, 1), (3, 4_000), (63, 65), (9_999, 10_001), (5, 5)] {
                let mut part = Generated::new(7, texture, 10_001).part(start..end);
                let bytes = part.next(usize::MAX);
                assert_eq!(&bytes[..], &all[start as usize..end as usize]);
            }
            assert_ne!(all, {
                let mut other = Generated::new(8, texture, 10_001);
                other.next(usize::MAX)
            });
        }
    }

    #[test]
    fn text_shrinks_and_noise_does_not() {
        let shrunk = |texture| {
            let bytes = whole(texture, 100_000);
            super::super::encoding::Encoding::Gzip.encode(&bytes).len()
        };
        assert!(
            (10_000..40_000).contains(&shrunk(Texture::Text)),
            "{}",
            shrunk(Texture::Text)
        );
        assert!(shrunk(Texture::Noise) > 99_000);
        let text = whole(Texture::Text, 64);
        assert!(text.ends_with(b"\n") && text.is_ascii());
    }
}
