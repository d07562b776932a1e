//! A histogram of nanoseconds with a bounded size and a bounded relative error (1/64): linear
//! within each power of two. Not for: exact quantiles of few values. Only the largest value is
//! exact.

/// Linear steps per power of two, as a power of two.
const STEP_BITS: u32 = 6;
const STEPS: usize = 1 << STEP_BITS;
/// Values from 2^40 ns (18 minutes) on share the last bucket.
const VALUE_BITS: u32 = 40;
const BUCKET_COUNT: usize = (VALUE_BITS - STEP_BITS + 1) as usize * STEPS;

/// Counts of values by size.
#[derive(Debug, Clone)]
pub struct Histogram {
    buckets: Box<[u64]>,
    count: u64,
    max: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            buckets: vec![0; BUCKET_COUNT].into_boxed_slice(),
            count: 0,
            max: 0,
        }
    }
}

impl Histogram {
    /// Counts a value `times` times.
    pub fn record(&mut self, value: u64, times: u64) {
        self.buckets[bucket_of(value)] += times;
        self.count += times;
        self.max = self.max.max(value);
    }

    /// Returns the number of values counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the largest value; `None` without values.
    pub fn max(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max)
    }

    /// Returns the quantile for `ratio`: a bound on at least this share of all values, rounded up
    /// to the end of a bucket. `None` without values.
    pub fn quantile(&self, ratio: f64) -> Option<u64> {
        let wanted = ((self.count as f64 * ratio).ceil() as u64).max(1);
        let mut seen = 0;
        for (index, count) in self.buckets.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return Some(last_of_bucket(index).min(self.max));
            }
        }
        None
    }
}

fn bucket_of(value: u64) -> usize {
    let value = value.min((1 << VALUE_BITS) - 1);
    if value < STEPS as u64 {
        return value as usize;
    }
    let octave = value.ilog2() - STEP_BITS;
    let step = (value >> octave) as usize - STEPS;
    (octave as usize + 1) * STEPS + step
}

fn last_of_bucket(index: usize) -> u64 {
    if index < STEPS {
        return index as u64;
    }
    let octave = index / STEPS - 1;
    let step = (index % STEPS + STEPS) as u64;
    ((step + 1) << octave) - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn empty_has_no_quantiles() {
        let empty = Histogram::default();
        assert_eq!(
            (empty.quantile(0.5), empty.max(), empty.count()),
            (None, None, 0)
        );
    }

    #[test]
    fn small_values_are_exact() {
        let mut histogram = Histogram::default();
        for value in 1..=63 {
            histogram.record(value, 1);
        }
        assert_eq!(histogram.quantile(0.5), Some(32));
        assert_eq!(histogram.quantile(1.0), Some(63));
    }

    #[test]
    fn a_huge_value_is_the_maximum() {
        let mut histogram = Histogram::default();
        histogram.record(u64::MAX, 1);
        histogram.record(5, 1);
        assert_eq!(histogram.max(), Some(u64::MAX));
        assert_eq!(histogram.quantile(0.5), Some(5));
    }

    proptest! {
        #[test]
        fn buckets_cover_every_value_once(value in 0_u64..1 << VALUE_BITS) {
            let index = bucket_of(value);
            prop_assert!(value <= last_of_bucket(index));
            prop_assert!(index == 0 || value > last_of_bucket(index - 1));
        }

        #[test]
        fn quantiles_are_within_the_error(
            mut values in prop::collection::vec(0_u64..10_000_000_000, 1..400),
            ratio in 0.0_f64..1.0,
        ) {
            let mut histogram = Histogram::default();
            for value in &values {
                histogram.record(*value, 1);
            }
            values.sort_unstable();
            let rank = ((values.len() as f64 * ratio).ceil() as usize).max(1);
            let exact = values[rank - 1];
            let got = histogram.quantile(ratio).unwrap();
            prop_assert!(got >= exact && got - exact <= exact / 64, "{got} for {exact}");
        }
    }
}
