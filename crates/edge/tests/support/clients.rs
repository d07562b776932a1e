//! One HTTP client for each version, with the same face; none is resolab's.

use super::{HOST, Lab};
use bytes::{Buf, Bytes};
use http::{HeaderName, HeaderValue, Method, Request, Response};
use rustls::ClientConfig;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

pub type Fetched = (Response<()>, Vec<u8>);

/// A connection that speaks one version.
pub enum Client {
    H1(H1),
    H2(h2::client::SendRequest<Bytes>),
    H3(
        quinn::Connection,
        h3::client::SendRequest<h3_quinn::OpenStreams, Bytes>,
    ),
}

pub const VERSIONS: [&str; 3] = ["http/1.1", "h2", "h3"];

impl Client {
    /// To the web address, by ALPN.
    pub async fn connect(lab: &Lab, alpn: &str, name: &str) -> Self {
        Self::connect_to(lab, alpn, name, lab.web()).await
    }

    pub async fn connect_to(lab: &Lab, alpn: &str, name: &str, server: SocketAddr) -> Self {
        match alpn {
            "h3" => {
                let endpoint = lab.quic_client("h3");
                let quic = endpoint.connect(server, name).unwrap().await.unwrap();
                let transport = h3_quinn::Connection::new(quic.clone());
                let (mut driver, http) = h3::client::new(transport).await.unwrap();
                tokio::spawn(async move {
                    std::future::poll_fn(|cx| driver.poll_close(cx)).await;
                    drop(endpoint);
                });
                Self::H3(quic, http)
            }
            "h2" => {
                let stream = tls(&lab.tls_client("h2"), server, name).await;
                let (http, connection) = h2::client::handshake(stream).await.unwrap();
                tokio::spawn(connection);
                Self::H2(http.ready().await.unwrap())
            }
            _ => Self::H1(H1::new(tls(&lab.tls_client(alpn), server, name).await)),
        }
    }

    pub async fn get(&mut self, path: &str, fields: &[(&str, &str)]) -> Fetched {
        self.fetch(request(Method::GET, HOST, path, fields), None)
            .await
    }

    pub async fn fetch(&mut self, request: Request<()>, body: Option<Vec<u8>>) -> Fetched {
        match self {
            Self::H1(http) => http.fetch(&request, body).await,
            Self::H2(http) => fetch_h2(http, request, body).await,
            Self::H3(_, http) => fetch_h3(http, request, body).await,
        }
    }
}

pub fn request(method: Method, host: &str, path: &str, fields: &[(&str, &str)]) -> Request<()> {
    let mut request = Request::builder()
        .method(method)
        .uri(format!("https://{host}{path}"))
        .body(())
        .unwrap();
    for (name, value) in fields {
        let name: HeaderName = name.parse().unwrap();
        request.headers_mut().append(name, value.parse().unwrap());
    }
    request
}

pub async fn tls(
    config: &Arc<ClientConfig>,
    server: SocketAddr,
    name: &str,
) -> TlsStream<TcpStream> {
    let tcp = TcpStream::connect(server).await.unwrap();
    tcp.set_nodelay(true).unwrap();
    let connector = TlsConnector::from(Arc::clone(config)).early_data(true);
    connector
        .connect(name.to_owned().try_into().unwrap(), tcp)
        .await
        .unwrap()
}

async fn fetch_h2(
    http: &mut h2::client::SendRequest<Bytes>,
    request: Request<()>,
    body: Option<Vec<u8>>,
) -> Fetched {
    let (response, mut stream) = http.send_request(request, body.is_none()).unwrap();
    if let Some(body) = body {
        stream.send_data(Bytes::from(body), true).unwrap();
    }
    let (head, mut body) = response.await.unwrap().into_parts();
    let mut whole = Vec::new();
    while let Some(chunk) = body.data().await {
        let chunk = chunk.unwrap();
        whole.extend_from_slice(&chunk);
        body.flow_control().release_capacity(chunk.len()).unwrap();
    }
    (Response::from_parts(head, ()), whole)
}

