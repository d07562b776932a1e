//! Queries in sequence, each behind a length. Cached data of earlier queries changes no later
//! answer.
#![no_main]

use libfuzzer_sys::fuzz_target;
use resolab_edge::fuzzing::Resolvers;
use resolab_fuzz::prefixed;

fuzz_target!(|input: &[u8]| {
    let mut resolvers = Resolvers::new();
    for query in prefixed(input).take(64) {
        for (fresh, kept) in resolvers.answers(query) {
            assert_eq!(fresh, kept, "{query:02x?}");
        }
    }
});
