//! Pauses between queries: constant, or random. Not for: the choice of queries.

use resolab_transport::exact_timer::wait_for;
use resolab_transport::split_mix::SplitMix64;
use std::time::Duration;

/// The distribution of pauses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum PauseDistribution {
    /// Each pause has the length of --interval-ms.
    Constant,
    /// Exponentially distributed with that mean, by --seed: independent queries.
    Exponential,
}

/// The generator of pause lengths.
pub(super) struct PauseSequence {
    mean: Duration,
    /// The random generator; `None` when all pauses are equal.
    draw: Option<SplitMix64>,
    is_first: bool,
}

impl PauseSequence {
    pub fn new(mean: Duration, intervals: PauseDistribution, seed: u64) -> Self {
        Self {
            mean,
            draw: (intervals == PauseDistribution::Exponential).then(|| SplitMix64::new(seed)),
            is_first: true,
        }
    }

    /// Waits between queries, not before the first query.
    pub async fn wait(&mut self) {
        let pause = self.next();
        if !pause.is_zero() {
            wait_for(pause).await;
        }
    }

    fn next(&mut self) -> Duration {
        if std::mem::take(&mut self.is_first) {
            return Duration::ZERO;
        }
        match &mut self.draw {
            None => self.mean,
            Some(draw) => self.mean.mul_f64(draw.draw_exponential()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use resolab_transport::clock::monotonic_ns;

    const MEAN: Duration = Duration::from_millis(200);

    fn drawn(intervals: PauseDistribution, seed: u64) -> Vec<Duration> {
        let mut pauses = PauseSequence::new(MEAN, intervals, seed);
        (0..20_001).map(|_| pauses.next()).collect()
    }

    #[test]
    fn constant_pauses_are_alike_but_for_the_first() {
        let pauses = drawn(PauseDistribution::Constant, 1);
        assert_eq!(pauses[0], Duration::ZERO);
        assert!(pauses[1..].iter().all(|pause| *pause == MEAN));
    }

    #[tokio::test]
    async fn a_pause_between_queries_lasts_as_long_as_it_says_at_least() {
        const PAUSE: Duration = Duration::from_micros(2_300);
        let mut pauses = PauseSequence::new(PAUSE, PauseDistribution::Constant, 1);
        pauses.wait().await;
        let begun_ns = monotonic_ns();
        pauses.wait().await;
        assert!(monotonic_ns() - begun_ns >= 2_300_000);
    }

    #[test]
    fn drawn_pauses_are_exponential_and_fixed_by_their_seed() {
        let pauses = drawn(PauseDistribution::Exponential, 7);
        assert_eq!(pauses, drawn(PauseDistribution::Exponential, 7));
        assert_ne!(pauses, drawn(PauseDistribution::Exponential, 8));
        let drawn = &pauses[1..];
        let mean = drawn.iter().sum::<Duration>().as_secs_f64() / drawn.len() as f64;
        assert!((mean - 0.2).abs() < 0.005, "{mean}");
        for share in [0.5_f64, 1.0, 3.0] {
            let longer = drawn.iter().filter(|pause| **pause > MEAN.mul_f64(share));
            let longer = longer.count() as f64 / drawn.len() as f64;
            assert!((longer - (-share).exp()).abs() < 0.015, "{share}: {longer}");
        }
    }
}