async fn fetch_h3(
    http: &mut h3::client::SendRequest<h3_quinn::OpenStreams, Bytes>,
    request: Request<()>,
    body: Option<Vec<u8>>,
) -> Fetched {
    let mut stream = http.send_request(request).await.unwrap();
    if let Some(body) = body {
        // The server may refuse before it has read everything.
        let _ = stream.send_data(Bytes::from(body)).await;
    }
    let _ = stream.finish().await;
    let response = stream.recv_response().await.unwrap();
    let mut whole = Vec::new();
    while let Some(mut chunk) = stream.recv_data().await.unwrap() {
        whole.extend_from_slice(&chunk.copy_to_bytes(chunk.remaining()));
    }
    (response, whole)
}

/// HTTP/1.1 by hand: what goes out is what a test wrote.
pub struct H1 {
    pub read: ReadHalf<TlsStream<TcpStream>>,
    pub write: WriteHalf<TlsStream<TcpStream>>,
    pub unread: Vec<u8>,
}

impl H1 {
    pub fn new(stream: TlsStream<TcpStream>) -> Self {
        let (read, write) = tokio::io::split(stream);
        Self {
            read,
            write,
            unread: Vec::new(),
        }
    }

    pub async fn send(&mut self, bytes: &[u8]) {
        self.write.write_all(bytes).await.unwrap();
        self.write.flush().await.unwrap();
    }

    pub async fn fetch(&mut self, request: &Request<()>, body: Option<Vec<u8>>) -> Fetched {
        let uri = request.uri();
        let mut text = format!(
            "{} {} HTTP/1.1\r\nhost: {}\r\n",
            request.method(),
            uri.path_and_query().unwrap(),
            uri.authority().unwrap()
        );
        for (name, value) in request.headers() {
            write!(text, "{name}: {}\r\n", value.to_str().unwrap()).unwrap();
        }
        if let Some(body) = &body {
            write!(text, "content-length: {}\r\n", body.len()).unwrap();
        }
        text += "\r\n";
        let bytes = [text.into_bytes(), body.unwrap_or_default()].concat();
        // The server may refuse before it has read everything.
        let _ = self.write.write_all(&bytes).await;
        let _ = self.write.flush().await;
        self.receive(request.method() == Method::HEAD).await
    }

    /// The next response; its body is as long as `content-length` says.
    pub async fn receive(&mut self, bodyless: bool) -> Fetched {
        let end = loop {
            let end = self.unread.windows(4).position(|part| part == b"\r\n\r\n");
            if let Some(end) = end {
                break end;
            }
            assert!(self.more().await > 0, "no response: {:?}", self.unread);
        };
        let rest = self.unread.split_off(end + 4);
        let head = std::mem::replace(&mut self.unread, rest);
        let head = String::from_utf8(head).unwrap();
        let mut lines = head.trim_end().split("\r\n");
        let status = lines.next().unwrap().strip_prefix("HTTP/1.1 ").unwrap();
        let mut response = Response::new(());
        *response.status_mut() = status[..3].parse().unwrap();
        for line in lines {
            let (name, value) = line.split_once(": ").unwrap();
            let value = HeaderValue::from_str(value).unwrap();
            let name: HeaderName = name.parse().unwrap();
            response.headers_mut().append(name, value);
        }
        let length = response.headers().get("content-length");
        let length = length.map_or(0, |value| value.to_str().unwrap().parse().unwrap());
        let length: usize = if bodyless { 0 } else { length };
        while self.unread.len() < length {
            assert!(self.more().await > 0, "the body ended early");
        }
        let rest = self.unread.split_off(length);
        (response, std::mem::replace(&mut self.unread, rest))
    }

    /// Bytes read, 0 at the end.
    pub async fn more(&mut self) -> usize {
        let mut buffer = vec![0; 16_384];
        let count = self.read.read(&mut buffer).await.unwrap();
        self.unread.extend_from_slice(&buffer[..count]);
        count
    }
}
