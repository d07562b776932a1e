//! HTTP/2 (RFC 9113) client on an open stream, TLS as a rule.

use crate::streaming::{BodyWriter, ResponseReader};
use crate::{GOAWAY_CAME, PieceObserver};
use bytes::{Bytes, BytesMut};
use h2::client::{Builder, Connection, SendRequest};
use http::{Request, Response};
use resolab_record::Failure;
use resolab_transport::client::{MeasuredFailure, SetupLog, stream_failure};
use resolab_transport::receive_stamp::LastArrival;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinHandle;

/// Of a response. By default 16 MB would be taken.
const HEAD_MAX_BYTES: u32 = 65_536;

/// What a server may send before it is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct H2Windows {
    /// On one stream.
    pub stream_bytes: u32,
    /// On all together.
    pub connection_bytes: u32,
}

/// One connection; exchanges may overlap.
pub struct H2Client {
    requests: SendRequest<Bytes>,
    driver: JoinHandle<()>,
    log: Arc<SetupLog>,
}

impl H2Client {
    /// Begin HTTP/2. Returns before anything has left: preface, SETTINGS and the first request
    /// share a flight.
    pub async fn open<S>(stream: S, log: Arc<SetupLog>) -> Result<Self, MeasuredFailure>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        Self::open_by(&builder(), stream, log).await
    }

    /// The same with windows for whole pages.
    pub async fn open_with<S>(
        stream: S,
        windows: H2Windows,
        log: Arc<SetupLog>,
    ) -> Result<Self, MeasuredFailure>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let mut builder = builder();
        builder
            .initial_window_size(windows.stream_bytes)
            .initial_connection_window_size(windows.connection_bytes);
        Self::open_by(&builder, stream, log).await
    }

    /// The same, of a client that takes what the server pushes.
    pub async fn open_for_pushes<S>(stream: S, log: Arc<SetupLog>) -> Result<Self, MeasuredFailure>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let mut builder = builder();
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
        Ok(Self {
            requests,
            driver: tokio::spawn(drive(connection)),
            log,
        })
    }

    /// Send a request's head, and read the response piece by piece. Returns when the head was handed
    /// to the connection, so that requests begun one after the other leave in that order.
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
        Ok((body, ResponseReader::h2(response)))
    }

    /// Send a request and wait for the whole response, at most `body_max_bytes` of body.
    pub async fn exchange(
        &self,
        request: Request<Bytes>,
        body_max_bytes: usize,
    ) -> Result<Response<Bytes>, MeasuredFailure> {
        self.exchange_observed(request, body_max_bytes, &mut |_, _| ())
            .await
    }

    /// The same, and each piece of the body, with the head, as it comes.
    pub async fn exchange_observed(
        &self,
        request: Request<Bytes>,
        body_max_bytes: usize,
        observe: &mut PieceObserver<'_>,
    ) -> Result<Response<Bytes>, MeasuredFailure> {
        self.try_exchange(request, body_max_bytes, observe)
            .await
            .map_err(|error| match error {
                ExchangeError::H2(error) => failure_of(error, &self.log),
                ExchangeError::TooLarge => {
                    MeasuredFailure::new(Failure::HttpProtocol, "the response is too large")
                }
            })
    }

    async fn try_exchange(
        &self,
        request: Request<Bytes>,
        body_max_bytes: usize,
        observe: &mut PieceObserver<'_>,
    ) -> Result<Response<Bytes>, ExchangeError> {
        let (head, body) = request.into_parts();
        let mut requests = self.requests.clone().ready().await?;
        let (response, mut send) =
            requests.send_request(Request::from_parts(head, ()), body.is_empty())?;
        if !body.is_empty() {
            send.send_data(body, true)?;
        }
        let (head, mut stream) = response.await?.into_parts();
        let head = Response::from_parts(head, ());
        let mut body = BytesMut::new();
        while let Some(chunk) = stream.data().await {
            let chunk = chunk?;
            stream.flow_control().release_capacity(chunk.len())?;
            body.extend_from_slice(&chunk);
            if body.len() > body_max_bytes {
                return Err(ExchangeError::TooLarge);
            }
            observe(&head, &chunk);
        }
        Ok(head.map(|()| body.freeze()))
    }

    /// When what the connection brought last arrived.
    pub fn last_arrival(&self) -> &LastArrival {
        &self.log.last_arrival
    }

    /// Whether the connection has ended.
    pub fn is_closed(&self) -> bool {
        self.driver.is_finished()
    }

    /// End at once; what waits fails.
    pub fn abort(&self) {
        self.driver.abort();
    }

    /// What became of its set-up.
    pub fn log(&self) -> &Arc<SetupLog> {
        &self.log
    }

    /// End with GOAWAY, close_notify and FIN, and wait `at_most` for that.
    pub async fn close(self, at_most: Duration) {
        drop(self.requests);
        let _ = tokio::time::timeout(at_most, self.driver).await;
    }
}

fn builder() -> Builder {
    let mut builder = Builder::new();
    builder
        .enable_push(false)
        .max_header_list_size(HEAD_MAX_BYTES);
    builder
}

enum ExchangeError {
    H2(h2::Error),
    TooLarge,
}

impl From<h2::Error> for ExchangeError {
    fn from(error: h2::Error) -> Self {
        Self::H2(error)
    }
}

/// What ends the connection reaches every exchange on it, so it need not be told here.
async fn drive<S: AsyncRead + AsyncWrite + Unpin>(connection: Connection<S, Bytes>) {
    let _ = connection.await;
}

fn failure_of(error: h2::Error, log: &SetupLog) -> MeasuredFailure {
    if error.is_io() {
        let text = error.to_string();
        let error = error.into_io().unwrap_or_else(|| io::Error::other(text));
        return stream_failure(&error, log);
    }
    if error.is_go_away() && error.reason() == Some(h2::Reason::NO_ERROR) {
        return MeasuredFailure::new(Failure::QueryConnectionClosed, GOAWAY_CAME);
    }
    MeasuredFailure::new(Failure::HttpProtocol, error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::DuplexStream;

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
