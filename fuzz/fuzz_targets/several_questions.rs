//! A message with several questions through the edge: taken apart, answered, put together, and read
//! by the client. In the end the client knows all answers, for any room in a message.
#![no_main]

use libfuzzer_sys::fuzz_target;
use resolab_dns::Question;
use resolab_dns::partial::{AnswerCollection, LengthLimits, MultiQuestionMessage};
use resolab_edge::fuzzing::Resolvers;

fuzz_target!(|input: &[u8]| {
    let Some((first, message)) = input.split_first() else {
        return;
    };
    let Some(several) = MultiQuestionMessage::read(message) else {
        return;
    };
    let room = LengthLimits {
        limit_bytes: 512 + 64 * usize::from(*first),
        padding_block_bytes: usize::from(*first % 3) * 100,
    };
    let singles: Vec<_> = several.singles().collect();
    let mut resolvers = Resolvers::new();
    let answers: Vec<_> = singles
        .iter()
        .filter_map(|single| resolvers.answers(single)[1].0.clone())
        .collect();
    let pieces: Vec<_> = answers.iter().map(Vec::as_slice).collect();
    let combined = several.combine(&pieces, true, room);
    let questions = singles.iter().filter_map(|single| {
        let read = hickory_proto::op::Message::from_vec(single).ok()?;
        Question::from_message(&read)
    });
    let mut gathering = AnswerCollection::new(questions.collect());
    for one in &combined {
        let id = u16::from_be_bytes([message[0], message[1]]);
        gathering
            .take(id, &one.message, 1)
            .expect("our own response");
    }
    // What is no query alone is answered without its question, and the edge begins no such message.
    let has_questions = answers.iter().all(|answer| answer[4..6] == [0, 1]);
    assert_eq!(combined.is_empty(), !has_questions || pieces.is_empty());
    if !combined.is_empty() {
        assert_eq!(
            combined.iter().map(|one| one.count).sum::<usize>(),
            pieces.len()
        );
    }
});
