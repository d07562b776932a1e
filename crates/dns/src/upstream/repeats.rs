//! When a query whose connection ended is asked again on another one: RFC 9113 sections 6.8 and 8.7 and
//! RFC 9114 section 5.2 for GOAWAY, RFC 7766 section 6.2.4 for connections that are closed. The deadline
//! bounds it, too. Not for: asking.

/// How often a query is asked again at most. Browsers have up to 64 look-ups under way: a resolver that
/// closes after each answer still answers all of them.
const REPEATS_MAX_COUNT: u32 = 64;

/// How a connection ended under a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Loss {
    /// The connection had answered queries before, or others were to be answered first.
    OfUsed,
    /// The query was the first on a new connection, which answered nothing; or the resolver ended the
    /// query's stream alone.
    InVain,
}

/// The ends that one query has met with so far.
#[derive(Debug)]
pub(super) struct Repeats {
    count: u32,
    /// True where the next connection that answers nothing is the last.
    is_last_chance: bool,
}

impl Repeats {
    /// None yet; with `takes_first_end` the first connection that answers nothing is the last.
    pub fn new(takes_first_end: bool) -> Self {
        Self {
            count: 0,
            is_last_chance: takes_first_end,
        }
    }

    /// Decide if the query is asked again. A resolver that twice answers nothing on a new connection does
    /// not want the query. Every connection has one first query, so that nobody opens many in vain.
    pub fn allow(&mut self, loss: Loss) -> bool {
        let is_hopeless = match loss {
            Loss::OfUsed => false,
            Loss::InVain => std::mem::replace(&mut self.is_last_chance, true),
        };
        self.count += 1;
        !is_hopeless && self.count <= REPEATS_MAX_COUNT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_asked_again_until_it_was_twice_in_vain() {
        let mut repeats = Repeats::new(false);
        let met = [Loss::OfUsed, Loss::InVain, Loss::OfUsed, Loss::InVain];
        assert_eq!(
            met.map(|loss| repeats.allow(loss)),
            [true, true, true, false]
        );
        assert!(!Repeats::new(true).allow(Loss::InVain));
    }

    #[test]
    fn connections_that_answer_others_only_are_not_opened_for_ever() {
        let mut repeats = Repeats::new(true);
        let allowed = (0..1_000).take_while(|_| repeats.allow(Loss::OfUsed));
        assert_eq!(allowed.count(), 64);
    }
}
