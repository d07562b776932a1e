//! The rule for repeating a query on another connection after its connection ended: RFC 9113
//! sections 6.8 and 8.7 and RFC 9114 section 5.2 for GOAWAY, RFC 7766 section 6.2.4 for closed
//! connections. The deadline also limits repeats. Not for: asking.

/// The maximum number of repeats of a query. Browsers have up to 64 look-ups pending, so even a
/// resolver closing after each answer still answers all of them.
const REPEATS_MAX_COUNT: u32 = 64;

/// The way a connection ended under a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConnectionLoss {
    /// The connection had answered queries before, or had earlier queries to answer first.
    OfUsed,
    /// The query was the first on a new connection without any answer, or the resolver ended only
    /// the query's stream.
    InVain,
}

/// The connection ends met by one query so far.
#[derive(Debug)]
pub(super) struct QueryRepeats {
    count: u32,
    /// True when the next connection without any answer is the last.
    is_last_chance: bool,
}

impl QueryRepeats {
    /// Begins without any end. With `takes_first_end`, the first connection without any answer is
    /// the last.
    pub fn new(takes_first_end: bool) -> Self {
        Self {
            count: 0,
            is_last_chance: takes_first_end,
        }
    }

    /// Decides about asking the query again. After two new connections without any answer, the
    /// resolver does not want the query. Each connection has only one first query, so clients open
    /// few connections in vain.
    pub fn allow(&mut self, loss: ConnectionLoss) -> bool {
        let is_hopeless = match loss {
            ConnectionLoss::OfUsed => false,
            ConnectionLoss::InVain => std::mem::replace(&mut self.is_last_chance, true),
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
        let mut repeats = QueryRepeats::new(false);
        let met = [
            ConnectionLoss::OfUsed,
            ConnectionLoss::InVain,
            ConnectionLoss::OfUsed,
            ConnectionLoss::InVain,
        ];
        assert_eq!(
            met.map(|loss| repeats.allow(loss)),
            [true, true, true, false]
        );
        assert!(!QueryRepeats::new(true).allow(ConnectionLoss::InVain));
    }

    #[test]
    fn connections_that_answer_others_only_are_not_opened_for_ever() {
        let mut repeats = QueryRepeats::new(true);
        let allowed = (0..1_000).take_while(|_| repeats.allow(ConnectionLoss::OfUsed));
        assert_eq!(allowed.count(), 64);
    }
}
