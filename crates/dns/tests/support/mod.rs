//! A resolver on loopback that speaks all six transports, just enough to test clients: every name
//! has the address 192.0.2.7, but some names make trouble. Not for: being correct otherwise.
#![allow(dead_code, clippy::unwrap_used, clippy::needless_pass_by_value)]

mod answers;
pub mod closing;
pub mod hold;
pub mod stub;

pub use answers::answer;

use answers::{in_halves, is_named};
use bytes::{Buf, Bytes, BytesMut};
use h2::server::SendResponse;
use http::{Request, Response};
use resolab_dns::bootstrap::GivenAddresses;
use resolab_dns::{ClientOptions, DnsClient};
use resolab_http::quic_streams::Http3Quic;
use resolab_record::TicketPolicy;
use resolab_transport::client::Sha256;
use resolab_transport::server::{
    CertificateAuthority, QuicListener, QuicSettings, ServerPolicies, TicketTerms, TlsStream,
};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, UdpSocket};
use tokio::sync::watch;

pub const HOST: &str = "dns.resolab.test";
/// How long what is to be late is late.
pub const PAUSE: Duration = Duration::from_millis(30);

/// A page's host: at the resolver's own address, and in its certificate.
pub const PAGE_HOST: &str = "here.resolab.test";

/// Requests for this path are neither read nor answered.
pub const UNREAD_PATH: &str = "/unread";

/// The pages of the resolver's HTTP/3 server.
#[derive(Default)]
pub struct Pages {
    /// What follows SETTINGS on the control stream: whole frames.
    pub control_frames: Bytes,
    /// Whether a request that comes on a connection to the resolver's name is answered 421.
    pub is_misdirected: bool,
    /// Requests answered 421.
    pub misdirected_count: usize,
    /// More of a page's body; where there is any, its name's answer waits until all of it was sent.
    pub more_bytes: usize,
    /// Pages that were sent whole.
    pub sent_count: watch::Sender<usize>,
}

impl Pages {
    fn status(&mut self, is_resolver: bool) -> u16 {
        if is_resolver && self.is_misdirected {
            self.misdirected_count += 1;
            421
        } else {
            200
        }
    }
}

static FOLDER_NUMBER: AtomicU32 = AtomicU32::new(0);

pub struct TestResolver {
    pub policies: Arc<ServerPolicies>,
    /// TCP and QUIC connections accepted so far.
    pub connection_count: Arc<AtomicUsize>,
    /// QUIC connections accepted so far.
    pub quic_connections: Arc<Mutex<Vec<quinn::Connection>>>,
    pub ca_file: PathBuf,
    /// What it says of its pages, and how it answers for them.
    pub pages: Arc<Mutex<Pages>>,
    /// Of its certificate.
    pub key_pin: Sha256,
    /// Of its certificate's signed part.
    pub certificate_hash: Sha256,
    folder: PathBuf,
    urls: Vec<(&'static str, String)>,
}

impl Drop for TestResolver {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl TestResolver {
    pub async fn start(policy: TicketPolicy) -> Self {
        let number = FOLDER_NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder =
            std::env::temp_dir().join(format!("resolab-dns-{}-{number}", std::process::id()));
        let authority = CertificateAuthority::open_or_create(&folder).unwrap();
        let policies = Arc::new(ServerPolicies::new(policy, false));
        let names = [HOST.to_owned(), PAGE_HOST.to_owned()];
        let key = authority.issue(&names).unwrap();
        let key_pin = Sha256::from_public_key(&key.cert[0]).unwrap();
        let certificate_hash = Sha256::from_signed_part(&key.cert[0]).unwrap();
        policies.add_name(PAGE_HOST, key.clone(), TicketTerms::new(policy));
        policies.add_name(HOST, key, TicketTerms::new(policy));
        let connection_count = Arc::new(AtomicUsize::new(0));
        let mut resolver = Self {
            policies,
            connection_count,
            quic_connections: Arc::default(),
            pages: Arc::default(),
            ca_file: authority.certificate_file().to_owned(),
            key_pin,
            certificate_hash,
            folder,
            urls: Vec::new(),
        };
        resolver.serve_udp_and_tcp().await;
        for (scheme, alpn) in [("tls", "dot"), ("https", "h2")] {
            resolver.serve_tls(scheme, alpn).await;
        }
        for (scheme, alpn) in [("quic", "doq"), ("h3", "h3")] {
            resolver.serve_quic(scheme, alpn);
        }
        resolver
    }

    pub fn url(&self, scheme: &str) -> &str {
        &self
            .urls
            .iter()
            .find(|(known, _)| *known == scheme)
            .unwrap()
            .1
    }

    pub fn connections(&self) -> usize {
        self.connection_count.load(Ordering::SeqCst)
    }

    pub fn client(&self, scheme: &str, options: ClientOptions) -> DnsClient {
        let options = ClientOptions {
            ca_file: Some(self.ca_file.clone()),
            ..options
        };
        client(self.url(scheme), &options)
    }

