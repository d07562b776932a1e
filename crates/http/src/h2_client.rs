//! HTTP/2 (RFC 9113) client on an open stream, TLS as a rule.

use crate::streaming::{BodyWriter, ResponseReader};
use crate::{GOAWAY_CAME, HEAD_MAX_BYTES, PieceObserver};
use bytes::{Bytes, BytesMut};
use h2::client::{Builder, Connection, SendRequest};
use http::{Request, Response};
use resolab_record::Failure;
use resolab_transport::client::{MeasuredFailure, SetupLog, stream_failure};
use resolab_transport::receive_stamp::LastArrival;
use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// The flow-control windows granted to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct H2Windows {
    /// Window of each stream, in bytes.
    pub stream_bytes: u32,
    /// Window of all streams together, in bytes.
    pub connection_bytes: u32,
}

/// Chromium's windows: only the path limits the load of whole pages.
pub const PAGE_WINDOWS: H2Windows = H2Windows {
    stream_bytes: 6 << 20,
    connection_bytes: 15 << 20,
};

/// An HTTP/2 connection; exchanges may overlap.
pub struct H2Client {
    requests: SendRequest<Bytes>,
    driver: JoinHandle<()>,
    /// Closed at the connection's end. The driver owns the sender.
    ended: watch::Receiver<()>,
    log: Arc<SetupLog>,
}

