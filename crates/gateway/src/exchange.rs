//! One request through the gateway: head, body and response pass on arrival, as fast as the
//! receiver takes them. A cancellation at either end reaches the other end.
//!
//! Not for: reading requests from downstream connections, or choosing upstream connections.

mod passing;
mod priority;
mod request_recorder;

use crate::downstream::{DownstreamConnection, IncomingRequest, RequestBody, ResponseSink};
use crate::upstream::UpstreamConnection;
use http::{Method, Request, StatusCode};
use priority::PriorityForwarder;
use request_recorder::RequestRecorder;
use resolab_http::streaming::{BodyWriter, ResetReason, ResponseReader};
use resolab_record::{ConnectionReason, Failure};
use resolab_transport::client::MeasuredFailure;
use std::sync::Arc;

/// A request given to an upstream connection.
pub(crate) struct GatewayExchange {
    downstream: Arc<DownstreamConnection>,
    recorder: RequestRecorder,
    request_body: Option<RequestBody>,
    response_sink: ResponseSink,
    sent: SentUpstreamRequest,
    priority: PriorityForwarder,
    /// The head, kept while the request may be repeated; only for requests without a body.
    again: Option<Request<()>>,
}

/// A request on its upstream connection, with its two directions.
pub(crate) struct SentUpstreamRequest {
    pub body: BodyWriter,
    pub response: ResponseReader,
    pub connection: Arc<UpstreamConnection>,
    pub reason: ConnectionReason,
}

impl SentUpstreamRequest {
    /// Returns true when the request left before the end of the connection's handshake.
    pub fn is_early(&self) -> bool {
        self.response.request_left_early()
    }
}

/// Gives a request to an upstream connection. `None` when the request was refused or failed; the
/// browser already has the answer.
pub(crate) async fn begin(
    downstream: &Arc<DownstreamConnection>,
    incoming: IncomingRequest,
) -> Option<GatewayExchange> {
    let mut recorder = RequestRecorder::new(downstream, &incoming);
    let IncomingRequest {
        head,
        mut request_body,
        mut response_sink,
        priority,
        ..
    } = incoming;
    if !is_for(&head, &downstream.host) {
        answer_here(
            response_sink,
            StatusCode::MISDIRECTED_REQUEST,
            &mut recorder,
        )
        .await;
        return None;
    }
    if head.method() == Method::CONNECT {
        answer_here(response_sink, StatusCode::NOT_IMPLEMENTED, &mut recorder).await;
        return None;
    }
    let request_body = (!request_body.is_empty_by_now()).then_some(request_body);
    let again = request_body.is_none().then(|| head.clone());
    let sent = tokio::select! {
        sent = send_first(downstream, &head, request_body.is_none(), &mut recorder) => sent,
        () = response_sink.wait_until_unwanted() => {
            recorder.note_cancellation();
            return None;
        }
    };
    match sent {
        Ok(sent) => {
            recorder.note_sent(&sent);
            Some(GatewayExchange {
                downstream: Arc::clone(downstream),
                recorder,
                request_body,
                response_sink,
                sent,
                priority: PriorityForwarder::new(priority),
                again,
            })
        }
        Err(failure) => {
            recorder.note_failure(failure);
            response_sink.fail(ResetReason::Failed);
            None
        }
    }
}

/// Returns the request sent early, or sends the request now.
async fn send_first(
    downstream: &DownstreamConnection,
    head: &Request<()>,
    ends: bool,
    recorder: &mut RequestRecorder,
) -> Result<SentUpstreamRequest, MeasuredFailure> {
    let speculations = &downstream.gateway_state.speculations;
    if ends {
        speculations.learn(downstream, head);
    }
    if let Some((speculation, sent)) = speculations.claim(downstream, head).await {
        recorder.speculation(speculation);
        if let Some(sent) = sent {
            return Ok(sent);
        }
    }
    send(downstream, head, ends).await
}

/// Sends the request on a suitable connection. Uses another connection when the server ended the
/// first, or takes no more requests, before anything was sent.
async fn send(
    downstream: &DownstreamConnection,
    head: &Request<()>,
    ends: bool,
) -> Result<SentUpstreamRequest, MeasuredFailure> {
    match send_once(downstream, head, ends).await {
        Err((_, Some(connection))) if !connection.takes_requests() => {
            send_once(downstream, head, ends).await
        }
        sent => sent,
    }
    .map_err(|(failure, _)| failure)
}

async fn send_once(
    downstream: &DownstreamConnection,
    head: &Request<()>,
    ends: bool,
) -> Result<SentUpstreamRequest, (MeasuredFailure, Option<Arc<UpstreamConnection>>)> {
    let found = downstream
        .gateway_state
        .upstreams
        .find(&downstream.host)
        .await;
    let (connection, reason) = found.map_err(|failure| (failure, None))?;
    let at_most = downstream.gateway_state.options.deadline;
    match connection.begin(head.clone(), ends, at_most).await {
        Ok((body, response)) => Ok(SentUpstreamRequest {
            body,
            response,
            connection,
            reason,
        }),
        Err(failure) => Err((failure, Some(connection))),
    }
}

/// Returns true when a request is for the name of its downstream connection.
fn is_for(head: &Request<()>, host: &str) -> bool {
    let asked = head.uri().host();
    asked.is_some_and(|asked| asked.eq_ignore_ascii_case(host))
}

/// Answers a request from the gateway, when the request cannot be passed on.
async fn answer_here(
    response_sink: ResponseSink,
    status: StatusCode,
    recorder: &mut RequestRecorder,
) {
    let detail = format!("the gateway answered {status}");
    recorder.note_failure(MeasuredFailure::new(Failure::HttpStatus, detail));
    let mut head = http::Response::new(());
    *head.status_mut() = status;
    if let Ok(mut body) = response_sink.head(head, true).await {
        let _ = body.finish(None).await;
    }
}
