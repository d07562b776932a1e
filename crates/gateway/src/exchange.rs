//! One request through the gateway: head, body and response pass on arrival, as fast as the
//! receiver takes them. A cancellation at either end reaches the other end.
//!
//! Not for: reading requests from downstream connections, or choosing upstream connections.

mod entry;
mod passing;
mod priority;

use crate::leg::{DownstreamConnection, IncomingRequest, RequestBody, ResponseSink};
use crate::upstream::UpstreamConnection;
use entry::RequestRecorder;
use http::{Method, Request, StatusCode};
use priority::PriorityForwarder;
use resolab_http::streaming::{BodyWriter, ResetReason, ResponseReader};
use resolab_record::{ConnectionReason, Failure};
use resolab_transport::client::MeasuredFailure;
use std::sync::Arc;

/// A request given to an upstream connection.
pub(crate) struct GatewayExchange {
    leg: Arc<DownstreamConnection>,
    entry: RequestRecorder,
    up: Option<RequestBody>,
    down: ResponseSink,
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
    leg: &Arc<DownstreamConnection>,
    arrived: IncomingRequest,
) -> Option<GatewayExchange> {
    let mut entry = RequestRecorder::new(leg, &arrived);
    let IncomingRequest {
        head,
        mut up,
        mut down,
        priority,
        ..
    } = arrived;
    if !is_for(&head, &leg.host) {
        answer_here(down, StatusCode::MISDIRECTED_REQUEST, &mut entry).await;
        return None;
    }
    if head.method() == Method::CONNECT {
        answer_here(down, StatusCode::NOT_IMPLEMENTED, &mut entry).await;
        return None;
    }
    let up = (!up.is_empty_by_now()).then_some(up);
    let again = up.is_none().then(|| head.clone());
    let sent = tokio::select! {
        sent = send_first(leg, &head, up.is_none(), &mut entry) => sent,
        () = down.unwanted() => {
            entry.cancelled();
            return None;
        }
    };
    match sent {
        Ok(sent) => {
            entry.sent(&sent);
            Some(GatewayExchange {
                leg: Arc::clone(leg),
                entry,
                up,
                down,
                sent,
                priority: PriorityForwarder::new(priority),
                again,
            })
        }
        Err(failure) => {
            entry.failed(failure);
            down.fail(ResetReason::Failed);
            None
        }
    }
}

/// Returns the request sent early, or sends the request now.
async fn send_first(
    leg: &DownstreamConnection,
    head: &Request<()>,
    ends: bool,
    entry: &mut RequestRecorder,
) -> Result<SentUpstreamRequest, MeasuredFailure> {
    let speculations = &leg.world.speculations;
    if ends {
        speculations.learn(leg, head);
    }
    if let Some((speculation, sent)) = speculations.claim(leg, head).await {
        entry.speculation(speculation);
        if let Some(sent) = sent {
            return Ok(sent);
        }
    }
    send(leg, head, ends).await
}

/// Sends the request on a suitable connection. Uses another connection when the server ended the
/// first, or takes no more requests, before anything was sent.
async fn send(
    leg: &DownstreamConnection,
    head: &Request<()>,
    ends: bool,
) -> Result<SentUpstreamRequest, MeasuredFailure> {
    match send_once(leg, head, ends).await {
        Err((_, Some(connection))) if !connection.takes_requests() => {
            send_once(leg, head, ends).await
        }
        sent => sent,
    }
    .map_err(|(failure, _)| failure)
}

async fn send_once(
    leg: &DownstreamConnection,
    head: &Request<()>,
    ends: bool,
) -> Result<SentUpstreamRequest, (MeasuredFailure, Option<Arc<UpstreamConnection>>)> {
    let found = leg.world.upstreams.find(&leg.host).await;
    let (connection, reason) = found.map_err(|failure| (failure, None))?;
    let at_most = leg.world.options.deadline;
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
async fn answer_here(down: ResponseSink, status: StatusCode, entry: &mut RequestRecorder) {
    let detail = format!("the gateway answered {status}");
    entry.failed(MeasuredFailure::new(Failure::HttpStatus, detail));
    let mut head = http::Response::new(());
    *head.status_mut() = status;
    if let Ok(mut body) = down.head(head, true).await {
        let _ = body.finish(None).await;
    }
}
