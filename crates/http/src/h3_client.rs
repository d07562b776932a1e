//! HTTP/3 (RFC 9114) client on an open QUIC connection, possibly still in 0-RTT. A rejection of
//! early data also ends the control streams. In this case everything is made anew on the same
//! connection, and the request is sent again.

use crate::content_length::{ContentLength, LengthDiffers};
use crate::control_stream::ControlWriter;
use crate::go_away::GoAway;
use crate::origins::Origins;
use crate::priorities::priority_update_frame;
use crate::quic_streams::{BidirectionalStream, Http3Quic, StreamOpener};
use crate::streaming::{BodyWriter, ResponseReader};
use crate::{GOAWAY_CAME, HEAD_MAX_BYTES, PieceObserver};
use bytes::{Buf, BufMut, Bytes, BytesMut};
use h3::client::{Connection, RequestStream, SendRequest};
use h3::error::{Code, StreamError};
use h3::quic::StreamId;
use http::{Method, Request, Response};
use resolab_record::Failure;
use resolab_transport::client::{MeasuredFailure, QuicConnection, TimedPhase, quic_failure};
use resolab_transport::clock::monotonic_ns;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

/// Start of h3's error text after closing the connection for a peer's protocol violation; the error
/// variants are private.
const BROKEN_RULES: &str = "Connection error: Local error";

/// An HTTP/3 connection; exchanges may overlap.
pub struct H3Client {
    quic: Arc<QuicConnection>,
    state: Mutex<State>,
    origins: Origins,
    opened_ns: u64,
    go_away: GoAway,
}

/// The times of the parts of an exchange.
#[derive(Debug, Default)]
pub struct ResponseTimes {
    /// Begins with handing the request to the connection, ends with the last byte of the response.
    pub exchange: TimedPhase,
    /// Begins with the response's head, ends with the first bytes of the body.
    pub response: TimedPhase,
}

/// The state of HTTP/3 on the connection; replaced after rejected early data.
struct State {
    requests: SendRequest<StreamOpener, Bytes>,
    writer: ControlWriter,
    /// Reads control streams, but only after the handshake's end. Before, early data may still be
    /// rejected. The reader would take the loss of the control streams for a broken peer and close.
    control: Option<Connection<Http3Quic, Bytes>>,
    driver: Option<JoinHandle<()>>,
    is_remade: bool,
}

impl Drop for State {
    fn drop(&mut self) {
        if let Some(driver) = &self.driver {
            driver.abort();
        }
    }
}

type ExchangeStream = RequestStream<BidirectionalStream<Bytes>, Bytes>;

/// The observers of a response during the exchange.
struct ResponseObservers<'a, 'b> {
    times: &'a ResponseTimes,
    observe: &'a mut PieceObserver<'b>,
}

/// A response and the number of sendings of the request.
pub struct H3Exchange {
    /// The response with the whole body.
    pub response: Response<Bytes>,
    /// Number of sendings: 2 after rejected early data.
    pub attempt_count: u32,
}

impl H3Client {
    /// Begins HTTP/3. SETTINGS and the first request share a flight. Responses with a head above
    /// [`HEAD_MAX_BYTES`] are refused. The server is notified of the limit, and no more of a head
    /// is kept in memory.
    pub async fn open(quic: Arc<QuicConnection>) -> Result<Self, MeasuredFailure> {
        let (origins, go_away) = (Origins::default(), GoAway::default());
        // The transport under way is large: whoever opens one keeps a pointer.
        let state = Box::pin(State::make(&quic, (&origins, &go_away), false)).await?;
        Ok(Self {
            quic,
            state: Mutex::new(state),
            origins,
            opened_ns: monotonic_ns(),
            go_away,
        })
    }

    /// Sends a request and waits for the whole response, with at most `body_max_bytes` of body.
    pub async fn exchange(
        &self,
        request: Request<Bytes>,
        body_max_bytes: usize,
    ) -> Result<H3Exchange, MeasuredFailure> {
        self.exchange_observed(request, body_max_bytes, &mut |_, _| ())
            .await
    }