    async fn serve_udp_and_tcp(&mut self) {
        // A port that is free over UDP may be taken over TCP.
        let (udp, tcp) = loop {
            let udp = UdpSocket::bind("127.0.0.1:0").await.unwrap();
            if let Ok(tcp) = TcpListener::bind(udp.local_addr().unwrap()).await {
                break (udp, tcp);
            }
        };
        let address = udp.local_addr().unwrap();
        self.urls.push(("udp", format!("udp://{address}")));
        self.urls.push(("tcp", format!("tcp://{address}")));
        tokio::spawn(async move {
            let mut buffer = [0; 4096];
            loop {
                let (length, from) = udp.recv_from(&mut buffer).await.unwrap();
                if let Some(answer) = answer(&buffer[..length], true) {
                    udp.send_to(&answer, from).await.unwrap();
                }
            }
        });
        let count = Arc::clone(&self.connection_count);
        tokio::spawn(async move {
            while let Ok((stream, _)) = tcp.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(serve_framed(stream));
            }
        });
    }

    async fn serve_tls(&mut self, scheme: &'static str, alpn: &'static str) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        self.urls
            .push((scheme, format!("{scheme}://{HOST}:{port}")));
        let (policies, count) = (
            Arc::clone(&self.policies),
            Arc::clone(&self.connection_count),
        );
        tokio::spawn(async move {
            while let Ok((tcp, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                tcp.set_nodelay(true).unwrap();
                let policies = Arc::clone(&policies);
                tokio::spawn(async move {
                    let alpns = [alpn.as_bytes().to_vec()];
                    let (facts, bytes) = (Arc::default(), Arc::default());
                    let stream = TlsStream::accept(tcp, &policies, &alpns, facts, bytes).await;
                    match stream {
                        Ok(stream) if alpn == "h2" => serve_h2(stream).await,
                        Ok(stream) => serve_framed(stream).await,
                        Err(_) => (),
                    }
                });
            }
        });
    }

    fn serve_quic(&mut self, scheme: &'static str, alpn: &'static str) {
        let settings = QuicSettings::with_stream_limits(10, 3, Duration::from_secs(10));
        let listener = QuicListener::bind(
            "127.0.0.1:0".parse().unwrap(),
            vec![alpn.as_bytes().to_vec()],
            Arc::clone(&self.policies),
            &settings,
            Arc::default(),
        )
        .unwrap();
        let port = listener.local_address().unwrap().port();
        self.urls
            .push((scheme, format!("{scheme}://{HOST}:{port}")));
        let count = Arc::clone(&self.connection_count);
        let connections = Arc::clone(&self.quic_connections);
        let pages = Arc::clone(&self.pages);
        tokio::spawn(async move {
            while let Some(arrival) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                let (connections, pages) = (Arc::clone(&connections), Arc::clone(&pages));
                tokio::spawn(async move {
                    let Ok(connection) = arrival.start().await else {
                        return;
                    };
                    connections.lock().unwrap().push(connection.clone());
                    if alpn == "h3" {
                        serve_h3(connection, pages).await;
                    } else {
                        serve_doq(connection).await;
                    }
                });
            }
        });
    }
}

pub fn client(url: &str, options: &ClientOptions) -> DnsClient {
    let given = GivenAddresses::parse(&[format!("{HOST}=127.0.0.1")]).unwrap();
    let resolver = url.parse().unwrap();
    let located = given.locate(&resolver).unwrap();
    DnsClient::new(resolver, located, options).unwrap()
}

async fn serve_framed<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S) {
    while let Ok(length) = stream.read_u16().await {
        let mut query = vec![0; usize::from(length)];
        if stream.read_exact(&mut query).await.is_err() {
            return;
        }
        if let Some(answer) = answer(&query, false) {
            let length = (answer.len() as u16).to_be_bytes();
            let (first, pause, second) = in_halves(answer).await;
            let mut pieces = vec![[&length[..], &first, &second].concat()];
            if !pause.is_zero() {
                let second = pieces[0].split_off(length.len() + first.len());
                pieces.push(second);
            }
            for (number, piece) in pieces.iter().enumerate() {
                tokio::time::sleep(pause * number as u32).await;
                if stream.write_all(piece).await.is_err() || stream.flush().await.is_err() {
                    return;
                }
            }
            hold::written(&query).await;
        }
    }
}

fn server_name(connection: &quinn::Connection) -> Option<String> {
    let data = connection.handshake_data()?;
    data.downcast::<quinn::crypto::rustls::HandshakeData>()
        .ok()?
        .server_name
}

fn response(query: &[u8]) -> Response<()> {
    let mut response = Response::builder().header("content-type", "application/dns-message");
    if is_named(query, "aged") {
        response = response.header("age", "7");
    }
    response.body(()).unwrap()
}

async fn serve_h2(stream: TlsStream) {
    let Ok(mut connection) = h2::server::handshake(stream).await else {
        return;
    };
    while let Some(Ok((request, respond))) = connection.accept().await {
        tokio::spawn(answer_h2(request, respond));
    }
}

