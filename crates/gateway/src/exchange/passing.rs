//! Both directions of one exchange at the same time. Not for: beginning the exchange.

use super::priority::PriorityForwarder;
use super::request_recorder::RequestRecorder;
use super::{GatewayExchange, SentUpstreamRequest, send};
use crate::downstream::{DownstreamConnection, RequestBody, ResponseBodySink, ResponseSink};
use http::{Request, StatusCode};
use resolab_http::streaming::{BodyReader, BodyWriter, BrokenMessage, ResetReason};
use resolab_record::ConnectionReason;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};

/// The maximum number of repeats of a request.
const AGAIN_MAX_COUNT: u32 = 3;

/// The reason for repeating a request.
enum RepeatReason {
    /// Status 421 on a connection opened for another name (RFC 9110 section 15.5.20).
    Misdirected,
    /// Rejected early data: status 425 (RFC 8470 section 5.2), or rejection in the handshake.
    Early,
    /// A request not processed by the server: left out by GOAWAY (RFC 9113 section 6.8),
    /// REFUSED_STREAM (section 8.7), or H3_REQUEST_REJECTED (RFC 9114 section 4.1.1).
    Unprocessed,
}

/// The reason for an exchange's early end.
enum EarlyEnd {
    /// The browser does not want the response.
    Unwanted,
    /// The stream upstream broke off.
    Upstream(BrokenMessage),
}

impl GatewayExchange {
    /// Passes everything on until the response has ended, or the exchange was broken off.
    pub async fn run(self) {
        let Self {
            downstream,
            mut recorder,
            request_body,
            response_sink,
            mut sent,
            priority,
            again,
        } = self;
        let body_bytes = AtomicU64::new(0);
        let body = std::mem::replace(&mut sent.body, BodyWriter::nothing());
        let mut awaited = AwaitedRequest {
            downstream: &downstream,
            sent,
            priority,
            again,
            again_count: 0,
        };
        let ended = both(
            awaited.download(response_sink, &mut recorder),
            upload(request_body, body, &body_bytes),
        );
        let ended = Box::pin(ended).await;
        recorder.request_body(body_bytes.load(Ordering::Relaxed));
        match ended {
            Ok(()) => (),
            Err(EarlyEnd::Unwanted) => recorder.note_cancellation(),
            Err(EarlyEnd::Upstream(broken)) => {
                recorder.note_broken(&broken, awaited.sent.connection.is_closed());
            }
        }
    }
}

/// Runs both directions until the response has ended. A server may answer before receiving the
/// whole request.
async fn both(
    downloading: impl Future<Output = Result<(), EarlyEnd>>,
    uploading: impl Future<Output = Result<(), EarlyEnd>>,
) -> Result<(), EarlyEnd> {
    let (mut downloading, mut uploading) = (pin!(downloading), pin!(uploading));
    let mut is_uploaded = false;
    loop {
        tokio::select! {
            biased;
            ended = &mut downloading => return ended,
            uploaded = &mut uploading, if !is_uploaded => match uploaded {
                Err(EarlyEnd::Unwanted) => return Err(EarlyEnd::Unwanted),
                // What the server makes of half a request is its response.
                Err(EarlyEnd::Upstream(_)) | Ok(()) => is_uploaded = true,
            },
        }
    }
}

async fn upload(
    request_body: Option<RequestBody>,
    mut body: BodyWriter,
    passed_bytes: &AtomicU64,
) -> Result<(), EarlyEnd> {
    let Some(mut request_body) = request_body else {
        return Ok(());
    };
    while let Some(piece) = request_body.piece().await.map_err(|_| EarlyEnd::Unwanted)? {
        let bytes = piece.len() as u64;
        body.send(piece).await.map_err(EarlyEnd::Upstream)?;
        passed_bytes.fetch_add(bytes, Ordering::Relaxed);
    }
    let trailers = request_body
        .trailers()
        .await
        .map_err(|_| EarlyEnd::Unwanted)?;
    body.finish(trailers).await.map_err(EarlyEnd::Upstream)
}

/// A request waiting for its response.
struct AwaitedRequest<'a> {
    downstream: &'a DownstreamConnection,
    sent: SentUpstreamRequest,
    priority: PriorityForwarder,
    /// The head, kept while the request may be repeated.
    again: Option<Request<()>>,
    again_count: u32,
}

