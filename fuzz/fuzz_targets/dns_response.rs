//! A resolver's response: the match with the query, the content, the cookie. The input is the
//! response without the header's first two bytes and, if the first byte is odd, without the
//! question. Mutations therefore pass the check of the echoed question.
#![no_main]

use libfuzzer_sys::fuzz_target;
use resolab_dns::edns::QueryEdns;
use resolab_dns::edns::cookie::{SentCookie, cookie_of, state_of};
use resolab_dns::message::{build_query, check_echo, read_response};
use resolab_dns::question::Question;
use std::sync::LazyLock;

static QUERY: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let question = Question::parse("a.test", "A").expect("a name");
    build_query(&question, 0x5a5a, &QueryEdns::default()).expect("a query")
});
/// End of the question `a.test` in the query, in bytes.
const QUESTION_END: usize = 12 + 8 + 4;

fuzz_target!(|input: &[u8]| {
    let response = match input {
        [first, flags_and_counts @ ..] if first % 2 == 1 && flags_and_counts.len() >= 10 => {
            let (head, records) = flags_and_counts.split_at(10);
            [&QUERY[..2], head, &QUERY[12..QUESTION_END], records].concat()
        }
        _ => input.to_vec(),
    };
    let is_echo = check_echo(&QUERY, &response).is_ok();
    let Ok(read) = read_response(&response) else {
        return;
    };
    assert!(read.answer_count > 0 || read.ttl_s.is_none());
    assert!(read.addresses.len() <= read.answer_count as usize);
    if is_echo && read.is_answer {
        assert_eq!(read.message.queries.len(), 1);
    }
    let cookie = cookie_of(&read.message);
    let _ = state_of(cookie);
    let _ = SentCookie::new([1; 8], &[2; 8]).check_unconnected(cookie);
});
