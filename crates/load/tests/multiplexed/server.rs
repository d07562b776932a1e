//! Servers on loopback that speak DoH, DoQ and DoH3 and react as told. Not for: being resolvers.

use bytes::{Buf, Bytes};
use h2::server::SendResponse;
use h3::error::Code;
use http::{Request, Response};
use quinn::VarInt;
use resolab_dns::client::tls_of;
use resolab_dns::{ClientOptions, ResolverAddress};
use resolab_http::quic_streams::Http3Quic;
use resolab_load::{GatheringRule, LoadPacing, LoadPlan, QueryTemplates, SendLimit};
use resolab_record::{DohMethod, LoadRecord, TicketPolicy};
use resolab_transport::server::{
    CertificateAuthority, QuicListener, QuicSettings, ServerPolicies, TicketTerms, TlsStream,
};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

pub const HOST: &str = "dns.resolab.test";
static FOLDER_NUMBER: AtomicU32 = AtomicU32::new(0);

/// What a server does with a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reaction {
    Answer,
    /// In pieces.
    AnswerSlowly,
    /// The answer to another question.
    AnswerOther,
    Drop,
    /// Say that it was not processed.
    Refuse,
    /// Break the stream off.
    Reset,
    /// Close the connection.
    Close,
    Status(u16),
    MediaType(&'static str),
}

/// What is done with the query at a position, counted from 0 over all connections.
pub type Behaviour = fn(u64) -> Reaction;

pub struct Server {
    pub scheme: &'static str,
    address: SocketAddr,
    pub query_count: Arc<AtomicU64>,
    pub connection_count: Arc<AtomicU64>,
    ca_file: PathBuf,
    folder: PathBuf,
    running: Option<(oneshot::Sender<()>, thread::JoinHandle<()>)>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[derive(Clone)]
struct World {
    behaviour: Behaviour,
    query_count: Arc<AtomicU64>,
    connection_count: Arc<AtomicU64>,
    streams_max_count: u32,
    idle_timeout: Duration,
}

impl World {
    fn react(&self) -> Reaction {
        (self.behaviour)(self.query_count.fetch_add(1, Ordering::Relaxed))
    }
}

impl Server {
    pub fn start(scheme: &'static str, behaviour: Behaviour) -> Self {
        Self::with_streams(scheme, behaviour, 100)
    }

    /// One that permits so many streams at once.
    pub fn with_streams(scheme: &'static str, behaviour: Behaviour, count: u32) -> Self {
        Self::with_limits(scheme, behaviour, count, Duration::from_secs(10))
    }

