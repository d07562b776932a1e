//! Clients of the gateway's legs that are not resolab's.

use super::LONG;
use bytes::{Buf, Bytes};
use http::{HeaderMap, Method, Request, Response};
use quinn::crypto::rustls::QuicClientConfig;
use resolab_record::HttpVersion;
use rustls::{ClientConfig, RootCertStore};
use std::fmt::Write as _;
use std::future::poll_fn;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

pub type H3Requests = h3::client::SendRequest<h3_quinn::OpenStreams, Bytes>;

pub enum Browser {
    H1(String, Box<TlsStream<TcpStream>>),
    H2(String, h2::client::SendRequest<Bytes>),
    H3(String, H3Requests, quinn::Connection),
}

/// A response as a browser has it.
pub struct Fetched {
    pub interim: Vec<Response<()>>,
    pub head: Response<()>,
    pub body: Vec<u8>,
    pub trailers: Option<HeaderMap>,
}

impl Fetched {
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}

pub fn request(method: Method, host: &str, path: &str) -> Request<()> {
    Request::builder()
        .method(method)
        .uri(format!("https://{host}{path}"))
        .body(())
        .unwrap()
}

pub fn tls(roots: RootCertStore, alpn: &str) -> Arc<ClientConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![alpn.as_bytes().to_vec()];
    Arc::new(config)
}

impl Browser {
    pub async fn open(
        roots: RootCertStore,
        leg: HttpVersion,
        host: &str,
        address: SocketAddr,
    ) -> Result<Self, String> {
        let opening = Self::try_open(roots, leg, host, address);
        timeout(LONG, opening)
            .await
            .map_err(|error| error.to_string())?
    }

