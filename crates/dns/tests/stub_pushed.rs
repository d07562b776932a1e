//! Answers that the stub has before it is asked for them.

#![allow(clippy::unwrap_used)]

use crate::support::TestResolver;
use crate::support::stub::{Running, start};
use hickory_proto::op::ResponseCode;
use resolab_dns::ClientOptions;
use resolab_record::{QueryPurpose, QueryRecord, TicketPolicy};

const PUSHED_TYPES_COUNT: usize = 3;

async fn start_pushing(resolver: &TestResolver, names: &[&str]) -> Running {
    let client = resolver.client("quic", ClientOptions::default());
    let stub = start(client, 1000).await;
    push(&stub, names);
    stub
}

fn push(stub: &Running, names: &[&str]) {
    let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
    stub.stub.push_answers(&names).unwrap();
}

/// Names that were asked for this purpose, each once for each type.
fn asked(records: &[QueryRecord], purpose: QueryPurpose) -> Vec<&str> {
    let mut names: Vec<_> = records
        .iter()
        .filter(|record| record.purpose == purpose)
        .map(|record| record.qname.as_str())
        .collect();
    names.sort_unstable();
    names
}

#[tokio::test]
async fn names_are_asked_for_with_the_first_query_and_not_again() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    let stub = start_pushing(&resolver, &["b.test", "c.test", "a.test"]).await;
    stub.ask("a.test", 1).await;
    // The first query is an address of a name that is pushed as well.
    let records = stub.records(3 * PUSHED_TYPES_COUNT).await;
    assert_eq!(asked(&records, QueryPurpose::Forwarded), ["a.test."]);
    let pushed = ["a.test.", "a.test.", "b.test.", "b.test.", "b.test."];
    assert_eq!(asked(&records, QueryPurpose::Pushed)[..5], pushed);
    assert!(records.iter().all(|record| record.failure.is_none()));
    for (id, name) in [(2, "b.test"), (3, "C.test"), (4, "b.test")] {
        let reply = stub.ask(name, id).await;
        assert_eq!((reply.metadata.id, reply.answers.len()), (id, 1));
    }
    stub.ask("d.test", 5).await;
    let records = stub.records(1).await;
    assert_eq!(asked(&records, QueryPurpose::Forwarded), ["d.test."]);
}

#[tokio::test]
async fn who_asks_before_the_answer_is_there_waits_for_it() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    let stub = start_pushing(&resolver, &["late.test"]).await;
    stub.ask("a.test", 1).await;
    let reply = stub.ask("late.test", 2).await;
    assert_eq!(reply.answers.len(), 1);
    let records = stub.records(1 + PUSHED_TYPES_COUNT).await;
    assert_eq!(asked(&records, QueryPurpose::Forwarded), ["a.test."]);
}

#[tokio::test]
async fn what_was_pushed_ends_with_its_connection_and_what_failed_is_asked_again() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    let stub = start_pushing(&resolver, &["b.test", "silent.test", "servfail.test"]).await;
    stub.ask("a.test", 1).await;
    for (id, name) in [(2, "silent.test"), (3, "servfail.test")] {
        let reply = stub.ask(name, id).await;
        assert_eq!(reply.metadata.response_code, ResponseCode::ServFail);
    }
    let records = stub.records(2 + 3 * PUSHED_TYPES_COUNT).await;
    let forwarded = asked(&records, QueryPurpose::Forwarded);
    // An error is an answer.
    assert_eq!(forwarded, ["a.test.", "silent.test."]);
    stub.stub.close_connections(false).await;
    stub.ask("b.test", 4).await;
    let anew = stub.records(1).await;
    assert_eq!(asked(&anew, QueryPurpose::Forwarded), ["b.test."]);
    assert!(stub.stub.push_answers(&["a..test".to_owned()]).is_err());
}