    /// One that permits so many streams at once, and whose QUIC connections end when they are idle
    /// for so long.
    pub fn with_limits(
        scheme: &'static str,
        behaviour: Behaviour,
        count: u32,
        idle_timeout: Duration,
    ) -> Self {
        let number = FOLDER_NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("resolab-load-x-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let authority = CertificateAuthority::open_or_create(&folder).unwrap();
        let policies = Arc::new(ServerPolicies::new(TicketPolicy::None, false));
        let key = authority.issue(&[HOST.to_owned()]).unwrap();
        policies.add_name(HOST, key, TicketTerms::new(TicketPolicy::None));
        let world = World {
            behaviour,
            query_count: Arc::default(),
            connection_count: Arc::default(),
            streams_max_count: count,
            idle_timeout,
        };
        let (stop, stopped) = oneshot::channel();
        let (tell, told) = std::sync::mpsc::channel();
        let serving = world.clone();
        let thread = thread::spawn(move || {
            let mut builder = tokio::runtime::Builder::new_current_thread();
            builder.enable_all().build().unwrap().block_on(async {
                tell.send(serve(scheme, serving, policies).await).unwrap();
                let _ = stopped.await;
            });
        });
        let address = told.recv().unwrap();
        Self {
            scheme,
            address,
            query_count: world.query_count,
            connection_count: world.connection_count,
            ca_file: authority.certificate_file().to_owned(),
            folder,
            running: Some((stop, thread)),
        }
    }

    /// End without a word.
    pub fn stop(&mut self) {
        if let Some((stop, thread)) = self.running.take() {
            let _ = stop.send(());
            thread.join().unwrap();
        }
    }

    pub fn queries(&self) -> u64 {
        self.query_count.load(Ordering::Relaxed)
    }

    pub fn connections(&self) -> u64 {
        self.connection_count.load(Ordering::Relaxed)
    }

    /// A closed loop of 1,000 queries over 4 connections by 2 threads, 40 outstanding.
    pub fn plan(&self) -> LoadPlan {
        let url = format!("{}://{HOST}:{}", self.scheme, self.address.port());
        let resolver: ResolverAddress = url.parse().unwrap();
        let options = ClientOptions {
            ca_file: Some(self.ca_file.clone()),
            ..ClientOptions::default()
        };
        let (tls, certificate_checked) = tls_of(&resolver, &options).unwrap();
        let names: Vec<String> = (0..100).map(|name| format!("n{name}.test")).collect();
        let names = names.join("\n");
        LoadPlan {
            resolver,
            resolver_address: self.address,
            tls,
            certificate_checked,
            doh_method: DohMethod::Get,
            names: Arc::new(QueryTemplates::parse(&names, None, false).unwrap()),
            threads: 2,
            connections: 4,
            outstanding: 40,
            pace: LoadPacing::Closed,
            extent: SendLimit::Count(1000),
            timeout: Duration::from_secs(10),
            gathering: GatheringRule::Adaptive,
            segmentation_offload: false,
            spin: false,
            seed: 1,
        }
    }
}

/// Run, and check what must hold of every run.
pub fn run_checked(plan: LoadPlan) -> LoadRecord {
    run_until(plan, &Arc::new(AtomicBool::new(false)))
}

/// The same, until it is stopped.
pub fn run_until(plan: LoadPlan, stopped: &Arc<AtomicBool>) -> LoadRecord {
    let record = resolab_load::run(plan, stopped, Duration::from_mins(1), &mut |_| ()).unwrap();
    let apart = record.lost_count + record.interrupted_count + record.failed_count;
    assert_eq!(record.sent_count, record.completed_count + apart);
    let counted = record.query_response_time.sample_count;
    assert_eq!(counted, record.completed_count);
    record
}

async fn serve(scheme: &'static str, world: World, policies: Arc<ServerPolicies>) -> SocketAddr {
    if scheme == "https" {
        return serve_tls(world, policies).await;
    }
    let alpn = if scheme == "quic" { "doq" } else { "h3" };
    let settings = QuicSettings::with_stream_limits(world.streams_max_count, 3, world.idle_timeout);
    let local = "127.0.0.1:0".parse().unwrap();
    let alpns = vec![alpn.as_bytes().to_vec()];
    let listener = QuicListener::bind(local, alpns, policies, &settings, Arc::default()).unwrap();
    let address = listener.local_address().unwrap();
    tokio::spawn(async move {
        while let Some(arrival) = listener.accept().await {
            let world = world.clone();
            tokio::spawn(async move {
                let Ok(connection) = arrival.start().await else {
                    return;
                };
                world.connection_count.fetch_add(1, Ordering::Relaxed);
                if alpn == "doq" {
                    serve_doq(world, connection).await;
                } else {
                    serve_h3(world, connection).await;
                }
            });
        }
    });
    address
}

async fn serve_tls(world: World, policies: Arc<ServerPolicies>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((tcp, _)) = listener.accept().await {
            tcp.set_nodelay(true).unwrap();
            let (world, policies) = (world.clone(), Arc::clone(&policies));
            tokio::spawn(async move {
                let alpns = [b"h2".to_vec()];
                let (facts, bytes) = (Arc::default(), Arc::default());
                let stream = TlsStream::accept(tcp, &policies, &alpns, facts, bytes).await;
                if let Ok(stream) = stream {
                    world.connection_count.fetch_add(1, Ordering::Relaxed);
                    serve_h2(world, stream).await;
                }
            });
        }
    });
    address
}

/// The answer to a query, or to another one.
fn answer_to(query: &[u8], reaction: Reaction) -> Vec<u8> {
    let mut answer = query.to_vec();
    answer[2] |= 0x80;
    if reaction == Reaction::AnswerOther {
        answer[13] ^= 1;
    }
    answer
}

fn head(reaction: Reaction) -> Response<()> {
    let (status, media_type) = match reaction {
        Reaction::Status(status) => (status, "application/dns-message"),
        Reaction::MediaType(media_type) => (200, media_type),
        Reaction::Answer
        | Reaction::AnswerSlowly
        | Reaction::AnswerOther
        | Reaction::Drop
        | Reaction::Refuse
        | Reaction::Reset
        | Reaction::Close => (200, "application/dns-message"),
    };
    let response = Response::builder().status(status);
    response
        .header("content-type", media_type)
        .body(())
        .unwrap()
}

async fn serve_h2(world: World, stream: TlsStream) {
    let mut builder = h2::server::Builder::new();
    builder.max_concurrent_streams(world.streams_max_count);
    let mut connection = builder.handshake(stream).await.unwrap();
    while let Some(Ok((request, respond))) = connection.accept().await {
        let reaction = world.react();
        if reaction == Reaction::Close {
            // GOAWAY; what was accepted is still answered.
            connection.graceful_shutdown();
        }
        tokio::spawn(answer_h2(reaction, request, respond));
    }
}