impl H2Client {
    /// Begins HTTP/2. Returns before any byte has left: preface, SETTINGS and the first request
    /// share a flight.
    pub async fn open<S>(stream: S, log: Arc<SetupLog>) -> Result<Self, MeasuredFailure>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        Self::open_by(&builder(), stream, log).await
    }

    /// Begins HTTP/2 with windows for whole pages.
    pub async fn open_with<S>(
        stream: S,
        windows: H2Windows,
        log: Arc<SetupLog>,
    ) -> Result<Self, MeasuredFailure>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        Self::open_by(&builder_with(windows), stream, log).await
    }

    /// Begins HTTP/2 with these windows, accepting pushed responses.
    pub async fn open_for_pushes<S>(
        stream: S,
        windows: H2Windows,
        log: Arc<SetupLog>,
    ) -> Result<Self, MeasuredFailure>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let mut builder = builder_with(windows);
        builder.enable_push(true);
        Self::open_by(&builder, stream, log).await
    }

    async fn open_by<S>(
        builder: &Builder,
        stream: S,
        log: Arc<SetupLog>,
    ) -> Result<Self, MeasuredFailure>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (requests, connection) = builder
            .handshake(stream)
            .await
            .map_err(|error| failure_of(error, &log))?;
        let (running, ended) = watch::channel(());
        let driver = async move {
            drive(connection).await;
            drop(running);
        };
        Ok(Self {
            requests,
            driver: tokio::spawn(driver),
            ended,
            log,
        })
    }

    /// Sends a request's head, and reads the response in pieces. Returns when the head may leave.
    /// Above the server's limit on concurrent requests (RFC 9113 section 5.1.2), the head leaves
    /// after the end of another request. Requests leave in the order of their calls.
    pub async fn begin(
        &self,
        request: Request<()>,
        ends: bool,
    ) -> Result<(BodyWriter, ResponseReader), MeasuredFailure> {
        let failure = |error| failure_of(error, &self.log);
        let mut requests = self.requests.clone().ready().await.map_err(failure)?;
        let (response, send) = requests.send_request(request, ends).map_err(failure)?;
        let body = if ends {
            BodyWriter::nothing()
        } else {
            BodyWriter::h2(send)
        };
        // The library's place in its queue is this handle's. Whatever ends the connection
        // meanwhile, the response tells.
        let _ = poll_fn(|cx| requests.poll_ready(cx)).await;
        let is_early = self.log.handshake().is_none();
        let response = ResponseReader::h2(response).with_early_request(is_early);
        Ok((body, response))
    }

    /// Sends a request and waits for the whole response, with at most `body_max_bytes` of body.
    pub async fn exchange(
        &self,
        request: Request<Bytes>,
        body_max_bytes: usize,
    ) -> Result<Response<Bytes>, MeasuredFailure> {
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
    ) -> Result<Response<Bytes>, MeasuredFailure> {
        self.try_exchange(request, body_max_bytes, observe)
            .await
            .map_err(|error| match error {
                H2ExchangeError::H2(error) => failure_of(error, &self.log),
                H2ExchangeError::Refused(error) => {
                    MeasuredFailure::new(Failure::QueryConnectionClosed, error)
                }
                H2ExchangeError::TooLarge => {
                    MeasuredFailure::new(Failure::HttpProtocol, "the response is too large")
                }
            })
    }

    async fn try_exchange(
        &self,
        request: Request<Bytes>,
        body_max_bytes: usize,
        observe: &mut PieceObserver<'_>,
    ) -> Result<Response<Bytes>, H2ExchangeError> {
        let (head, body) = request.into_parts();
        let mut requests = self.requests.clone().ready().await?;
        let (response, mut send) =
            requests.send_request(Request::from_parts(head, ()), body.is_empty())?;
        if !body.is_empty() {
            send.send_data(body, true)?;
        }
        let (head, mut stream) = response
            .await
            .map_err(H2ExchangeError::from_head_error)?
            .into_parts();
        let head = Response::from_parts(head, ());
        let mut body = BytesMut::new();
        while let Some(chunk) = stream.data().await {
            let chunk = chunk?;
            stream.flow_control().release_capacity(chunk.len())?;
            body.extend_from_slice(&chunk);
            if body.len() > body_max_bytes {
                return Err(H2ExchangeError::TooLarge);
            }
            observe(&head, &chunk);
        }
        Ok(head.map(|()| body.freeze()))
    }

    /// Returns the time of the last arrival on the connection.
    pub fn last_arrival(&self) -> &LastArrival {
        &self.log.last_arrival
    }

    /// Returns true when the connection accepts further requests: not after a GOAWAY from the
    /// server (RFC 9113 section 6.8).
    pub fn takes_requests(&self) -> bool {
        let cx = &mut Context::from_waker(Waker::noop());
        let ready = self.requests.clone().poll_ready(cx);
        !self.is_closed() && !matches!(ready, Poll::Ready(Err(_)))
    }

    /// Resolves when the connection has ended.
    pub async fn wait_for_end(&self) {
        let mut ended = self.ended.clone();
        while ended.changed().await.is_ok() {}
    }

    /// Returns true when the connection has ended.
    pub fn is_closed(&self) -> bool {
        self.driver.is_finished()
    }

    /// Ends the connection at once; waiting exchanges fail.
    pub fn abort(&self) {
        self.driver.abort();
    }

    /// Returns the log of the connection's set-up.
    pub fn log(&self) -> &Arc<SetupLog> {
        &self.log
    }

    /// Ends the connection with GOAWAY, close_notify and FIN. Waits until the server has received
    /// everything, for `at_most` this time; bytes not sent by then never leave.
    pub async fn close(self, at_most: Duration) {
        let Self {
            requests,
            mut driver,
            log,
            ..
        } = self;
        let tcp = log.tcp_end();
        drop(requests);
        let ending = async {
            let _ = (&mut driver).await;
            if let Some(tcp) = &tcp {
                tcp.wait_until_acknowledged().await;
            }
        };
        if timeout(at_most, ending).await.is_ok() {
            return;
        }
        if let Some(tcp) = tcp {
            tcp.reset();
        }
        if !driver.is_finished() {
            driver.abort();
            let _ = driver.await;
        }
    }
}

fn builder() -> Builder {
    let mut builder = Builder::new();
    builder
        .enable_push(false)
        .max_header_list_size(HEAD_MAX_BYTES);
    builder
}

fn builder_with(windows: H2Windows) -> Builder {
    let mut builder = builder();
    builder
        .initial_window_size(windows.stream_bytes)
        .initial_connection_window_size(windows.connection_bytes);
    builder
}

enum H2ExchangeError {
    H2(h2::Error),
    /// The server did not process the request, which may be sent again (RFC 9113 section 8.7).
    Refused(h2::Error),
    TooLarge,
}

impl H2ExchangeError {
    /// The error of a request without a response head. After one, the server did process the
    /// request.
    fn from_head_error(error: h2::Error) -> Self {
        let is_refused = error.reason() == Some(h2::Reason::REFUSED_STREAM);
        if error.is_reset() && error.is_remote() && is_refused {
            Self::Refused(error)
        } else {
            Self::H2(error)
        }
    }
}

impl From<h2::Error> for H2ExchangeError {
    fn from(error: h2::Error) -> Self {
        Self::H2(error)
    }
}

