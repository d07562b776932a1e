//! A server over HTTP/2 and HTTP/3 that does what the path says, and remembers what came.

use super::{COVERED, ELSEWHERE, FAR, FIRST, LONG, PORT};
use bytes::{Buf, Bytes};
use http::{HeaderMap, Request, Response, StatusCode};
use resolab_http::quic_streams::{CancellationFuture, Http3Quic, StreamSender};
use resolab_http::streaming::{BodyReader, BodyWriter};
use resolab_http::{RequestPriority, origin_frame};
use resolab_record::{RetryMode, TicketPolicy};
use resolab_transport::server::{
    ByteCounts, CertificateAuthority, HandshakeFacts, QuicControl, QuicListener, QuicSettings,
    ServerPolicies, TicketTerms, TlsStream,
};
use std::future::poll_fn;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;

/// What the servers did.
#[derive(Default)]
pub struct Seen {
    /// Connection, authority and path of each request, in the order of arrival.
    pub requests: Mutex<Vec<(u64, String, String)>>,
    /// Path of a request and what it was told of its priority behind it, over HTTP/3.
    pub priorities: Mutex<Vec<(String, String)>>,
    /// Bytes of bodies handed to connections.
    pub sent_bytes: AtomicU64,
    /// Bytes of request bodies read.
    pub read_bytes: AtomicU64,
    /// Responses that nobody wanted any more.
    pub unwanted_count: AtomicU64,
    /// Requests that were refused unseen.
    pub refused_count: AtomicU64,
    pub connections_count: AtomicU64,
    pub open_count: AtomicU64,
    /// Of each connection that spoke HTTP.
    pub handshakes: Mutex<Vec<Arc<HandshakeFacts>>>,
}

pub struct Origin {
    pub seen: Arc<Seen>,
    pub policies: Arc<ServerPolicies>,
    /// Paths that begin with `/gate` wait for it.
    pub gate: watch::Sender<bool>,
    ends: watch::Sender<u32>,
}

#[derive(Clone)]
struct World {
    seen: Arc<Seen>,
    policies: Arc<ServerPolicies>,
    gate: watch::Receiver<bool>,
    ends: watch::Receiver<u32>,
    origin_frame: Bytes,
}

/// A connection of a server.
#[derive(Clone)]
struct Place {
    number: u64,
    server_name: String,
}

impl Origin {
    pub async fn start(
        authority: &CertificateAuthority,
        addresses: [Ipv4Addr; 2],
        origins: &[&str],
    ) -> Self {
        let policies = Arc::new(ServerPolicies::new(TicketPolicy::EarlyData, false));
        for name in [FIRST, COVERED, FAR, ELSEWHERE] {
            let certificate = authority.certificate_for(&[name.to_owned()]).unwrap();
            policies.add_name(name, certificate, TicketTerms::new(TicketPolicy::EarlyData));
        }
        let gate = watch::Sender::new(false);
        let ends = watch::Sender::new(0);
        let world = World {
            ends: ends.subscribe(),
            seen: Arc::default(),
            policies,
            gate: gate.subscribe(),
            origin_frame: origin_frame(origins.iter().copied()).unwrap_or_default(),
        };
        for address in addresses {
            let address = SocketAddr::from((address, PORT));
            let tcp = TcpListener::bind(address).await.unwrap();
            tokio::spawn(serve_tcp(world.clone(), tcp));
            let settings = QuicSettings {
                stream_window_bytes: 64 << 10,
                connection_window_bytes: 128 << 10,
                ..QuicSettings::with_stream_limits(100, 16, Duration::from_secs(30))
            };
            let quic = QuicListener::bind(
                address,
                vec![b"h3".to_vec()],
                Arc::clone(&world.policies),
                &settings,
                Arc::new(QuicControl::new(RetryMode::Off)),
            );
            tokio::spawn(serve_quic(world.clone(), quic.unwrap()));
        }
        Self {
            seen: world.seen,
            policies: world.policies,
            gate,
            ends,
        }
    }

    pub fn paths(&self) -> Vec<String> {
        let requests = self.seen.requests.lock().unwrap();
        requests.iter().map(|(.., path)| path.clone()).collect()
    }

    /// Take no more on the connections there are (HTTP/2), or close them (HTTP/3).
    pub fn begin_ending(&self) {
        self.ends.send_modify(|count| *count += 1);
    }

