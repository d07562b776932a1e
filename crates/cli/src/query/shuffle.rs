//! The order of resolvers, drawn anew for each question from a seed.

/// Fisher-Yates with SplitMix64: the same seed gives the same order on every machine.
pub(super) struct Shuffle(pub u64);

impl Shuffle {
    /// Bring `order` into another one.
    pub fn apply(&mut self, order: &mut [usize]) {
        for last in (1..order.len()).rev() {
            let pick = (self.next() % (last as u64 + 1)) as usize;
            order.swap(last, pick);
        }
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_fixes_the_orders_and_they_are_all_reached() {
        let orders = |seed| {
            let (mut shuffle, mut order) = (Shuffle(seed), vec![0, 1, 2]);
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