    /// Exchanges like [`Self::exchange`], and observes each piece of the body, with the head, on
    /// arrival.
    pub async fn exchange_observed(
        &self,
        request: Request<Bytes>,
        body_max_bytes: usize,
        observe: &mut PieceObserver<'_>,
    ) -> Result<H3Exchange, MeasuredFailure> {
        let mut watch = ResponseObservers {
            times: &ResponseTimes::default(),
            observe,
        };
        self.exchange_watched(request, body_max_bytes, &mut watch)
            .await
    }

    /// Exchanges like [`Self::exchange`], and records the times of the parts.
    pub async fn exchange_timed(
        &self,
        request: Request<Bytes>,
        body_max_bytes: usize,
        times: &ResponseTimes,
    ) -> Result<H3Exchange, MeasuredFailure> {
        let mut watch = ResponseObservers {
            times,
            observe: &mut |_, _| (),
        };
        self.exchange_watched(request, body_max_bytes, &mut watch)
            .await
    }

    async fn exchange_watched(
        &self,
        request: Request<Bytes>,
        body_max_bytes: usize,
        watch: &mut ResponseObservers<'_, '_>,
    ) -> Result<H3Exchange, MeasuredFailure> {
        let mut requests = self.state.lock().await.requests.clone();
        let result = self
            .exchange_once(&mut requests, request.clone(), body_max_bytes, watch)
            .await;
        match result {
            Ok(response) => {
                self.run_driver().await;
                Ok(H3Exchange {
                    response,
                    attempt_count: 1,
                })
            }
            Err(error) if self.was_rejected(&error) => {
                let mut requests = self.remake().await?;
                let response = self
                    .exchange_once(&mut requests, request, body_max_bytes, watch)
                    .await
                    .map_err(|error| self.failure_of(&error))?;
                self.run_driver().await;
                Ok(H3Exchange {
                    response,
                    attempt_count: 2,
                })
            }
            Err(error) => Err(self.failure_of(&error)),
        }
    }

    /// Sends a request's head, and reads the response in pieces. Returns after handing the head to
    /// the connection: requests therefore leave in the order of their calls. If early data is
    /// rejected before the hand-over, the request is sent again. After a later rejection the
    /// response breaks off, see [`Self::may_begin_again`].
    pub async fn begin(
        &self,
        request: Request<()>,
        ends: bool,
    ) -> Result<(BodyWriter, ResponseReader), MeasuredFailure> {
        let mut requests = if self.quic.log.early_data_was_rejected() {
            self.remake().await?
        } else {
            self.state.lock().await.requests.clone()
        };
        let begun = self.begin_on(&mut requests, request.clone(), ends).await;
        let begun = match begun {
            Err(error) if self.was_rejected(&error) => {
                let mut requests = self.remake().await?;
                self.begin_on(&mut requests, request, ends).await
            }
            begun => begun,
        };
        begun.map_err(|error| self.failure_of(&error))
    }

    async fn begin_on(
        &self,
        requests: &mut SendRequest<StreamOpener, Bytes>,
        request: Request<()>,
        ends: bool,
    ) -> Result<(BodyWriter, ResponseReader), H3ExchangeError> {
        let is_to_head = request.method() == Method::HEAD;
        let stream = requests.send_request(request).await?;
        let (mut send, receive) = stream.split();
        let body = if ends {
            send.finish().await?;
            BodyWriter::nothing()
        } else {
            BodyWriter::h3_request(send)
        };
        // Here it is handed over: what waited for credit may not be early any more.
        let is_early = self.quic.log.handshake().is_none();
        let response = ResponseReader::h3(receive, is_to_head).with_early_request(is_early);
        self.run_driver().await;
        Ok((body, response))
    }

    /// Changes the priority of a request begun here (RFC 9218 section 7.2) to a Priority Field
    /// Value. The frame leaves when early data can no longer be rejected. Returns false when the
    /// frame is dropped: the server reads nothing and too many frames wait.
    pub async fn reprioritize(&self, stream: StreamId, value: &[u8]) -> bool {
        let frame = priority_update_frame(stream.into_inner(), value);
        let will_leave = self.state.lock().await.writer.push(&frame);
        self.run_driver().await;
        will_leave
    }

