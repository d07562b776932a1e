//! One speculative request: sent when allowed, then compared with the browser's request and the
//! name's answer. Not for: choosing the request.

use crate::exchange::SentUpstreamRequest;
use crate::gateway_state::GatewayState;
use crate::upstream::UpstreamConnection;
use http::Request;
use resolab_http::streaming::{BodyReader, BodyWriter, ResponseReader};
use resolab_record::{
    ConnectionReason, CoverageSource, DiscardedBecause, GatewaySpeculationRecord, Record,
    Speculation,
};
use resolab_transport::clock::monotonic_ns;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use tokio::time::timeout;

/// A speculative request, sent or not, and its record.
pub(super) struct SpeculativeRequest {
    request: Option<SentSpeculation>,
    record: GatewaySpeculationRecord,
    records: Sender<Record>,
}

/// A speculative request already sent.
struct SentSpeculation {
    head: Request<()>,
    connection: Arc<UpstreamConnection>,
    response: ResponseReader,
}

impl SpeculativeRequest {
    /// Sends the request, when the resolver's connection is known to cover the name.
    pub async fn send_allowed(
        gateway_state: &Arc<GatewayState>,
        host: String,
        head: Option<Request<()>>,
        query_ns: u64,
    ) -> Self {
        let mut speculative = Self {
            request: None,
            record: GatewaySpeculationRecord {
                load: *gateway_state.load.borrow(),
                host,
                speculation: Speculation::NotSent,
                discarded_because: None,
                connection_id: None,
                coverage_source: None,
                path: None,
                query_ns,
                sent_ns: None,
                discarded_body_bytes: None,
            },
            records: gateway_state.records.clone(),
        };
        if let Some(head) = head {
            speculative.send(gateway_state, head).await;
        }
        speculative
    }

    async fn send(&mut self, gateway_state: &Arc<GatewayState>, head: Request<()>) {
        let at_most = gateway_state.options.deadline;
        let opened = timeout(at_most, gateway_state.upstreams.resolvers_opened()).await;
        let Ok(Some(connection)) = opened else {
            return;
        };
        let coverage = gateway_state
            .upstreams
            .coverage(&self.record.host, &connection);
        let Some(coverage) = coverage else {
            return;
        };
        let Ok((_, response)) = connection.begin(head.clone(), true, at_most).await else {
            return;
        };
        let record = &mut self.record;
        record.sent_ns = Some(monotonic_ns());
        record.connection_id = Some(connection.identity.id);
        record.coverage_source = Some(coverage);
        record.path = head.uri().path_and_query().map(ToString::to_string);
        self.request = Some(SentSpeculation {
            head,
            connection,
            response,
        });
    }

    /// Judges the speculative request against the browser's request; returns the sent request when
    /// usable.
    pub async fn judge(
        mut self,
        gateway_state: &Arc<GatewayState>,
        head: &Request<()>,
    ) -> (Speculation, Option<SentUpstreamRequest>) {
        let Some(underway) = self.request.as_ref() else {
            return (Speculation::NotSent, None);
        };
        if !is_same(&underway.head, head) {
            return self.log_discarded(DiscardedBecause::OtherRequest).await;
        }
        let connection = Arc::clone(&underway.connection);
        let reason = gateway_state
            .upstreams
            .find_shareable(&self.record.host, &connection);
        let Some(reason) = reason.await else {
            return self.log_discarded(DiscardedBecause::NotShared).await;
        };
        self.record.speculation = Speculation::Used;
        let sent = self.request.take().map(|request| request.used(reason));
        (Speculation::Used, sent)
    }

    async fn log_discarded(
        self,
        because: DiscardedBecause,
    ) -> (Speculation, Option<SentUpstreamRequest>) {
        self.discard(because).await;
        (Speculation::Discarded, None)
    }