    async fn try_open(
        roots: RootCertStore,
        leg: HttpVersion,
        host: &str,
        address: SocketAddr,
    ) -> Result<Self, String> {
        let name = host.to_owned();
        if leg == HttpVersion::H3 {
            let mut endpoint = quinn::Endpoint::client((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
            let crypto = QuicClientConfig::try_from(tls(roots, "h3")).unwrap();
            endpoint.set_default_client_config(quinn::ClientConfig::new(Arc::new(crypto)));
            let connecting = endpoint.connect(address, host).unwrap();
            let quic = connecting.await.map_err(|error| error.to_string())?;
            let transport = h3_quinn::Connection::new(quic.clone());
            let (mut driver, http) = h3::client::new(transport).await.unwrap();
            tokio::spawn(async move {
                poll_fn(|cx| driver.poll_close(cx)).await;
                drop(endpoint);
            });
            return Ok(Self::H3(name, http, quic));
        }
        let alpn = if leg == HttpVersion::H2 {
            "h2"
        } else {
            "http/1.1"
        };
        let tcp = TcpStream::connect(address)
            .await
            .map_err(|error| error.to_string())?;
        let connector = TlsConnector::from(tls(roots, alpn));
        let stream = connector
            .connect(name.clone().try_into().unwrap(), tcp)
            .await;
        let stream = stream.map_err(|error| error.to_string())?;
        if leg == HttpVersion::H1 {
            return Ok(Self::H1(name, Box::new(stream)));
        }
        let (http, connection) = h2::client::handshake(stream).await.unwrap();
        tokio::spawn(connection);
        Ok(Self::H2(name, http.ready().await.unwrap()))
    }

    pub async fn get(&mut self, path: &str) -> Fetched {
        let request = request(Method::GET, self.host(), path);
        self.fetch(request, None).await.unwrap()
    }

    pub fn host(&self) -> &str {
        match self {
            Self::H1(host, _) | Self::H2(host, _) | Self::H3(host, ..) => host,
        }
    }

    pub async fn fetch(
        &mut self,
        request: Request<()>,
        body: Option<Vec<u8>>,
    ) -> Result<Fetched, String> {
        let fetching = async {
            match self {
                Self::H1(_, stream) => fetch_h1(stream, &request, body).await,
                Self::H2(_, http) => fetch_h2(http, request, body)
                    .await
                    .map_err(|error| error.to_string()),
                Self::H3(_, http, _) => fetch_h3(http, request, body)
                    .await
                    .map_err(|error| error.to_string()),
            }
        };
        timeout(LONG, fetching)
            .await
            .map_err(|error| error.to_string())?
    }
}

async fn fetch_h2(
    http: &h2::client::SendRequest<Bytes>,
    request: Request<()>,
    body: Option<Vec<u8>>,
) -> Result<Fetched, h2::Error> {
    let mut http = http.clone().ready().await?;
    let (mut response, mut send) = http.send_request(request, body.is_none())?;
    if let Some(body) = body {
        send.send_data(Bytes::from(body), true)?;
    }
    let mut interim = Vec::new();
    while let Some(head) = poll_fn(|cx| response.poll_informational(cx)).await {
        interim.push(head?);
    }
    let (head, mut stream) = response.await?.into_parts();
    let mut whole = Vec::new();
    while let Some(piece) = stream.data().await {
        let piece = piece?;
        whole.extend_from_slice(&piece);
        stream.flow_control().release_capacity(piece.len())?;
    }
    let trailers = stream.trailers().await?;
    Ok(Fetched {
        interim,
        head: Response::from_parts(head, ()),
        body: whole,
        trailers,
    })
}

async fn fetch_h3(
    http: &mut H3Requests,
    request: Request<()>,
    body: Option<Vec<u8>>,
) -> Result<Fetched, h3::error::StreamError> {
    let mut stream = http.send_request(request).await?;
    if let Some(body) = body {
        stream.send_data(Bytes::from(body)).await?;
    }
    stream.finish().await?;
    let mut interim = Vec::new();
    let head = loop {
        let head = stream.recv_response().await?;
        if !head.status().is_informational() {
            break head;
        }
        interim.push(head);
    };
    let mut whole = Vec::new();
    while let Some(mut piece) = stream.recv_data().await? {
        whole.extend_from_slice(&piece.copy_to_bytes(piece.remaining()));
    }
    let trailers = stream.recv_trailers().await?;
    Ok(Fetched {
        interim,
        head,
        body: whole,
        trailers,
    })
}

/// By hand; the body is as long as `content-length` says, else chunked.
async fn fetch_h1(
    stream: &mut TlsStream<TcpStream>,
    request: &Request<()>,
    body: Option<Vec<u8>>,
) -> Result<Fetched, String> {
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
    let bytes = [format!("{text}\r\n").into_bytes(), body.unwrap_or_default()].concat();
    stream
        .write_all(&bytes)
        .await
        .map_err(|error| error.to_string())?;
    let head = read_to(stream, b"\r\n\r\n").await?;
    let head = String::from_utf8(head).unwrap();
    let mut lines = head.trim_end().split("\r\n");
    let mut response = Response::new(());
    *response.status_mut() = lines.next().unwrap()[9..12].parse().unwrap();
    for line in lines {
        let (name, value) = line.split_once(": ").unwrap();
        let name: http::HeaderName = name.parse().unwrap();
        response.headers_mut().append(name, value.parse().unwrap());
    }
    let length = response.headers().get("content-length").cloned();
    let body = match length {
        Some(length) => {
            let mut body = vec![0; length.to_str().unwrap().parse().unwrap()];
            let read = stream.read_exact(&mut body).await;
            read.map_err(|error| error.to_string())?;
            body
        }
        None if response.headers().contains_key("transfer-encoding") => chunks(stream).await?,
        None => Vec::new(),
    };
    Ok(Fetched {
        interim: Vec::new(),
        head: response,
        body,
        trailers: None,
    })
}

async fn chunks(stream: &mut TlsStream<TcpStream>) -> Result<Vec<u8>, String> {
    let mut whole = Vec::new();
    loop {
        let line = read_to(stream, b"\r\n").await?;
        let line = String::from_utf8(line).unwrap();
        let length = usize::from_str_radix(line.trim_end(), 16).unwrap();
        let mut chunk = vec![0; length + 2];
        let read = stream.read_exact(&mut chunk).await;
        read.map_err(|error| error.to_string())?;
        if length == 0 {
            return Ok(whole);
        }
        whole.extend_from_slice(&chunk[..length]);
    }
}

async fn read_to(stream: &mut TlsStream<TcpStream>, end: &[u8]) -> Result<Vec<u8>, String> {
    let mut read = Vec::new();
    while !read.ends_with(end) {
        read.push(stream.read_u8().await.map_err(|error| error.to_string())?);
    }
    Ok(read)
}

/// TLS for HTTP/2 on which nothing is said.
pub async fn tls_alone(
    roots: RootCertStore,
    host: &str,
    address: (Ipv4Addr, u16),
) -> TlsStream<TcpStream> {
    let tcp = TcpStream::connect(address).await.unwrap();
    let connector = TlsConnector::from(tls(roots, "h2"));
    let name = host.to_owned().try_into().unwrap();
    connector.connect(name, tcp).await.unwrap()
}

/// Ask for all paths, one begun after the other, and wait for all responses.
pub async fn ask_all(browser: Browser, paths: &[String]) {
    let mut answers = tokio::task::JoinSet::new();
    match browser {
        Browser::H1(..) => panic!("HTTP/1.1 has one request at a time"),
        Browser::H2(host, http) => {
            for path in paths {
                let mut http = http.clone().ready().await.unwrap();
                let sent = http.send_request(request(Method::GET, &host, path), true);
                let response = sent.unwrap().0;
                answers.spawn(async move { drop(response.await.unwrap()) });
            }
        }
        Browser::H3(host, mut http, _) => {
            for path in paths {
                let sent = http.send_request(request(Method::GET, &host, path)).await;
                let mut stream = sent.unwrap();
                stream.finish().await.unwrap();
                answers.spawn(async move { drop(stream.recv_response().await.unwrap()) });
            }
            answers.join_all().await;
            return;
        }
    }
    answers.join_all().await;
}

/// Ask for all paths, so many at a time, and wait for all of each response.
pub async fn ask_in_turn(browser: Browser, paths: &[String], at_a_time: usize) {
    for some in paths.chunks(at_a_time) {
        let mut answers = tokio::task::JoinSet::new();
        for path in some {
            let get = request(Method::GET, browser.host(), path);
            match &browser {
                Browser::H1(..) => panic!("HTTP/1.1 has one request at a time"),
                Browser::H2(_, http) => {
                    let http = http.clone();
                    answers.spawn(async move { fetch_h2(&http, get, None).await.unwrap().body });
                }
                Browser::H3(_, http, _) => {
                    let mut http = http.clone();
                    answers
                        .spawn(async move { fetch_h3(&mut http, get, None).await.unwrap().body });
                }
            }
        }
        answers.join_all().await;
    }
}
