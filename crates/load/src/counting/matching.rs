//! Matches a received message to a waiting query, or counts the message apart. Not for: receiving.

use crate::counting::slots::{IdOwner, Slots};
use crate::counting::{Tally, answer};
use crate::names::QueryTemplates;

/// Books a message received at `received_ns`.
pub fn book(
    slots: &mut Slots,
    names: &QueryTemplates,
    message: &[u8],
    received_ns: u64,
    tally: &mut Tally,
) {
    let Some(id) = answer::id_of(message) else {
        tally.alien_count += 1;
        return;
    };
    match slots.find(id) {
        IdOwner::Waiting(query) => match answer::read(names.get(query.name), message) {
            Some(answer) => {
                let times = (query.wanted_ns, query.first_sent_ns, received_ns);
                tally.note_completion(times, answer, message.len());
                slots.note_answer(id);
            }
            None => tally.alien_count += 1,
        },
        IdOwner::GivenUp => tally.late_count += 1,
        IdOwner::Answered => tally.duplicate_count += 1,
        IdOwner::Nothing => tally.alien_count += 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counting::slots::WaitingQuery;

    #[test]
    fn each_message_is_booked_once_and_in_its_place() {
        let names = QueryTemplates::parse("a.test", None, false).unwrap();
        let (mut slots, mut tally) = (Slots::new(1), Tally::new(false, u64::MAX));
        let query = WaitingQuery {
            name: 0,
            wanted_ns: 5,
            sent_ns: 5,
            first_sent_ns: 5,
        };
        let answer_to = |id: u16| {
            let mut message = names.get(0).message.to_vec();
            message[..2].copy_from_slice(&id.to_be_bytes());
            message[2] |= 0x80;
            message
        };
        let mut book = |slots: &mut Slots, message: &[u8]| {
            super::book(slots, &names, message, 9, &mut tally);
            let apart = (tally.late_count, tally.duplicate_count, tally.alien_count);
            (tally.completed_count, apart)
        };
        let id = slots.take(query).unwrap();
        let mut other = answer_to(id);
        other[13] ^= 1;
        assert_eq!(book(&mut slots, &other), (0, (0, 0, 1)));
        assert_eq!(book(&mut slots, &answer_to(id)), (1, (0, 0, 1)));
        assert_eq!(book(&mut slots, &answer_to(id)), (1, (0, 1, 1)));
        let id = slots.take(query).unwrap();
        slots.give_up_all();
        assert_eq!(book(&mut slots, &answer_to(id)), (1, (1, 1, 1)));
        assert_eq!(book(&mut slots, b"short"), (1, (1, 1, 2)));
        assert_eq!(book(&mut slots, &answer_to(id ^ 0x8000)), (1, (1, 1, 3)));
    }
}