async fn answer_h2(
    reaction: Reaction,
    request: Request<h2::RecvStream>,
    mut respond: SendResponse<Bytes>,
) {
    let (parts, mut content) = request.into_parts();
    let mut body = Vec::new();
    while let Some(Ok(chunk)) = content.data().await {
        body.extend_from_slice(&chunk);
    }
    let answer = answer_to(&query_of(&parts.uri, body), reaction);
    match reaction {
        Reaction::Drop => std::future::pending().await,
        Reaction::Refuse => respond.send_reset(h2::Reason::REFUSED_STREAM),
        Reaction::Reset => respond.send_reset(h2::Reason::INTERNAL_ERROR),
        Reaction::Answer
        | Reaction::AnswerSlowly
        | Reaction::AnswerOther
        | Reaction::Close
        | Reaction::Status(_)
        | Reaction::MediaType(_) => {
            let Ok(mut send) = respond.send_response(head(reaction), false) else {
                return;
            };
            let middle = if reaction == Reaction::AnswerSlowly {
                9
            } else {
                0
            };
            let (first, second) = answer.split_at(middle);
            if !first.is_empty() {
                let _ = send.send_data(Bytes::copy_from_slice(first), false);
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            let _ = send.send_data(Bytes::copy_from_slice(second), true);
        }
    }
}

/// From the body of a POST, or the URL of a GET.
fn query_of(uri: &http::Uri, body: Vec<u8>) -> Vec<u8> {
    use base64::Engine;
    let Some(text) = uri.query() else {
        return body;
    };
    base64::engine::general_purpose::URL_SAFE_NO_PAD
        .decode(text.strip_prefix("dns=").unwrap())
        .unwrap()
}

async fn serve_h3(world: World, quic: quinn::Connection) {
    let transport = Http3Quic::server(quic.clone());
    let mut connection = h3::server::Connection::<_, Bytes>::new(transport)
        .await
        .unwrap();
    while let Ok(Some(resolver)) = connection.accept().await {
        let reaction = world.react();
        if reaction == Reaction::Close {
            let _ = connection.shutdown(0).await;
        }
        tokio::spawn(async move {
            let (request, mut stream) = resolver.resolve_request().await.ok()?;
            let mut body = Vec::new();
            while let Ok(Some(mut chunk)) = stream.recv_data().await {
                body.extend_from_slice(&chunk.copy_to_bytes(chunk.remaining()));
            }
            let answer = answer_to(&query_of(request.uri(), body), reaction);
            match reaction {
                Reaction::Drop => std::future::pending().await,
                Reaction::Refuse => stream.stop_stream(Code::H3_REQUEST_REJECTED),
                Reaction::Reset => stream.stop_stream(Code::H3_INTERNAL_ERROR),
                Reaction::Answer
                | Reaction::AnswerSlowly
                | Reaction::AnswerOther
                | Reaction::Close
                | Reaction::Status(_)
                | Reaction::MediaType(_) => {
                    stream.send_response(head(reaction)).await.ok()?;
                    let middle = if reaction == Reaction::AnswerSlowly {
                        9
                    } else {
                        0
                    };
                    let (first, second) = answer.split_at(middle);
                    for piece in [first, second]
                        .into_iter()
                        .filter(|piece| !piece.is_empty())
                    {
                        let piece = Bytes::copy_from_slice(piece);
                        stream.send_data(piece).await.ok()?;
                    }
                    stream.finish().await.ok()?;
                }
            }
            Some(())
        });
    }
    quic.closed().await;
}

async fn serve_doq(world: World, connection: quinn::Connection) {
    while let Ok((mut send, mut receive)) = connection.accept_bi().await {
        let (world, connection) = (world.clone(), connection.clone());
        tokio::spawn(async move {
            let query = receive.read_to_end(65_537).await.ok()?;
            assert_eq!(query[2..4], [0, 0], "RFC 9250 section 4.2.1: the id is 0");
            let reaction = world.react();
            let answer = answer_to(&query[2..], reaction);
            let framed = [&(answer.len() as u16).to_be_bytes()[..], &answer].concat();
            match reaction {
                Reaction::Drop => std::future::pending().await,
                Reaction::Refuse => send.reset(VarInt::from_u32(4)).ok()?,
                Reaction::Reset => send.reset(VarInt::from_u32(1)).ok()?,
                Reaction::Close => connection.close(VarInt::from_u32(0), b""),
                Reaction::AnswerSlowly => {
                    for piece in framed.chunks(9) {
                        send.write_all(piece).await.ok()?;
                        tokio::time::sleep(Duration::from_millis(1)).await;
                    }
                    send.finish().ok()?;
                }
                Reaction::Answer
                | Reaction::AnswerOther
                | Reaction::Status(_)
                | Reaction::MediaType(_) => {
                    send.write_all(&framed).await.ok()?;
                    send.finish().ok()?;
                }
            }
            Some(())
        });
    }
}