    /// Close all connections; when this returns the packets are on their way.
    pub async fn end_connections(&self) {
        self.begin_ending();
        let began = std::time::Instant::now();
        while self.seen.open_count.load(Ordering::Relaxed) > 0 {
            assert!(began.elapsed() < LONG);
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }

    /// Connection and authority of each request.
    pub fn places(&self) -> Vec<(u64, String)> {
        let requests = self.seen.requests.lock().unwrap();
        let place = |(connection, host, _): &(u64, String, String)| (*connection, host.clone());
        requests.iter().map(place).collect()
    }
}

async fn serve_tcp(world: World, listener: TcpListener) {
    loop {
        let (tcp, _) = listener.accept().await.unwrap();
        tcp.set_nodelay(true).unwrap();
        let world = world.clone();
        tokio::spawn(async move {
            let facts = Arc::<HandshakeFacts>::default();
            let bytes = Arc::<ByteCounts>::default();
            let alpn = [b"h2".to_vec()];
            let accepting =
                TlsStream::accept(tcp, &world.policies, &alpn, Arc::clone(&facts), bytes);
            let Ok(stream) = accepting.await else {
                return;
            };
            let Ok(mut http) = h2::server::handshake(stream).await else {
                return;
            };
            let place = world.place(facts);
            let mut ends = world.ends.clone();
            ends.mark_unchanged();
            loop {
                let accepted = tokio::select! {
                    accepted = http.accept() => accepted,
                    _ = ends.changed() => {
                        http.graceful_shutdown();
                        http.accept().await
                    }
                };
                let Some(Ok((request, respond))) = accepted else {
                    break;
                };
                let (head, body) = request.into_parts();
                let head = Request::from_parts(head, ());
                let down = Respond::H2(respond);
                world.take(&place, head, BodyReader::h2(body), down);
            }
            world.seen.open_count.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

async fn serve_quic(world: World, listener: QuicListener) {
    while let Some(arrival) = listener.accept().await {
        let world = world.clone();
        tokio::spawn(async move {
            let facts = Arc::clone(arrival.facts());
            let Ok(quic) = arrival.start().await else {
                return;
            };
            let mut transport = Http3Quic::server(quic.clone());
            let taken_back = transport.taken_back_streams();
            let priorities = transport.priority_updates();
            let transport = transport.with_control_frames(world.origin_frame.clone());
            let http = h3::server::builder().build::<_, Bytes>(transport).await;
            let Ok(mut http) = http else {
                return;
            };
            let place = world.place(facts);
            let mut ends = world.ends.clone();
            ends.mark_unchanged();
            loop {
                let accepted = tokio::select! {
                    accepted = http.accept() => accepted,
                    _ = ends.changed() => {
                        quic.close(quinn::VarInt::from_u32(0x100), b"");
                        break;
                    }
                };
                let Ok(Some(resolver)) = accepted else {
                    break;
                };
                let Ok((head, stream)) = resolver.resolve_request().await else {
                    continue;
                };
                let taken_back = taken_back.take(stream.id()).unwrap();
                let (seen, path) = (Arc::clone(&world.seen), head.uri().path().to_owned());
                tokio::spawn(note_priorities(
                    seen,
                    path,
                    priorities.subscribe(stream.id()),
                ));
                let (send, receive) = stream.split();
                let body = BodyReader::h3_request(receive, head.headers());
                world.take(&place, head, body, Respond::H3(Box::new(send), taken_back));
            }
            world.seen.open_count.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

async fn note_priorities(seen: Arc<Seen>, path: String, priority: RequestPriority) {
    let mut number = 0;
    loop {
        let update = priority.wait_for_newer(number).await;
        number = update.number;
        let value = String::from_utf8(update.value.to_vec()).unwrap();
        let mut noted = seen.priorities.lock().unwrap();
        noted.push((path.clone(), value));
    }
}

enum Respond {
    H2(h2::server::SendResponse<Bytes>),
    H3(
        Box<h3::server::RequestStream<StreamSender<Bytes>, Bytes>>,
        CancellationFuture,
    ),
}

impl Respond {
    async fn interim(&mut self, head: Response<()>) {
        match self {
            Self::H2(respond) => respond.send_informational(head).unwrap(),
            Self::H3(stream, _) => stream.send_response(head).await.unwrap(),
        }
    }

    async fn head(self, head: Response<()>) -> Option<BodyWriter> {
        Some(match self {
            Self::H2(mut respond) => BodyWriter::h2(respond.send_response(head, false).ok()?),
            Self::H3(mut stream, _) => {
                stream.send_response(head).await.ok()?;
                BodyWriter::h3_response(*stream)
            }
        })
    }

    fn reset(self) {
        match self {
            Self::H2(mut respond) => respond.send_reset(h2::Reason::INTERNAL_ERROR),
            Self::H3(mut stream, _) => stream.stop_stream(h3::error::Code::H3_INTERNAL_ERROR),
        }
    }

    /// As if the request had not been looked at (RFC 9113 section 8.7, RFC 9114 section 4.1.1).
    fn refuse(self) {
        match self {
            Self::H2(mut respond) => respond.send_reset(h2::Reason::REFUSED_STREAM),
            Self::H3(mut stream, _) => stream.stop_stream(h3::error::Code::H3_REQUEST_REJECTED),
        }
    }

    async fn unwanted(&mut self) {
        match self {
            Self::H2(respond) => drop(poll_fn(|cx| respond.poll_reset(cx)).await),
            Self::H3(_, taken_back) => drop(taken_back.await),
        }
    }
}

impl World {
    fn place(&self, facts: Arc<HandshakeFacts>) -> Place {
        let server_name = facts.server_name().unwrap_or_default().to_owned();
        self.seen.handshakes.lock().unwrap().push(facts);
        self.seen.open_count.fetch_add(1, Ordering::Relaxed);
        Place {
            number: self.seen.connections_count.fetch_add(1, Ordering::Relaxed),
            server_name,
        }
    }

    fn take(&self, place: &Place, head: Request<()>, body: BodyReader, respond: Respond) {
        let authority = head.uri().host().unwrap_or_default().to_owned();
        let path = head.uri().path().to_owned();
        let mut requests = self.seen.requests.lock().unwrap();
        requests.push((place.number, authority, path));
        drop(requests);
        let (world, place) = (self.clone(), place.clone());
        tokio::spawn(async move { world.answer(&place, head, body, respond).await });
    }

    async fn answer(
        &self,
        place: &Place,
        request: Request<()>,
        mut body: BodyReader,
        mut respond: Respond,
    ) -> Option<()> {
        let path = request.uri().path().to_owned();
        let mut head = Response::new(());
        if path.starts_with("/gate") {
            self.wait_at_gate(&mut respond).await?;
        }
        let count = |text: &str| text.parse::<usize>().ok();
        let bytes = path.rsplit('/').next().and_then(count).unwrap_or(0);
        match path.split('/').nth(1)? {
            "hints" => respond.interim(early_hints()).await,
            "misdirected" if request.uri().host() != Some(&place.server_name) => {
                *head.status_mut() = StatusCode::MISDIRECTED_REQUEST;
            }
            "status" => *head.status_mut() = StatusCode::from_u16(bytes as u16).ok()?,
            "broken" => return None,
            "refused-once" => {
                let refused_count = &self.seen.refused_count;
                if refused_count.fetch_add(1, Ordering::Relaxed) == 0 {
                    respond.refuse();
                    return None;
                }
            }
            "reset" => {
                respond.reset();
                return None;
            }
            "large-head" => {
                let value = "a".repeat(bytes).parse().unwrap();
                head.headers_mut().insert("x-large", value);
            }
            _ => (),
        }
        echo_fields(&request, &mut head);
        let (body, trailers) = match path.split('/').nth(1)? {
            "echo" => self.read(&mut body).await?,
            "unread" => {
                tokio::time::sleep(LONG).await;
                return None;
            }
            _ => (Vec::new(), None),
        };
        head.headers_mut().insert("x-got", body.len().into());
        let mut writer = respond.head(head).await?;
        if bytes > 0 && path.starts_with("/bytes") {
            self.send(&mut writer, bytes).await?;
        }
        if !body.is_empty() {
            writer.send(Bytes::from(body)).await.ok()?;
        }
        if path.starts_with("/half") {
            writer.send(Bytes::from_static(b"half")).await.ok()?;
            // HTTP/2's library forgets what has not left when it resets.
            tokio::time::sleep(Duration::from_millis(100)).await;
            // Dropped before its end.
            return None;
        }
        let mut after = HeaderMap::new();
        after.insert("x-after", "the end".parse().unwrap());
        let after = (path.starts_with("/trailers")).then_some(after);
        writer.finish(after.or(trailers)).await.ok()
    }

    /// `None`: nobody wants the response any more.
    async fn wait_at_gate(&self, respond: &mut Respond) -> Option<()> {
        let mut gate = self.gate.clone();
        tokio::select! {
            opened = gate.wait_for(|open| *open) => drop(opened),
            () = respond.unwanted() => {
                self.seen.unwanted_count.fetch_add(1, Ordering::Relaxed);
                return None;
            }
        }
        Some(())
    }

    async fn read(&self, body: &mut BodyReader) -> Option<(Vec<u8>, Option<HeaderMap>)> {
        let mut whole = Vec::new();
        while let Some(mut piece) = body.data().await.ok()? {
            let bytes = piece.remaining() as u64;
            self.seen.read_bytes.fetch_add(bytes, Ordering::Relaxed);
            whole.extend_from_slice(&piece.copy_to_bytes(piece.remaining()));
        }
        Some((whole, body.trailers().await.ok()?))
    }

    async fn send(&self, writer: &mut BodyWriter, mut left: usize) -> Option<()> {
        let piece = Bytes::from(vec![b'x'; 16 << 10]);
        while left > 0 {
            let next = piece.slice(..left.min(piece.len()));
            left -= next.len();
            let bytes = next.len() as u64;
            if writer.send(next).await.is_err() {
                self.seen.unwanted_count.fetch_add(1, Ordering::Relaxed);
                return None;
            }
            self.seen.sent_bytes.fetch_add(bytes, Ordering::Relaxed);
        }
        Some(())
    }
}

fn early_hints() -> Response<()> {
    let mut hints = Response::new(());
    *hints.status_mut() = StatusCode::EARLY_HINTS;
    let link = "</a.css>; rel=preload".parse().unwrap();
    hints.headers_mut().insert("link", link);
    hints
}

fn echo_fields(request: &Request<()>, head: &mut Response<()>) {
    for name in ["priority", "cookie", "x-own"] {
        if let Some(value) = request.headers().get(name) {
            head.headers_mut().insert(name, value.clone());
        }
    }
}
