//! The unanswered queries of one connection, found by message id. An id is a slot and a generation.
//! The generation tells apart late answers, second answers, and messages answering no query. Not
//! for: checking the question of an answer.

use std::collections::VecDeque;

/// The most slots of a connection. With more slots, an id has too few generations to detect old
/// answers.
pub const SLOTS_MAX: usize = 1 << 14;
const NONE: u32 = u32::MAX;
const ID_BITS: u32 = 16;

/// The state of a slot's query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Unused,
    Waiting,
    Answered,
    GivenUp,
}

/// A query without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitingQuery {
    /// The number of the queried name.
    pub name: u32,
    /// The planned send time of the query.
    pub wanted_ns: u64,
    /// The last send time. Waiting queries are kept in this order.
    pub sent_ns: u64,
    /// The first send time. The timeout and the response time count from here.
    pub first_sent_ns: u64,
}

#[derive(Debug, Clone, Copy)]
struct QuerySlot {
    query: WaitingQuery,
    generation: u16,
    state: State,
    /// The state of the slot's query before.
    previous: State,
    /// The neighbours among the waiting queries, in the order of sending.
    earlier: u32,
    later: u32,
}

/// The owner of a message id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdOwner {
    /// A query still waiting.
    Waiting(WaitingQuery),
    /// A query given up before.
    GivenUp,
    /// A query already answered.
    Answered,
    /// The id of no query ever sent.
    Nothing,
}

/// The query slots of one connection.
#[derive(Debug)]
pub struct Slots {
    entries: Vec<QuerySlot>,
    /// The free slots, longest unused first.
    free: VecDeque<u16>,
    index_bits: u32,
    oldest: u32,
    newest: u32,
}

impl Slots {
    /// Creates room for `count` queries, `SLOTS_MAX` at most.
    pub fn new(count: usize) -> Self {
        let count = count.clamp(1, SLOTS_MAX);
        let unused = QuerySlot {
            query: WaitingQuery {
                name: 0,
                wanted_ns: 0,
                sent_ns: 0,
                first_sent_ns: 0,
            },
            generation: 0,
            state: State::Unused,
            previous: State::Unused,
            earlier: NONE,
            later: NONE,
        };
        Self {
            entries: vec![unused; count],
            free: (0..count as u16).collect(),
            index_bits: count.next_power_of_two().ilog2(),
            oldest: NONE,
            newest: NONE,
        }
    }

    /// Returns the number of free slots.
    pub fn room(&self) -> usize {
        self.free.len()
    }

