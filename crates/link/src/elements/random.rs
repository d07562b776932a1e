//! The random streams of the loss processes: xoshiro256++ (Blackman and Vigna, 2019), seeded by
//! SplitMix64 from a number and a label. The same seed therefore gives the same drop pattern on
//! every machine and for ever. Not for: secrets.

/// A stream of random numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RandomStream {
    state: [u64; 4],
}

impl RandomStream {
    /// Derives the stream named `label` under `seed`; different labels give unrelated streams.
    pub fn derive(seed: u64, label: &str) -> Self {
        let mut counter = seed ^ fnv1a(label.as_bytes());
        Self {
            state: std::array::from_fn(|_| split_mix(&mut counter)),
        }
    }

    /// Returns the next 64 random bits.
    pub fn next_bits(&mut self) -> u64 {
        let [s0, s1, s2, s3] = &mut self.state;
        let result = s0.wrapping_add(*s3).rotate_left(23).wrapping_add(*s0);
        let shifted = *s1 << 17;
        *s2 ^= *s0;
        *s3 ^= *s1;
        *s1 ^= *s2;
        *s0 ^= *s3;
        *s2 ^= shifted;
        *s3 = s3.rotate_left(45);
        result
    }

    /// Returns a uniform number in [0, 1), with all 53 bits of a double.
    pub fn next_ratio(&mut self) -> f64 {
        const SCALE: f64 = 1.0 / (1_u64 << 53) as f64;
        (self.next_bits() >> 11) as f64 * SCALE
    }
}

fn split_mix(counter: &mut u64) -> u64 {
    *counter = counter.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *counter;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First outputs of the authors' reference implementation from state 1, 2, 3, 4.
    #[test]
    fn matches_the_reference_sequence() {
        let mut stream = RandomStream {
            state: [1, 2, 3, 4],
        };
        let expected = [
            41_943_041,
            58_720_359,
            3_588_806_011_781_223,
            3_591_011_842_654_386,
        ];
        assert_eq!(expected.map(|_| stream.next_bits()), expected);
    }

    /// First outputs of the reference SplitMix64 from 1234567.
    #[test]
    fn seeding_matches_the_reference_sequence() {
        let mut counter = 1_234_567;
        assert_eq!(split_mix(&mut counter), 6_457_827_717_110_365_317);
        assert_eq!(split_mix(&mut counter), 3_203_168_211_198_807_973);
    }

    #[test]
    fn streams_differ_by_label_and_by_seed_only() {
        let first = |seed, label| RandomStream::derive(seed, label).next_bits();
        assert_eq!(first(7, "loss/up"), first(7, "loss/up"));
        assert_ne!(first(7, "loss/up"), first(7, "loss/down"));
        assert_ne!(first(7, "loss/up"), first(8, "loss/up"));
    }

    #[test]
    fn ratios_are_uniform_in_the_unit_interval() {
        let mut stream = RandomStream::derive(1, "test");
        let draws: Vec<f64> = (0..100_000).map(|_| stream.next_ratio()).collect();
        assert!(draws.iter().all(|draw| (0.0..1.0).contains(draw)));
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        assert!((mean - 0.5).abs() < 0.005, "mean {mean}");
    }
}
