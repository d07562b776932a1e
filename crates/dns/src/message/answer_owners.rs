//! Selects the records of an answer section answering the question: the records of the queried name
//! and of its aliases (RFC 1034 section 5.3.3, RFC 5452 section 6). Not for: reading the records'
//! data.

use hickory_proto::op::{Message, Query};
use hickory_proto::rr::{Name, RData, Record, RecordType};
use std::collections::{HashMap, HashSet};

/// The names whose records answer a question. `None` when the response repeats no question: then
/// the response has an error code, and its other records cannot be judged.
pub(super) struct AnswerOwners<'a>(Option<HashSet<&'a Name>>);

impl<'a> AnswerOwners<'a> {
    /// Collects the names of a response, independent of the order of the aliases.
    pub fn from_message(message: &'a Message) -> Self {
        if message.queries.is_empty() {
            return Self(None);
        }
        let aliases = aliases(&message.answers);
        let mut owners = HashSet::new();
        let mut found: Vec<&Name> = message.queries.iter().map(Query::name).collect();
        while let Some(name) = found.pop() {
            if owners.insert(name) {
                found.extend(aliases.get(name).into_iter().flatten());
            }
        }
        Self(Some(owners))
    }

    /// Returns true when a record of the answer section answers the question. A DNAME above one of
    /// the names is the source of the name's alias (RFC 6672 section 3.1).
    pub fn answer_by(&self, record: &Record) -> bool {
        let Some(owners) = &self.0 else {
            return true;
        };
        let is_above = |owner: &&Name| record.name.zone_of(owner);
        owners.contains(&record.name)
            || (record.record_type() == RecordType::DNAME && owners.iter().any(is_above))
    }
}

fn aliases(answers: &[Record]) -> HashMap<&Name, Vec<&Name>> {
    let mut aliases = HashMap::<_, Vec<_>>::new();
    for record in answers {
        if let RData::CNAME(target) = &record.data {
            aliases.entry(&record.name).or_default().push(&target.0);
        }
    }
    aliases
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::presentation::read_name;
    use crate::question::Question;
    use hickory_proto::op::{MessageType, OpCode};
    use hickory_proto::rr::rdata::{A, CNAME, NULL};

    fn record(owner: &str, data: RData) -> Record {
        Record::from_rdata(read_name(owner).unwrap(), 60, data)
    }

    fn alias(owner: &str, target: &str) -> Record {
        record(owner, RData::CNAME(CNAME(read_name(target).unwrap())))
    }

    fn address(owner: &str) -> Record {
        record(owner, RData::A(A::new(192, 0, 2, 1)))
    }

    fn answering(name: &str, records: Vec<Record>) -> Vec<bool> {
        let question = Question::parse(name, "A").unwrap();
        let mut message = Message::new(0, MessageType::Response, OpCode::Query);
        message.add_query(Query::query(question.name, question.record_type));
        message.answers = records;
        let owners = AnswerOwners::from_message(&message);
        let records = message.answers.iter();
        records.map(|record| owners.answer_by(record)).collect()
    }

    #[test]
    fn only_the_name_and_its_aliases_answer() {
        let foreign = answering("a.test", vec![address("victim.test"), address("A.Test")]);
        assert_eq!(foreign, [false, true]);
        let backwards = vec![
            address("C.test"),
            alias("b.test", "c.test"),
            alias("a.test", "B.test"),
        ];
        assert_eq!(answering("a.test", backwards), [true; 3]);
        let broken = vec![
            alias("a.test", "b.test"),
            alias("x.test", "c.test"),
            address("c.test"),
        ];
        assert_eq!(answering("a.test", broken), [true, false, false]);
        let round = vec![alias("a.test", "b.test"), alias("b.test", "a.test")];
        assert_eq!(answering("a.test", round), [true; 2]);
    }

    #[test]
    fn a_dname_answers_for_what_is_below_it() {
        let data = RData::Unknown {
            code: RecordType::DNAME,
            rdata: NULL::with(b"\x01z\0".to_vec()),
        };
        let records = vec![
            record("b.test", data.clone()),
            alias("a.b.test", "a.z"),
            address("a.z"),
            record("other.test", data),
        ];
        assert_eq!(answering("a.b.test", records), [true, true, true, false]);
    }

    #[test]
    fn many_aliases_take_no_time_that_grows_with_their_square() {
        let name = |index: u32| format!("a{index}.test");
        let chain = (0..20_000).rev();
        let records = chain.map(|index| alias(&name(index), &name(index + 1)));
        assert_eq!(answering("a0.test", records.collect()), vec![true; 20_000]);
    }
}