impl AwaitedRequest<'_> {
    async fn download(
        &mut self,
        mut response_sink: ResponseSink,
        recorder: &mut RequestRecorder,
    ) -> Result<(), EarlyEnd> {
        let (head, mut body) = match self.last_head(&mut response_sink, recorder).await {
            Ok(read) => read,
            Err(EarlyEnd::Upstream(broken)) => {
                response_sink.fail(broken.reason);
                return Err(EarlyEnd::Upstream(broken));
            }
            Err(EarlyEnd::Unwanted) => return Err(EarlyEnd::Unwanted),
        };
        recorder.head(head.status());
        let ends = body.is_empty_by_now();
        if ends {
            recorder.last();
        }
        let sent = response_sink.head(head, ends).await;
        let mut response_sink = sent.map_err(|_| EarlyEnd::Unwanted)?;
        recorder.note_head();
        match self
            .pass_body(&mut body, &mut response_sink, recorder)
            .await
        {
            Err(EarlyEnd::Upstream(broken)) => {
                response_sink.fail(broken.reason).await;
                Err(EarlyEnd::Upstream(broken))
            }
            passed => passed,
        }
    }

    /// Waits for the head of the final response; passes interim responses on meanwhile.
    async fn last_head(
        &mut self,
        response_sink: &mut ResponseSink,
        recorder: &mut RequestRecorder,
    ) -> Result<(http::Response<()>, BodyReader), EarlyEnd> {
        loop {
            let head = tokio::select! {
                biased;
                head = self.sent.response.head() => head,
                () = response_sink.wait_until_unwanted() => return Err(EarlyEnd::Unwanted),
                update = self.priority.wait_for_update() => {
                    self.priority.pass(&update, &self.sent, recorder).await;
                    continue;
                }
            };
            match head {
                Ok((head, Some(body))) => {
                    let refused = self.repeat_reason_of_status(head.status());
                    if !self.send_again(refused, response_sink, recorder).await? {
                        return Ok((head, body));
                    }
                }
                Ok((interim, None)) => {
                    let passed = response_sink.interim(interim).await;
                    passed.map_err(|_| EarlyEnd::Unwanted)?;
                    recorder.interim();
                }
                Err(broken) => {
                    let refused = self.repeat_reason_of_end(&broken);
                    if !self.send_again(refused, response_sink, recorder).await? {
                        return Err(EarlyEnd::Upstream(broken));
                    }
                }
            }
        }
    }

    /// Returns the reason for repeating a request, when the status concerns the connection rather
    /// than the request.
    fn repeat_reason_of_status(&self, status: StatusCode) -> Option<RepeatReason> {
        let is_shared = self.sent.reason != ConnectionReason::OwnName;
        match status {
            StatusCode::MISDIRECTED_REQUEST if is_shared => Some(RepeatReason::Misdirected),
            StatusCode::TOO_EARLY if self.sent.is_early() => Some(RepeatReason::Early),
            _ => None,
        }
    }

    /// Returns the reason for repeating a request, when its stream ended without a response. After
    /// any other end the request may have been carried out.
    fn repeat_reason_of_end(&self, broken: &BrokenMessage) -> Option<RepeatReason> {
        if self.sent.is_early() && self.sent.connection.may_begin_again() {
            return Some(RepeatReason::Early);
        }
        (broken.reason == ResetReason::Refused).then_some(RepeatReason::Unprocessed)
    }

    /// Repeats a refused request, when a repeat may help. Returns true when the request was
    /// repeated.
    async fn send_again(
        &mut self,
        refused: Option<RepeatReason>,
        response_sink: &mut ResponseSink,
        recorder: &mut RequestRecorder,
    ) -> Result<bool, EarlyEnd> {
        tokio::select! {
            biased;
            is_sent = self.try_again(refused, recorder) => Ok(is_sent),
            () = response_sink.wait_until_unwanted() => Err(EarlyEnd::Unwanted),
        }
    }

    async fn try_again(
        &mut self,
        refused: Option<RepeatReason>,
        recorder: &mut RequestRecorder,
    ) -> bool {
        let (Some(refused), Some(head)) = (refused, self.again.as_ref()) else {
            return false;
        };
        self.again_count += 1;
        if self.again_count > AGAIN_MAX_COUNT {
            return false;
        }
        let gateway_state = &self.downstream.gateway_state;
        let connection = &self.sent.connection;
        let at_most = gateway_state.options.deadline;
        match refused {
            RepeatReason::Misdirected => {
                let opened_for = &connection.identity.host;
                gateway_state
                    .upstreams
                    .note_misdirected(opened_for, &self.downstream.host);
            }
            RepeatReason::Early => {
                // Once it has ended, and not before (RFC 8470 section 5.2).
                if !connection.handshake_has_ended(at_most).await {
                    return false;
                }
            }
            RepeatReason::Unprocessed => (),
        }
        let Ok(sent) = send(self.downstream, head, true).await else {
            return false;
        };
        self.sent = sent;
        self.priority.note_repeat();
        recorder.note_repeat(&self.sent);
        true
    }

    async fn pass_body(
        &mut self,
        body: &mut BodyReader,
        response_sink: &mut ResponseBodySink,
        recorder: &mut RequestRecorder,
    ) -> Result<(), EarlyEnd> {
        loop {
            let piece = tokio::select! {
                biased;
                piece = body.data() => piece.map_err(EarlyEnd::Upstream)?,
                () = response_sink.wait_until_unwanted() => return Err(EarlyEnd::Unwanted),
                update = self.priority.wait_for_update() => {
                    self.priority.pass(&update, &self.sent, recorder).await;
                    continue;
                }
            };
            let Some(piece) = piece else {
                break;
            };
            let bytes = piece.len();
            let sent = response_sink.send(piece).await;
            sent.map_err(|_| EarlyEnd::Unwanted)?;
            recorder.note_piece(bytes);
        }
        let trailers = tokio::select! {
            biased;
            trailers = body.trailers() => trailers.map_err(EarlyEnd::Upstream)?,
            () = response_sink.wait_until_unwanted() => return Err(EarlyEnd::Unwanted),
        };
        recorder.last();
        let finished = response_sink.finish(trailers).await;
        finished.map_err(|_| EarlyEnd::Unwanted)?;
        recorder.last_passed();
        Ok(())
    }
}