    /// Returns true when requests broke off because of rejected early data, and may be begun again.
    pub fn may_begin_again(&self) -> bool {
        self.quic.log.early_data_was_rejected() && !self.quic.is_closed()
    }

    fn was_rejected(&self, error: &H3ExchangeError) -> bool {
        matches!(error, H3ExchangeError::H3(_))
            && self.quic.log.early_data_was_rejected()
            && !self.quic.is_closed()
    }

    /// Makes HTTP/3 anew on the connection with rejected early data; only the first caller makes
    /// the new state.
    async fn remake(&self) -> Result<SendRequest<StreamOpener, Bytes>, MeasuredFailure> {
        let mut state = self.state.lock().await;
        if !state.is_remade {
            let made = State::make(&self.quic, (&self.origins, &self.go_away), true);
            *state = Box::pin(made).await?;
        }
        Ok(state.requests.clone())
    }

    async fn exchange_once(
        &self,
        requests: &mut SendRequest<StreamOpener, Bytes>,
        request: Request<Bytes>,
        body_max_bytes: usize,
        watch: &mut ResponseObservers<'_, '_>,
    ) -> Result<Response<Bytes>, H3ExchangeError> {
        let times = watch.times;
        times.exchange.begin();
        let (head, body) = request.into_parts();
        let is_to_head = head.method == Method::HEAD;
        let mut stream = requests.send_request(Request::from_parts(head, ())).await?;
        if !body.is_empty() {
            stream.send_data(body).await?;
        }
        stream.finish().await?;
        // A peer that breaks the rules on its control stream may never answer.
        self.run_driver().await;
        let id = stream.id();
        let head = tokio::select! {
            biased;
            head = head_of(&mut stream) => head?,
            () = self.go_away.leaves_out(id) => return Err(H3ExchangeError::LeftOut),
        };
        times.response.begin();
        let mut length = ContentLength::from_response(&head, is_to_head);
        let mut body = BytesMut::new();
        while let Some(chunk) = stream.recv_data().await? {
            if body.len() + chunk.remaining() > body_max_bytes {
                return Err(H3ExchangeError::TooLarge);
            }
            length.take(chunk.remaining())?;
            times.response.finish();
            let before = body.len();
            body.put(chunk);
            (watch.observe)(&head, &body[before..]);
        }
        // Trailers, or the end of the stream behind them: a stream dropped before its end is
        // stopped.
        stream.recv_trailers().await?;
        length.end()?;
        times.exchange.finish();
        Ok(head.map(|()| body.freeze()))
    }

    /// Reads the server's control stream, once early data can no longer be rejected. For
    /// connections with more uses than exchanges. All bytes already received are read at the
    /// return.
    pub async fn read_control(&self) {
        let mut state = self.state.lock().await;
        if self.outlives_early_data(&state)
            && let Some(control) = &mut state.control
        {
            poll_fn(|cx| {
                let _ = control.poll_close(cx);
                Poll::Ready(())
            })
            .await;
        }
        drop(state);
        self.run_driver().await;
    }

    /// Returns true when no rejection of early data can end these control streams any more.
    fn outlives_early_data(&self, state: &State) -> bool {
        state.is_remade || self.quic.log.is_past_early_data()
    }

    /// Starts reading the server's control stream for good, once safe from a rejection.
    async fn run_driver(&self) {
        let mut state = self.state.lock().await;
        if !self.outlives_early_data(&state) {
            return;
        }
        if let Some(mut control) = state.control.take() {
            state.driver = Some(tokio::spawn(async move {
                let _ = poll_fn(|cx| control.poll_close(cx)).await;
            }));
        }
    }