async fn answer_h2(request: Request<h2::RecvStream>, mut respond: SendResponse<Bytes>) {
    let (head, mut stream) = request.into_parts();
    let mut body = BytesMut::new();
    while let Some(Ok(chunk)) = stream.data().await {
        body.extend_from_slice(&chunk);
    }
    let query = if head.method == http::Method::GET {
        from_uri(&head.uri)
    } else {
        body.to_vec()
    };
    match answer(&query, false) {
        Some(answer) => {
            let (first, pause, second) = in_halves(answer).await;
            let mut send = respond.send_response(response(&query), false).unwrap();
            let _ = send.send_data(first.into(), false);
            tokio::time::sleep(pause).await;
            let _ = send.send_data(second.into(), true);
            hold::written(&query).await;
        }
        None => std::future::pending().await,
    }
}

fn from_uri(uri: &http::Uri) -> Vec<u8> {
    use base64::Engine;
    let text = uri.query().unwrap().strip_prefix("dns=").unwrap();
    base64::engine::general_purpose::URL_SAFE_NO_PAD
        .decode(text)
        .unwrap()
}

async fn serve_h3(connection: quinn::Connection, pages: Arc<Mutex<Pages>>) {
    let is_resolver = server_name(&connection).as_deref() == Some(HOST);
    let frames = pages.lock().unwrap().control_frames.clone();
    let transport = Http3Quic::server(connection).with_control_frames(frames);
    let Ok(mut connection) = h3::server::Connection::<_, Bytes>::new(transport).await else {
        return;
    };
    while let Ok(Some(resolver)) = connection.accept().await {
        let pages = Arc::clone(&pages);
        tokio::spawn(async move {
            let (request, mut stream) = resolver.resolve_request().await.unwrap();
            if request.uri().path() == UNREAD_PATH {
                return std::future::pending().await;
            }
            if request.uri().host() == Some(PAGE_HOST) {
                return serve_page(&mut stream, &pages, is_resolver).await;
            }
            let mut body = Vec::new();
            while let Ok(Some(mut chunk)) = stream.recv_data().await {
                body.extend_from_slice(&chunk.copy_to_bytes(chunk.remaining()));
            }
            let Some(answer) = answer(&body, false) else {
                return std::future::pending().await;
            };
            let page_sent = {
                let pages = pages.lock().unwrap();
                (pages.more_bytes > 0).then(|| pages.sent_count.subscribe())
            };
            if let Some(mut page_sent) = page_sent {
                page_sent.wait_for(|count| *count > 0).await.unwrap();
            }
            let (first, pause, second) = in_halves(answer).await;
            stream.send_response(response(&body)).await.unwrap();
            stream.send_data(first.into()).await.unwrap();
            tokio::time::sleep(pause).await;
            stream.send_data(second.into()).await.unwrap();
            if is_named(&body, "unended") {
                tokio::time::sleep(PAUSE).await;
            }
            if is_named(&body, "trailers") {
                let trailers = http::HeaderMap::from_iter([(http::header::AGE, 7.into())]);
                stream.send_trailers(trailers).await.unwrap();
                tokio::time::sleep(PAUSE).await;
            }
            stream.finish().await.unwrap();
            hold::written(&body).await;
        });
    }
}

async fn serve_page(
    stream: &mut h3::server::RequestStream<impl h3::quic::BidiStream<Bytes>, Bytes>,
    pages: &Mutex<Pages>,
    is_resolver: bool,
) {
    let (status, more_bytes) = {
        let mut pages = pages.lock().unwrap();
        (pages.status(is_resolver), pages.more_bytes)
    };
    let response = Response::builder().status(status).body(()).unwrap();
    // The client may have no use for it any more.
    let _ = stream.send_response(response).await;
    let _ = stream.send_data(Bytes::from_static(b"page")).await;
    let _ = stream.send_data(vec![b'x'; more_bytes].into()).await;
    let _ = stream.finish().await;
    pages
        .lock()
        .unwrap()
        .sent_count
        .send_modify(|count| *count += 1);
}

/// Until the connection ends.
pub async fn serve_doq(connection: quinn::Connection) {
    while let Ok((mut send, mut receive)) = connection.accept_bi().await {
        tokio::spawn(async move {
            let Ok(query) = receive.read_to_end(65_537).await else {
                return;
            };
            assert_eq!(query[2..4], [0, 0], "RFC 9250 section 4.2.1: the id is 0");
            let Some(answer) = answer(&query[2..], false) else {
                return std::future::pending().await;
            };
            let length = (answer.len() as u16).to_be_bytes();
            let (first, pause, second) = in_halves(answer).await;
            let framed = [&length[..], &first].concat();
            send.write_all(&framed).await.unwrap();
            // In two pieces, so that a client must put them together.
            tokio::time::sleep(pause).await;
            send.write_all(&second).await.unwrap();
            if is_named(&query[2..], "unended") {
                tokio::time::sleep(PAUSE).await;
            }
            let _ = send.finish();
            hold::written(&query[2..]).await;
        });
    }
}