/// Drives the connection to the end. An error reaches every exchange on the connection, and needs
/// no report here.
async fn drive<S: AsyncRead + AsyncWrite + Unpin>(connection: Connection<S, Bytes>) {
    let _ = connection.await;
}

fn failure_of(error: h2::Error, log: &SetupLog) -> MeasuredFailure {
    if error.is_io() {
        let text = error.to_string();
        let error = error.into_io().unwrap_or_else(|| io::Error::other(text));
        return stream_failure(&error, log);
    }
    // The h2 crate ends streams above the last stream of the server's GOAWAY alone with this error,
    // whatever the code (RFC 9113 section 6.8).
    if error.is_go_away() && error.is_remote() {
        return left_out(error.reason());
    }
    MeasuredFailure::new(Failure::HttpProtocol, error)
}

/// Returns the failure of a request that the server did not process.
fn left_out(reason: Option<h2::Reason>) -> MeasuredFailure {
    let error_code = reason.filter(|reason| *reason != h2::Reason::NO_ERROR);
    let detail = match error_code {
        Some(code) => format!("{GOAWAY_CAME}: {code}"),
        None => GOAWAY_CAME.to_owned(),
    };
    MeasuredFailure::new(Failure::QueryConnectionClosed, detail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::streaming::ResetReason;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

    async fn serve(stream: DuplexStream, answer_bytes: usize) {
        let mut connection = h2::server::handshake(stream).await.unwrap();
        while let Some(Ok((request, mut respond))) = connection.accept().await {
            tokio::spawn(async move {
                let mut body = request.into_body();
                let mut length = 0;
                while let Some(Ok(chunk)) = body.data().await {
                    length += chunk.len();
                }
                let response = Response::builder()
                    .header("x-got", length)
                    .body(())
                    .unwrap();
                let mut send = respond.send_response(response, false).unwrap();
                send.send_data(Bytes::from(vec![b'a'; answer_bytes]), true)
                    .unwrap();
            });
        }
    }

    async fn client(answer_bytes: usize) -> H2Client {
        let (near, far) = tokio::io::duplex(1 << 20);
        tokio::spawn(serve(far, answer_bytes));
        H2Client::open(near, Arc::default()).await.unwrap()
    }

    fn post(body: &'static str) -> Request<Bytes> {
        Request::post("https://dns.example/dns-query")
            .body(Bytes::from_static(body.as_bytes()))
            .unwrap()
    }

    #[tokio::test]
    async fn overlapping_exchanges_share_the_connection() {
        let client = client(300).await;
        let (first, second) = tokio::join!(
            client.exchange(post("abc"), 1000),
            client.exchange(post(""), 1000)
        );
        let first = first.unwrap();
        assert_eq!(
            (first.headers()["x-got"].as_bytes(), first.body().len()),
            (&b"3"[..], 300)
        );
        assert_eq!(second.unwrap().headers()["x-got"], "0");
        assert!(!client.is_closed());
        client.close(Duration::from_secs(1)).await;
    }

    #[tokio::test]
    async fn an_oversized_body_is_refused() {
        let failure = client(300)
            .await
            .exchange(post("abc"), 299)
            .await
            .unwrap_err();
        assert_eq!(failure.failure, Failure::HttpProtocol);
    }

    const LONG: Duration = Duration::from_secs(10);

    fn get() -> Request<()> {
        Request::get("https://a.test/").body(()).unwrap()
    }

    /// Tests the limit on concurrent requests of RFC 9113 section 5.1.2.
    #[tokio::test]
    async fn a_request_has_begun_when_the_server_takes_it() {
        let (near, far) = tokio::io::duplex(1 << 20);
        let client = H2Client::open(near, Arc::default()).await.unwrap();
        let mut server = h2::server::Builder::new();
        server.max_concurrent_streams(1);
        let server = server.handshake::<_, Bytes>(far).await.unwrap();
        let (requests, mut taken) = tokio::sync::mpsc::unbounded_channel();
        tokio::spawn(async move {
            let mut server = server;
            while let Some(Ok((_, respond))) = server.accept().await {
                requests.send(respond).unwrap();
            }
        });
        let answer = |respond: Option<h2::server::SendResponse<Bytes>>| {
            let answered = respond.unwrap().send_response(Response::new(()), true);
            answered.unwrap();
        };
        // The client knows the limit when it has an answer.
        let (_, mut response) = client.begin(get(), true).await.unwrap();
        answer(taken.recv().await);
        response.head().await.unwrap();
        let (_, mut first) = client.begin(get(), true).await.unwrap();
        let respond = taken.recv().await;
        let mut second = std::pin::pin!(client.begin(get(), true));
        let early = timeout(Duration::from_millis(100), &mut second).await;
        assert!(early.is_err(), "it waits in the library's queue");
        answer(respond);
        first.head().await.unwrap();
        timeout(LONG, second).await.unwrap().unwrap();
    }

    /// RFC 9113 section 6.8: streams above the last stream of GOAWAY were not processed, lower
    /// streams may have been.
    #[tokio::test]
    async fn what_goaway_leaves_unprocessed_is_told_from_what_broke_off() {
        let (near, mut far) = tokio::io::duplex(1 << 20);
        let client = H2Client::open(near, Arc::default()).await.unwrap();
        let (_, mut first) = client.begin(get(), true).await.unwrap();
        let (_, mut second) = client.begin(get(), true).await.unwrap();
        assert!(client.takes_requests());
        let settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
        let goaway_of_first = [0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0];
        far.write_all(&[&settings[..], &goaway_of_first].concat())
            .await
            .unwrap();
        let unprocessed = timeout(LONG, second.head()).await.unwrap();
        assert_eq!(unprocessed.err().unwrap().reason, ResetReason::Refused);
        assert!(!client.takes_requests() && !client.is_closed());
        drop(far);
        let broken = timeout(LONG, first.head()).await.unwrap();
        assert_eq!(broken.err().unwrap().reason, ResetReason::Failed);
        timeout(LONG, client.wait_for_end()).await.unwrap();
    }

    /// RFC 9113 section 6.8 has no condition on the error code.
    #[tokio::test]
    async fn what_goaway_leaves_out_may_be_sent_again_whatever_the_code() {
        let settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
        for code in [0, 2, 11, 99] {
            let (near, mut far) = tokio::io::duplex(1 << 20);
            let client = H2Client::open(near, Arc::default()).await.unwrap();
            let go_away_of_first = [0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, code];
            let (covered, left_out, ()) = tokio::join!(
                client.exchange(post("abc"), 10),
                client.exchange(post("abc"), 10),
                async {
                    tokio::task::yield_now().await;
                    let frames = [&settings[..], &go_away_of_first].concat();
                    far.write_all(&frames).await.unwrap();
                    // An answer that breaks the rules of HTTP/2: DATA before the head.
                    far.write_all(&[0, 0, 0, 0, 1, 0, 0, 0, 1]).await.unwrap();
                },
            );
            let left_out = left_out.unwrap_err();
            assert_eq!(left_out.failure, Failure::QueryConnectionClosed, "{code}");
            assert!(left_out.detail.starts_with(GOAWAY_CAME), "{left_out}");
            let covered = covered.unwrap_err();
            assert_eq!(covered.failure, Failure::HttpProtocol, "{code} {covered}");
            let late = client.exchange(post("abc"), 10).await.unwrap_err();
            assert_ne!(late.failure, Failure::Other, "{late}");
        }
    }

    #[tokio::test]
    async fn what_is_given_up_on_at_a_close_ends_with_it() {
        let (near, mut far) = tokio::io::duplex(1 << 10);
        let client = H2Client::open(near, Arc::default()).await.unwrap();
        let (mut body, _response) = client.begin(get(), false).await.unwrap();
        body.send(vec![b'x'; 20_000].into()).await.unwrap();
        client.close(Duration::from_millis(50)).await;
        // Nobody sends the rest any more.
        let mut sent = Vec::new();
        timeout(LONG, far.read_to_end(&mut sent))
            .await
            .unwrap()
            .unwrap();
        assert!(sent.len() <= 1 << 10, "{}", sent.len());
    }

    #[tokio::test]
    async fn a_lost_connection_is_told() {
        let (near, far) = tokio::io::duplex(1 << 10);
        let client = H2Client::open(near, Arc::default()).await.unwrap();
        drop(far);
        let failure = client.exchange(post("abc"), 10).await.unwrap_err();
        assert_eq!(failure.failure, Failure::QueryConnectionClosed);
        assert!(client.is_closed());
    }
}
