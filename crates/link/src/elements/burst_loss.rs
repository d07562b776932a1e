//! Loss in bursts on entry: the chain of Gilbert and Elliott, two states with different loss
//! probabilities. The order is netem's: the state moves first, then the state before the move
//! decides the packet's loss. Not for: loss without memory (see `loss`).

use crate::elements::random::RandomStream;
use resolab_record::GilbertElliott;

/// Bursty loss, possibly switched off.
#[derive(Debug, Clone)]
pub struct BurstLoss {
    chain: Option<Chain>,
    is_bad: bool,
    stream: RandomStream,
}

#[derive(Debug, Clone, Copy)]
struct Chain {
    good: State,
    bad: State,
}

#[derive(Debug, Clone, Copy)]
struct State {
    leave_ratio: f64,
    loss_ratio: f64,
}

impl BurstLoss {
    /// Makes a chain in the good state, driven by `stream`.
    pub fn new(wanted: Option<&GilbertElliott>, stream: RandomStream) -> Self {
        Self {
            chain: wanted.map(Chain::new),
            is_bad: false,
            stream,
        }
    }

    /// Changes to another chain, keeping the present state; a new stream begins in the good state.
    pub fn change(&mut self, wanted: Option<&GilbertElliott>, stream: Option<RandomStream>) {
        self.chain = wanted.map(Chain::new);
        if let Some(stream) = stream {
            self.stream = stream;
            self.is_bad = false;
        }
    }

    /// Returns true when the next packet is lost. Draws twice per packet even without a chain. The
    /// n-th packet therefore meets the n-th draws under every profile in force before.
    pub fn takes_next(&mut self) -> bool {
        let (move_draw, loss_draw) = (self.stream.next_ratio(), self.stream.next_ratio());
        let Some(chain) = &self.chain else {
            self.is_bad = false;
            return false;
        };
        let was_bad = self.is_bad;
        let state = if was_bad { chain.bad } else { chain.good };
        self.is_bad = was_bad != (move_draw < state.leave_ratio);
        loss_draw < state.loss_ratio
    }
}

impl Chain {
    fn new(wanted: &GilbertElliott) -> Self {
        Self {
            good: State {
                leave_ratio: wanted.good_to_bad_ratio,
                loss_ratio: wanted.good_loss_ratio.unwrap_or(0.0),
            },
            bad: State {
                leave_ratio: wanted.bad_to_good_ratio,
                loss_ratio: wanted.bad_loss_ratio.unwrap_or(1.0),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn chain(good_to_bad_ratio: f64, bad_to_good_ratio: f64) -> GilbertElliott {
        GilbertElliott {
            good_to_bad_ratio,
            bad_to_good_ratio,
            good_loss_ratio: None,
            bad_loss_ratio: None,
        }
    }

    fn losses(wanted: &GilbertElliott, seed: u64, count: usize) -> Vec<bool> {
        let mut loss = BurstLoss::new(Some(wanted), RandomStream::derive(seed, "burst"));
        (0..count).map(|_| loss.takes_next()).collect()
    }

    fn share(lost: &[bool]) -> f64 {
        lost.iter().filter(|lost| **lost).count() as f64 / lost.len() as f64
    }

    fn mean_burst(lost: &[bool]) -> f64 {
        let begun = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count();
        share(lost) * lost.len() as f64 / begun as f64
    }

    /// Mean p / (p + r), bursts 1 / r; the chain's memory multiplies the variance of the mean by
    /// (1 + c) / (1 - c) with c = 1 - p - r.
    #[test]
    fn mean_and_bursts_are_the_closed_forms() {
        const COUNT: usize = 1_000_000;
        for (seed, to_bad, to_good) in [(1, 0.005, 0.3), (2, 0.005, 0.3), (3, 0.02, 0.5)] {
            let lost = losses(&chain(to_bad, to_good), seed, COUNT);
            let mean = to_bad / (to_bad + to_good);
            let memory = 1.0 - to_bad - to_good;
            let variance = mean * (1.0 - mean) * (1.0 + memory) / (1.0 - memory) / COUNT as f64;
            assert!(
                (share(&lost) - mean).abs() < 4.0 * variance.sqrt(),
                "{}",
                share(&lost)
            );
            let bursts = COUNT as f64 * to_bad * to_good / (to_bad + to_good);
            let error = (1.0 - to_good).sqrt() / to_good / bursts.sqrt();
            assert!(
                (mean_burst(&lost) - 1.0 / to_good).abs() < 4.0 * error,
                "{}",
                mean_burst(&lost)
            );
        }
    }

    #[test]
    fn each_state_loses_its_own_share() {
        let mixed = GilbertElliott {
            good_loss_ratio: Some(0.01),
            bad_loss_ratio: Some(0.4),
            ..chain(0.1, 0.3)
        };
        let wanted = 0.75 * 0.01 + 0.25 * 0.4;
        assert!((share(&losses(&mixed, 1, 1_000_000)) - wanted).abs() < 0.002);
    }

    /// A chain moving after every packet loses every second packet; the first packet is in the good
    /// state.
    #[test]
    fn the_state_before_the_move_decides() {
        let lost = losses(&chain(1.0, 1.0), 1, 6);
        assert_eq!(lost, [false, true, false, true, false, true]);
    }

    #[test]
    fn a_new_stream_restarts_the_pattern() {
        let wanted = chain(0.2, 0.3);
        let mut loss = BurstLoss::new(Some(&wanted), RandomStream::derive(1, "burst"));
        let first: Vec<bool> = (0..200).map(|_| loss.takes_next()).collect();
        loss.change(Some(&wanted), Some(RandomStream::derive(1, "burst")));
        let again: Vec<bool> = (0..200).map(|_| loss.takes_next()).collect();
        assert_eq!(first, again);
        loss.change(None, None);
        assert!((0..200).all(|_| !loss.takes_next()));
    }

    proptest! {
        #[test]
        fn any_chain_keeps_its_mean(to_bad in 0.02_f64..0.9, to_good in 0.1_f64..0.9, seed in 0_u64..1_000) {
            let got = share(&losses(&chain(to_bad, to_good), seed, 100_000));
            let mean = to_bad / (to_bad + to_good);
            let memory = 1.0 - to_bad - to_good;
            let variance = mean * (1.0 - mean) * (1.0 + memory) / (1.0 - memory) / 100_000.0;
            prop_assert!((got - mean).abs() < 6.0 * variance.sqrt(), "{got} for {mean}");
        }
    }
}
