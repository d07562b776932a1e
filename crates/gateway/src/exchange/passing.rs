//! Both directions of one exchange at the same time. Not for: beginning the exchange.

use super::entry::RequestRecorder;
use super::priority::PriorityForwarder;
use super::{GatewayExchange, SentUpstreamRequest, send};
use crate::leg::{DownstreamConnection, RequestBody, ResponseBodySink, ResponseSink};
use http::{Request, StatusCode};
use resolab_http::streaming::{BodyReader, BodyWriter, BrokenOff, ResetReason};
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
    Upstream(BrokenOff),
}

impl GatewayExchange {
    /// Passes everything on until the response has ended, or the exchange was broken off.
    pub async fn run(self) {
        let Self {
            leg,
            mut entry,
            up,
            down,
            mut sent,
            priority,
            again,
        } = self;
        let body_bytes = AtomicU64::new(0);
        let body = std::mem::replace(&mut sent.body, BodyWriter::nothing());
        let mut awaited = AwaitedRequest {
            leg: &leg,
            sent,
            priority,
            again,
            again_count: 0,
        };
        let ended = both(
            awaited.download(down, &mut entry),
            upload(up, body, &body_bytes),
        );
        let ended = Box::pin(ended).await;
        entry.request_body(body_bytes.load(Ordering::Relaxed));
        match ended {
            Ok(()) => (),
            Err(EarlyEnd::Unwanted) => entry.cancelled(),
            Err(EarlyEnd::Upstream(broken)) => {
                entry.broke_off(&broken, awaited.sent.connection.is_closed());
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
    up: Option<RequestBody>,
    mut body: BodyWriter,
    passed_bytes: &AtomicU64,
) -> Result<(), EarlyEnd> {
    let Some(mut up) = up else {
        return Ok(());
    };
    while let Some(piece) = up.piece().await.map_err(|_| EarlyEnd::Unwanted)? {
        let bytes = piece.len() as u64;
        body.send(piece).await.map_err(EarlyEnd::Upstream)?;
        passed_bytes.fetch_add(bytes, Ordering::Relaxed);
    }
    let trailers = up.trailers().await.map_err(|_| EarlyEnd::Unwanted)?;
    body.finish(trailers).await.map_err(EarlyEnd::Upstream)
}

/// A request waiting for its response.
struct AwaitedRequest<'a> {
    leg: &'a DownstreamConnection,
    sent: SentUpstreamRequest,
    priority: PriorityForwarder,
    /// The head, kept while the request may be repeated.
    again: Option<Request<()>>,
    again_count: u32,
}

impl AwaitedRequest<'_> {
    async fn download(
        &mut self,
        mut down: ResponseSink,
        entry: &mut RequestRecorder,
    ) -> Result<(), EarlyEnd> {
        let (head, mut body) = match self.last_head(&mut down, entry).await {
            Ok(read) => read,
            Err(EarlyEnd::Upstream(broken)) => {
                down.fail(broken.reason);
                return Err(EarlyEnd::Upstream(broken));
            }
            Err(EarlyEnd::Unwanted) => return Err(EarlyEnd::Unwanted),
        };
        entry.head(head.status());
        let ends = body.is_empty_by_now();
        if ends {
            entry.last();
        }
        let sent = down.head(head, ends).await;
        let mut down = sent.map_err(|_| EarlyEnd::Unwanted)?;
        entry.head_passed();
        match self.pass_body(&mut body, &mut down, entry).await {
            Err(EarlyEnd::Upstream(broken)) => {
                down.fail(broken.reason).await;
                Err(EarlyEnd::Upstream(broken))
            }
            passed => passed,
        }
    }

    /// Waits for the head of the final response; passes interim responses on meanwhile.
    async fn last_head(
        &mut self,
        down: &mut ResponseSink,
        entry: &mut RequestRecorder,
    ) -> Result<(http::Response<()>, BodyReader), EarlyEnd> {
        loop {
            let head = tokio::select! {
                biased;
                head = self.sent.response.head() => head,
                () = down.unwanted() => return Err(EarlyEnd::Unwanted),
                update = self.priority.changed() => {
                    self.priority.pass(&update, &self.sent, entry).await;
                    continue;
                }
            };
            match head {
                Ok((head, Some(body))) => {
                    let refused = self.refused_by(head.status());
                    if !self.send_again(refused, down, entry).await? {
                        return Ok((head, body));
                    }
                }
                Ok((interim, None)) => {
                    let passed = down.interim(interim).await;
                    passed.map_err(|_| EarlyEnd::Unwanted)?;
                    entry.interim();
                }
                Err(broken) => {
                    let refused = self.refused_by_end(&broken);
                    if !self.send_again(refused, down, entry).await? {
                        return Err(EarlyEnd::Upstream(broken));
                    }
                }
            }
        }
    }

    /// Returns the reason for repeating a request, when the status concerns the connection rather
    /// than the request.
    fn refused_by(&self, status: StatusCode) -> Option<RepeatReason> {
        let is_shared = self.sent.reason != ConnectionReason::OwnName;
        match status {
            StatusCode::MISDIRECTED_REQUEST if is_shared => Some(RepeatReason::Misdirected),
            StatusCode::TOO_EARLY if self.sent.is_early() => Some(RepeatReason::Early),
            _ => None,
        }
    }

    /// Returns the reason for repeating a request, when its stream ended without a response. After
    /// any other end the request may have been carried out.
    fn refused_by_end(&self, broken: &BrokenOff) -> Option<RepeatReason> {
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
        down: &mut ResponseSink,
        entry: &mut RequestRecorder,
    ) -> Result<bool, EarlyEnd> {
        tokio::select! {
            biased;
            is_sent = self.try_again(refused, entry) => Ok(is_sent),
            () = down.unwanted() => Err(EarlyEnd::Unwanted),
        }
    }

    async fn try_again(
        &mut self,
        refused: Option<RepeatReason>,
        entry: &mut RequestRecorder,
    ) -> bool {
        let (Some(refused), Some(head)) = (refused, self.again.as_ref()) else {
            return false;
        };
        self.again_count += 1;
        if self.again_count > AGAIN_MAX_COUNT {
            return false;
        }
        let world = &self.leg.world;
        let connection = &self.sent.connection;
        let at_most = world.options.deadline;
        match refused {
            RepeatReason::Misdirected => {
                let opened_for = &connection.identity.host;
                world.upstreams.note_misdirected(opened_for, &self.leg.host);
            }
            RepeatReason::Early => {
                // Once it has ended, and not before (RFC 8470 section 5.2).
                if !connection.handshake_has_ended(at_most).await {
                    return false;
                }
            }
            RepeatReason::Unprocessed => (),
        }
        let Ok(sent) = send(self.leg, head, true).await else {
            return false;
        };
        self.sent = sent;
        self.priority.sent_again();
        entry.sent_again(&self.sent);
        true
    }

    async fn pass_body(
        &mut self,
        body: &mut BodyReader,
        down: &mut ResponseBodySink,
        entry: &mut RequestRecorder,
    ) -> Result<(), EarlyEnd> {
        loop {
            let piece = tokio::select! {
                biased;
                piece = body.data() => piece.map_err(EarlyEnd::Upstream)?,
                () = down.unwanted() => return Err(EarlyEnd::Unwanted),
                update = self.priority.changed() => {
                    self.priority.pass(&update, &self.sent, entry).await;
                    continue;
                }
            };
            let Some(piece) = piece else {
                break;
            };
            let bytes = piece.len();
            let sent = down.send(piece).await;
            sent.map_err(|_| EarlyEnd::Unwanted)?;
            entry.piece_passed(bytes);
        }
        let trailers = tokio::select! {
            biased;
            trailers = body.trailers() => trailers.map_err(EarlyEnd::Upstream)?,
            () = down.unwanted() => return Err(EarlyEnd::Unwanted),
        };
        entry.last();
        let finished = down.finish(trailers).await;
        finished.map_err(|_| EarlyEnd::Unwanted)?;
        entry.last_passed();
        Ok(())
    }
}