    /// Returns the number of waiting queries.
    pub fn waiting_count(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// Takes a slot for a query and returns the message id. The slot waits from now on.
    pub fn take(&mut self, query: WaitingQuery) -> Option<u16> {
        let index = self.free.pop_front()?;
        let mask = u16::MAX >> self.index_bits;
        let (newest, index_bits) = (self.newest, self.index_bits);
        let slot = &mut self.entries[usize::from(index)];
        slot.previous = slot.state;
        slot.state = State::Waiting;
        slot.generation = slot.generation.wrapping_add(1) & mask;
        slot.query = query;
        slot.earlier = newest;
        slot.later = NONE;
        let id = u32::from(slot.generation) << index_bits | u32::from(index);
        match newest {
            NONE => self.oldest = u32::from(index),
            newest => self.entries[newest as usize].later = u32::from(index),
        }
        self.newest = u32::from(index);
        Some(id as u16)
    }

    /// Records the send time of a query with a new id. Without a schedule, `sent_ns` is also the
    /// planned time.
    pub fn note_sent(&mut self, id: u16, sent_ns: u64, wanted_ns: Option<u64>) {
        let index = self.index_of(id);
        let query = &mut self.entries[index].query;
        (query.sent_ns, query.first_sent_ns) = (sent_ns, sent_ns);
        query.wanted_ns = wanted_ns.unwrap_or(sent_ns);
    }

    /// Returns the owner of a message id.
    pub fn find(&self, id: u16) -> IdOwner {
        let Some(slot) = self.entries.get(self.index_of(id)) else {
            return IdOwner::Nothing;
        };
        let generation = self.generation_of(id);
        let mask = u16::MAX >> self.index_bits;
        let state = if generation == slot.generation {
            slot.state
        } else if generation == slot.generation.wrapping_sub(1) & mask {
            slot.previous
        } else {
            State::Unused
        };
        match state {
            State::Waiting => IdOwner::Waiting(slot.query),
            State::GivenUp => IdOwner::GivenUp,
            State::Answered => IdOwner::Answered,
            State::Unused => IdOwner::Nothing,
        }
    }

    /// Marks the waiting query with this id as answered.
    pub fn note_answer(&mut self, id: u16) {
        self.end(self.index_of(id), State::Answered);
    }

    /// Returns the send time of the oldest waiting query.
    pub fn oldest_sent_ns(&self) -> Option<u64> {
        self.entries
            .get(self.oldest as usize)
            .map(|slot| slot.query.sent_ns)
    }

    /// Gives up the oldest waiting query; returns `false` without a waiting query.
    pub fn give_up_oldest(&mut self) -> bool {
        let has = self.oldest != NONE;
        if has {
            self.end(self.oldest as usize, State::GivenUp);
        }
        has
    }

    /// Gives up the queries sent before `instant_ns`; returns their number.
    pub fn give_up_before(&mut self, instant_ns: u64) -> u64 {
        let mut count = 0;
        while self
            .oldest_sent_ns()
            .is_some_and(|sent_ns| sent_ns < instant_ns)
        {
            self.give_up_oldest();
            count += 1;
        }
        count
    }

    /// Gives up all waiting queries; returns their number.
    pub fn give_up_all(&mut self) -> u64 {
        let count = self.waiting_count() as u64;
        while self.give_up_oldest() {}
        count
    }

    fn end(&mut self, index: usize, state: State) {
        let slot = &mut self.entries[index];
        debug_assert_eq!(slot.state, State::Waiting);
        slot.state = state;
        let (earlier, later) = (slot.earlier, slot.later);
        match earlier {
            NONE => self.oldest = later,
            earlier => self.entries[earlier as usize].later = later,
        }
        match later {
            NONE => self.newest = earlier,
            later => self.entries[later as usize].earlier = earlier,
        }
        self.free.push_back(index as u16);
    }

    fn index_of(&self, id: u16) -> usize {
        usize::from(id) & ((1 << self.index_bits) - 1)
    }

    fn generation_of(&self, id: u16) -> u16 {
        debug_assert!(self.index_bits < ID_BITS);
        id >> self.index_bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn query(name: u32) -> WaitingQuery {
        WaitingQuery {
            name,
            wanted_ns: 0,
            sent_ns: u64::from(name),
            first_sent_ns: u64::from(name),
        }
    }

    #[test]
    fn an_answer_is_found_once_then_it_is_a_second_one() {
        let mut slots = Slots::new(10);
        let id = slots.take(query(7)).unwrap();
        assert_eq!(slots.find(id), IdOwner::Waiting(query(7)));
        assert_eq!((slots.room(), slots.waiting_count()), (9, 1));
        slots.note_answer(id);
        assert_eq!(slots.find(id), IdOwner::Answered);
        assert_eq!(slots.waiting_count(), 0);
    }

    #[test]
    fn an_old_id_is_known_for_one_more_generation_of_its_slot() {
        let mut slots = Slots::new(1);
        let first = slots.take(query(1)).unwrap();
        assert_eq!(slots.give_up_before(1), 0);
        assert_eq!(slots.give_up_before(2), 1);
        assert_eq!(slots.find(first), IdOwner::GivenUp);
        let second = slots.take(query(2)).unwrap();
        assert_ne!(first, second);
        assert_eq!(slots.find(first), IdOwner::GivenUp);
        slots.note_answer(second);
        slots.take(query(3)).unwrap();
        assert_eq!(slots.find(first), IdOwner::Nothing);
        assert_eq!(slots.find(second), IdOwner::Answered);
    }

    #[test]
    fn ids_beyond_the_slots_are_nobodys() {
        let mut slots = Slots::new(10);
        for name in 0..10 {
            slots.take(query(name)).unwrap();
        }
        assert_eq!(slots.take(query(10)), None);
        assert_eq!(slots.find(0x0010 | 15), IdOwner::Nothing);
        assert_eq!(Slots::new(1 << 20).room(), SLOTS_MAX);
    }

    #[test]
    fn a_query_without_a_schedule_is_wanted_when_it_is_sent() {
        let mut slots = Slots::new(4);
        let id = slots.take(query(0)).unwrap();
        slots.note_sent(id, 50, None);
        let IdOwner::Waiting(found) = slots.find(id) else {
            panic!();
        };
        assert_eq!((found.wanted_ns, found.sent_ns), (50, 50));
        slots.note_sent(id, 60, Some(40));
        let IdOwner::Waiting(found) = slots.find(id) else {
            panic!();
        };
        assert_eq!((found.wanted_ns, found.sent_ns), (40, 60));
    }

    proptest! {
        /// Compares the slots with a map, after any sequence of taking, answering and giving up.
        /// Ids of waiting queries differ and find their own query; the oldest queries are given up
        /// first.
        #[test]
        fn agrees_with_a_map(count in 1..40_usize, steps in prop::collection::vec(0..4_u8, 1..400)) {
            let mut slots = Slots::new(count);
            let mut waiting: HashMap<u16, u32> = HashMap::new();
            for (now, step) in steps.into_iter().enumerate() {
                let now = now as u32;
                let any = waiting.keys().min().copied();
                match (step, any) {
                    (0 | 1, _) => {
                        let id = slots.take(query(now));
                        prop_assert_eq!(id.is_some(), waiting.len() < count);
                        if let Some(id) = id {
                            prop_assert!(waiting.insert(id, now).is_none());
                        }
                    }
                    (2, Some(id)) => {
                        slots.note_answer(id);
                        waiting.remove(&id);
                    }
                    _ => {
                        let oldest = waiting.values().min().copied();
                        prop_assert_eq!(slots.oldest_sent_ns(), oldest.map(u64::from));
                        prop_assert_eq!(slots.give_up_oldest(), oldest.is_some());
                        waiting.retain(|_, name| Some(*name) != oldest);
                    }
                }
                prop_assert_eq!(slots.waiting_count(), waiting.len());
                for (id, name) in &waiting {
                    prop_assert_eq!(slots.find(*id), IdOwner::Waiting(query(*name)));
                }
            }
        }
    }
}
