//! Partial responses in sequence, and the questions answered by each. The input is pieces, each
//! behind a length byte. Each piece is a response without the header's first two bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use resolab_dns::Question;
use resolab_dns::partial::AnswerCollection;

const ID: u16 = 0x5a5a;

fuzz_target!(|input: &[u8]| {
    let names = ["a.test", "b.test", "a.test", "c.w.test"];
    let question = |name: &&str| Question::parse(name, "A").expect("a name");
    let questions: Vec<_> = names.iter().map(question).collect();
    let mut gathering = AnswerCollection::new(questions);
    let mut rest = input;
    while let Some((length, more)) = rest.split_first() {
        let (piece, after) = more.split_at(usize::from(*length).min(more.len()));
        rest = after;
        let message = [&ID.to_be_bytes()[..], piece].concat();
        let missing = gathering.missing();
        let count = gathering.response_count();
        match gathering.take(ID, &message, 1) {
            Ok(taken) => {
                assert_eq!(gathering.response_count(), count + 1);
                assert_eq!(missing.len() - taken.len(), gathering.missing().len());
                for (place, part) in taken {
                    assert!(missing.contains(&place));
                    assert_eq!(part.response.message.queries.len(), 1);
                }
            }
            Err(_) => assert_eq!(gathering.missing(), missing),
        }
    }
});
