//! Loss on entry: each packet is lost with the same probability, independent of all others.
//! Not for: bursts, which need a process with memory (see `burst_loss`).

use crate::elements::random::RandomStream;

/// Independent loss of single packets.
#[derive(Debug, Clone)]
pub struct IndependentLoss {
    loss_ratio: f64,
    stream: RandomStream,
}

impl IndependentLoss {
    /// Loses a share `loss_ratio` of all packets, driven by `stream`.
    pub fn new(loss_ratio: f64, stream: RandomStream) -> Self {
        Self { loss_ratio, stream }
    }

    /// Changes to another ratio and, if given, another stream.
    pub fn change(&mut self, loss_ratio: f64, stream: Option<RandomStream>) {
        self.loss_ratio = loss_ratio;
        if let Some(stream) = stream {
            self.stream = stream;
        }
    }

    /// Returns true when the next packet is lost. Draws once per packet even at a ratio of 0. The
    /// n-th packet therefore meets the n-th draw under every earlier ratio.
    pub fn takes_next(&mut self) -> bool {
        self.stream.next_ratio() < self.loss_ratio
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn losses(loss_ratio: f64, seed: u64, count: usize) -> Vec<bool> {
        let mut loss = IndependentLoss::new(loss_ratio, RandomStream::derive(seed, "loss"));
        (0..count).map(|_| loss.takes_next()).collect()
    }

    #[test]
    fn nothing_and_everything() {
        assert!(losses(0.0, 1, 10_000).iter().all(|lost| !lost));
        assert!(losses(1.0, 1, 10_000).iter().all(|lost| *lost));
    }

    #[test]
    fn the_share_is_as_asked() {
        for seed in 1..=3 {
            let lost = losses(0.015, seed, 200_000)
                .iter()
                .filter(|lost| **lost)
                .count() as f64;
            let standard_error = (0.015_f64 * 0.985 / 200_000.0).sqrt();
            assert!(
                (lost / 200_000.0 - 0.015).abs() < 4.0 * standard_error,
                "{lost} lost"
            );
        }
    }

    #[test]
    fn same_seed_same_packets() {
        assert_eq!(losses(0.1, 5, 1_000), losses(0.1, 5, 1_000));
        assert_ne!(losses(0.1, 5, 1_000), losses(0.1, 6, 1_000));
    }

    #[test]
    fn a_change_of_ratio_keeps_the_draws_aligned() {
        let mut changed = IndependentLoss::new(0.0, RandomStream::derive(5, "loss"));
        for _ in 0..500 {
            changed.takes_next();
        }
        changed.change(0.1, None);
        let rest: Vec<bool> = (0..500).map(|_| changed.takes_next()).collect();
        assert_eq!(rest, losses(0.1, 5, 1_000)[500..]);
    }
}