    /// Discards the speculative request and records the reason. The record also has the number of
    /// body bytes received by now.
    pub async fn discard(mut self, because: DiscardedBecause) {
        let Some(mut underway) = self.request.take() else {
            return;
        };
        self.record.speculation = Speculation::Discarded;
        self.record.discarded_because = Some(because);
        self.record.discarded_body_bytes = Some(drain_arrived(&mut underway.response).await);
    }
}

impl Drop for SpeculativeRequest {
    /// Writes the record, when nothing more can happen to the request.
    fn drop(&mut self) {
        if self.request.is_some() {
            // The browser took its request back in the middle of its being judged.
            self.record.speculation = Speculation::Discarded;
            self.record.discarded_because = Some(DiscardedBecause::Unclaimed);
        }
        let record = Record::GatewaySpeculation(Box::new(self.record.clone()));
        // The reader is gone only when the gateway is ending.
        let _ = self.records.send(record);
    }
}

impl SentSpeculation {
    fn used(self, reason: ConnectionReason) -> SentUpstreamRequest {
        SentUpstreamRequest {
            body: BodyWriter::nothing(),
            response: self.response,
            connection: self.connection,
            reason,
        }
    }
}

/// Returns true for the same method, target and fields, in any order.
fn is_same(request: &Request<()>, other: &Request<()>) -> bool {
    request.method() == other.method()
        && request.uri() == other.uri()
        && request.headers() == other.headers()
}

/// Returns the number of a response's body bytes already received, without waiting for more.
async fn drain_arrived(response: &mut ResponseReader) -> u64 {
    let bytes = AtomicU64::new(0);
    let reading = async {
        let mut body: BodyReader = loop {
            match response.head().await {
                Ok((_, Some(body))) => break body,
                Ok((_, None)) => (),
                Err(_) => return,
            }
        };
        while let Ok(Some(piece)) = body.data().await {
            bytes.fetch_add(piece.len() as u64, Ordering::Relaxed);
        }
    };
    let mut reading = std::pin::pin!(reading);
    // Once: whatever has come is read in that turn.
    std::future::poll_fn(|cx| {
        let _ = reading.as_mut().poll(cx);
        std::task::Poll::Ready(())
    })
    .await;
    bytes.load(Ordering::Relaxed)
}

/// Returns the source of the knowledge of coverage: this connection, or an earlier connection.
pub(crate) fn coverage_source(now: Option<bool>, before: Option<bool>) -> Option<CoverageSource> {
    match (now, before) {
        (Some(true), _) => Some(CoverageSource::Connection),
        (None, Some(true)) => Some(CoverageSource::Earlier),
        (Some(false), _) | (None, Some(false) | None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(path: &str, fields: &[(&str, &str)]) -> Request<()> {
        let mut request = Request::get(path).body(()).unwrap();
        for (name, value) in fields {
            let name: http::HeaderName = name.parse().unwrap();
            request.headers_mut().append(name, value.parse().unwrap());
        }
        request
    }

    #[test]
    fn only_the_same_request_is_answered_by_it() {
        let request = get("https://a.test/b?c", &[("x", "1"), ("y", "2")]);
        assert!(is_same(
            &request,
            &get("https://a.test/b?c", &[("y", "2"), ("x", "1")])
        ));
        for other in [
            get("https://a.test/b", &[("x", "1"), ("y", "2")]),
            get("https://a.test/b?c", &[("x", "1")]),
            get("https://a.test/b?c", &[("x", "1"), ("y", "3")]),
            get(
                "https://a.test/b?c",
                &[("x", "1"), ("y", "2"), ("cookie", "z")],
            ),
        ] {
            assert!(
                !is_same(&request, &other) && !is_same(&other, &request),
                "{other:?}"
            );
        }
    }

    #[test]
    fn what_a_connection_says_goes_before_what_one_before_said() {
        let (yes, no) = (Some(true), Some(false));
        assert_eq!(coverage_source(yes, no), Some(CoverageSource::Connection));
        assert_eq!(coverage_source(None, yes), Some(CoverageSource::Earlier));
        for (now, before) in [(no, yes), (None, no), (None, None)] {
            assert_eq!(coverage_source(now, before), None);
        }
    }
}
