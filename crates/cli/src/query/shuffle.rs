//! The random order of resolvers, drawn anew for each question from a seed.

use resolab_transport::split_mix::SplitMix64;

/// A Fisher-Yates shuffle: the same seed gives the same order on every machine.
pub(super) struct ResolverShuffle(SplitMix64);

impl ResolverShuffle {
    pub fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    /// Shuffles `order` in place.
    pub fn apply(&mut self, order: &mut [usize]) {
        for last in (1..order.len()).rev() {
            let pick = (self.0.draw() % (last as u64 + 1)) as usize;
            order.swap(last, pick);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_fixes_the_orders_and_they_are_all_reached() {
        let orders = |seed| {
            let (mut shuffle, mut order) = (ResolverShuffle::new(seed), vec![0, 1, 2]);
            let mut next = || {
                shuffle.apply(&mut order);
                order.clone()
            };
            (0..60).map(|_| next()).collect::<Vec<_>>()
        };
        assert_eq!(orders(7), orders(7));
        assert_ne!(orders(7), orders(8));
        let distinct: std::collections::HashSet<_> = orders(7).into_iter().collect();
        assert_eq!(distinct.len(), 6);
    }
}