    fn failure_of(&self, error: &H3ExchangeError) -> MeasuredFailure {
        let error = match error {
            // GOAWAY (RFC 9114 section 5.2): another connection takes what this one does not.
            H3ExchangeError::H3(StreamError::RemoteClosing { .. }) | H3ExchangeError::LeftOut => {
                return MeasuredFailure::new(Failure::QueryConnectionClosed, GOAWAY_CAME);
            }
            H3ExchangeError::Refused(error) => {
                return MeasuredFailure::new(Failure::QueryConnectionClosed, error);
            }
            H3ExchangeError::H3(error) => error.to_string(),
            H3ExchangeError::TooLarge => "the response is too large".to_owned(),
            H3ExchangeError::LengthDiffers(error) => error.to_string(),
        };
        match self.quic.connection.close_reason() {
            Some(reason) if !error.starts_with(BROKEN_RULES) => {
                quic_failure(&reason, &self.quic.log)
            }
            _ => MeasuredFailure::new(Failure::HttpProtocol, error),
        }
    }

    /// Returns true when the connection has ended.
    pub fn is_closed(&self) -> bool {
        self.quic.is_closed()
    }

    /// Returns the QUIC connection underneath.
    pub fn quic(&self) -> &QuicConnection {
        &self.quic
    }

    /// Returns the time of first accepting requests, in ns: with early data before the handshake's
    /// end.
    pub fn opened_ns(&self) -> u64 {
        self.opened_ns
    }

    /// Returns the origins named by the server.
    pub fn origins(&self) -> &Origins {
        &self.origins
    }
}

async fn head_of(stream: &mut ExchangeStream) -> Result<Response<()>, H3ExchangeError> {
    loop {
        let head = stream.recv_response().await;
        let head = head.map_err(H3ExchangeError::from_missing_head)?;
        // What comes before the answer says nothing of it (RFC 9110 section 15.2).
        if !head.status().is_informational() {
            return Ok(head);
        }
    }
}

impl State {
    async fn make(
        quic: &Arc<QuicConnection>,
        (origins, go_away): (&Origins, &GoAway),
        is_remade: bool,
    ) -> Result<Self, MeasuredFailure> {
        let transport = Http3Quic::client(quic, origins.clone());
        let mut transport = transport
            .with_heads_of_at_most(HEAD_MAX_BYTES)
            .with_go_away(go_away.clone());
        let writer = transport.control_writer();
        let mut builder = h3::client::builder();
        builder.send_grease(false);
        builder.max_field_section_size(u64::from(HEAD_MAX_BYTES));
        let (control, requests) = builder.build(transport).await.map_err(|error| {
            match quic.connection.close_reason() {
                Some(reason) => quic_failure(&reason, &quic.log),
                None => MeasuredFailure::new(Failure::HttpProtocol, error),
            }
        })?;
        Ok(Self {
            requests,
            writer,
            control: Some(control),
            driver: None,
            is_remade,
        })
    }
}

enum H3ExchangeError {
    H3(StreamError),
    /// The server did not process the request (RFC 9114 section 4.1.1). Another connection may take
    /// the request, as after GOAWAY; the refusal can be the first sign of a GOAWAY. Over HTTP/2 the
    /// connection itself reports GOAWAY, and a refused stream concerns only the stream.
    Refused(StreamError),
    /// The server's GOAWAY excludes an answer to the request.
    LeftOut,
    TooLarge,
    LengthDiffers(LengthDiffers),
}

impl H3ExchangeError {
    /// Converts the error received in place of a head.
    fn from_missing_head(error: StreamError) -> Self {
        let is_refused = matches!(
            error,
            StreamError::RemoteTerminate {
                code: Code::H3_REQUEST_REJECTED,
                ..
            }
        );
        if is_refused {
            Self::Refused(error)
        } else {
            Self::H3(error)
        }
    }
}

impl From<LengthDiffers> for H3ExchangeError {
    fn from(error: LengthDiffers) -> Self {
        Self::LengthDiffers(error)
    }
}

impl From<StreamError> for H3ExchangeError {
    fn from(error: StreamError) -> Self {
        Self::H3(error)
    }
}
