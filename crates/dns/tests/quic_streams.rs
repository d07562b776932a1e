//! What becomes of the streams of queries over QUIC, as their server sees it on the wire.

#![allow(clippy::unwrap_used)]

mod support;

use resolab_dns::{Asking, ClientOptions, Question, Slot};
use resolab_record::TicketPolicy;
use std::time::Duration;
use support::{PAUSE, TestResolver};

const WITHIN: Duration = Duration::from_secs(5);

#[tokio::test]
async fn no_stream_with_an_answer_is_stopped() {
    let resolver = TestResolver::start(TicketPolicy::None).await;
    for scheme in ["quic", "h3"] {
        let client = resolver.client(scheme, ClientOptions::default());
        let mut slot: Slot = None;
        for name in ["a", "halves", "unended", "trailers", "a"] {
            let question = Question::parse(&format!("{name}.test"), "A").unwrap();
            let asking = Asking::begin(&client, &question);
            let outcome = asking.ask(&mut slot, WITHIN).await;
            assert!(outcome.result.is_ok(), "{scheme}: {name}");
            // An end that comes after the answer finds nobody waiting for another one.
            tokio::time::sleep(PAUSE * 2).await;
        }
        let server = resolver.quic_connections.lock().unwrap().pop().unwrap();
        assert_eq!(server.stats().frame_rx.stop_sending, 0, "{scheme}");
        assert_eq!(server.stats().frame_rx.reset_stream, 0, "{scheme}");
        slot.unwrap().0.close().await;
    }
}
