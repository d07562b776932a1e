//! Resolvers that close connections in good order while queries are under way, or reset them. Over
//! HTTP the frames are made by hand: no library says GOAWAY and then keeps the rest waiting.
//! Not for: what they answer; that is `answers`.

use super::{HOST, TestResolver, answer};
use bytes::Buf;
use quinn::VarInt;
use resolab_transport::server::{QuicListener, QuicSettings, ServerPolicies, TlsStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

/// For an answer to be read before its connection is reset.
const PAUSE: Duration = Duration::from_millis(20);
/// For a client that closes what it was told to leave.
const PATIENCE: Duration = Duration::from_secs(2);
/// An error of the server's: H3_INTERNAL_ERROR (RFC 9114), DOQ_INTERNAL_ERROR (RFC 9250).
const H3_INTERNAL_ERROR: u32 = 0x102;
const DOQ_INTERNAL_ERROR: u32 = 1;
const H3_NO_ERROR: u32 = 0x100;
const H3_REQUEST_REJECTED: u32 = 0x10b;
/// The connection preface (RFC 9113 section 3.4).
const PREFACE_BYTES: usize = 24;
const FRAME_HEAD_BYTES: usize = 9;
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const REFUSED_STREAM: u32 = 7;
/// RFC 9113 section 7.
const ENHANCE_YOUR_CALM: u32 = 11;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
/// `:status 200` and `content-type` by their indexes (RFC 7541 appendix A), the value as it is.
const H2_HEAD: &[u8] = b"\x88\x0f\x10\x17application/dns-message";
/// The same by index (RFC 9204 appendix A), in a HEADERS frame.
const H3_HEAD: [u8; 6] = [1, 4, 0, 0, 0xd9, 0xec];

/// When a connection ends, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Habit {
    /// GOAWAY as soon as this many queries came, which are answered after it; the others are left
    /// alone, and it is the client that closes. Without HTTP the resolver closes after the answers.
    SaysGoAway(usize),
    /// The same, but over HTTP/2 the GOAWAY has the code ENHANCE_YOUR_CALM.
    SaysCalmDown(usize),
    /// Closed in good order after each answer.
    ClosesAfterEach,
    /// Reset, or closed with an error, after this many answers.
    ResetsAfter(usize),
    /// Stays open; over HTTP it refuses the streams of all queries after this many answers (RFC
    /// 9113 section 8.7, RFC 9114 section 4.1.1).
    RefusesAfter(usize),
    /// Closed as soon as a query came.
    AnswersNothing,
}

impl Habit {
    fn answers_count(self) -> usize {
        match self {
            Self::SaysGoAway(count)
            | Self::SaysCalmDown(count)
            | Self::ResetsAfter(count)
            | Self::RefusesAfter(count) => count,
            Self::ClosesAfterEach => 1,
            Self::AnswersNothing => 0,
        }
    }

    /// The code of GOAWAY over HTTP/2.
    fn code(self) -> u32 {
        if matches!(self, Self::SaysCalmDown(_)) {
            ENHANCE_YOUR_CALM
        } else {
            0
        }
    }

    /// The queries that a connection waits for before it ends.
    fn awaited_count(self) -> usize {
        if self == Self::AnswersNothing {
            1
        } else {
            self.answers_count()
        }
    }
}

/// One such resolver, over one transport.
pub struct ClosingResolver {
    pub url: String,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    connections: AtomicUsize,
    answers: AtomicUsize,
}

impl ClosingResolver {
    /// With the certificate and names of another.
    pub async fn start(beside: &TestResolver, scheme: &str, habit: Habit) -> Self {
        let counts = Arc::<Counts>::default();
        let policies = Arc::clone(&beside.policies);
        let port = match scheme {
            "tcp" | "tls" | "https" => {
                serve_tcp(scheme.to_owned(), habit, policies, Arc::clone(&counts)).await
            }
            "h3" => serve_quic("h3", habit, policies, Arc::clone(&counts)),
            "quic" => serve_quic("doq", habit, policies, Arc::clone(&counts)),
            other => panic!("{other}"),
        };
        let host = if scheme == "tcp" { "127.0.0.1" } else { HOST };
        Self {
            url: format!("{scheme}://{host}:{port}"),
            counts,
        }
    }

    pub fn connection_count(&self) -> usize {
        self.counts.connections.load(Ordering::SeqCst)
    }

    pub fn answer_count(&self) -> usize {
        self.counts.answers.load(Ordering::SeqCst)
    }
}

impl Counts {
    fn answer(&self, query: &[u8]) -> Vec<u8> {
        self.answers.fetch_add(1, Ordering::SeqCst);
        answer(query, false).unwrap()
    }
}

async fn serve_tcp(
    scheme: String,
    habit: Habit,
    policies: Arc<ServerPolicies>,
    counts: Arc<Counts>,
) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((tcp, _)) = listener.accept().await {
            counts.connections.fetch_add(1, Ordering::SeqCst);
            tcp.set_nodelay(true).unwrap();
            let (policies, counts) = (Arc::clone(&policies), Arc::clone(&counts));
            tokio::spawn(serve_stream(scheme.clone(), habit, tcp, policies, counts));
        }
    });
    port
}

async fn serve_stream(
    scheme: String,
    habit: Habit,
    tcp: TcpStream,
    policies: Arc<ServerPolicies>,
    counts: Arc<Counts>,
) {
    // The file descriptor is the stream's own; what is set here is in force when that is closed.
    let linger = socket_to_reset(&tcp);
    let alpn: &[u8] = if scheme == "https" { b"h2" } else { b"dot" };
    let facts = (Arc::default(), Arc::default());
    if scheme == "tcp" {
        serve_framed(habit, tcp, &counts, linger).await;
        return;
    }
    let alpns = [alpn.to_vec()];
    let Ok(stream) = TlsStream::accept(tcp, &policies, &alpns, facts.0, facts.1).await else {
        return;
    };
    if scheme == "https" {
        serve_h2(habit, stream, &counts, linger).await;
    } else {
        serve_framed(habit, stream, &counts, linger).await;
    }
}

/// Sets a socket to be reset when it is closed.
fn socket_to_reset(tcp: &TcpStream) -> impl FnOnce() + Send + use<> {
    let socket = socket2::SockRef::from(tcp).try_clone().unwrap();
    move || socket.set_linger(Some(Duration::ZERO)).unwrap()
}

async fn serve_framed<S: AsyncRead + AsyncWrite + Unpin>(
    habit: Habit,
    mut stream: S,
    counts: &Counts,
    reset: impl FnOnce(),
) {
    let mut answered = 0;
    while let Ok(length) = stream.read_u16().await {
        let mut query = vec![0; usize::from(length)];
        if stream.read_exact(&mut query).await.is_err() || habit == Habit::AnswersNothing {
            break;
        }
        let answer = counts.answer(&query);
        let framed = [&(answer.len() as u16).to_be_bytes()[..], &answer].concat();
        if stream.write_all(&framed).await.is_err() || stream.flush().await.is_err() {
            return;
        }
        answered += 1;
        if answered == habit.answers_count() {
            break;
        }
    }
    end_stream(habit, stream, reset).await;
}

/// Ends it as a server does that has read all there is: otherwise the kernel resets it.
async fn end_stream<S: AsyncRead + AsyncWrite + Unpin>(
    habit: Habit,
    mut stream: S,
    reset: impl FnOnce(),
) {
    if matches!(habit, Habit::ResetsAfter(_)) {
        sleep(PAUSE).await;
        reset();
        return;
    }
    let _ = stream.shutdown().await;
    let _ = timeout(
        PATIENCE,
        tokio::io::copy(&mut stream, &mut tokio::io::sink()),
    )
    .await;
}

fn h2_frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    let head = [&length[1..], &[kind, flags], &stream.to_be_bytes()].concat();
    [&head[..], payload].concat()
}

/// Reads until a request is whole: its stream and its body, which is in one frame.
async fn next_h2_request(stream: &mut (impl AsyncRead + Unpin)) -> std::io::Result<(u32, Vec<u8>)> {
    loop {
        let mut head = [0; FRAME_HEAD_BYTES];
        stream.read_exact(&mut head).await?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; length as usize];
        stream.read_exact(&mut payload).await?;
        if head[3] == DATA && head[4] & END_STREAM != 0 {
            let stream = u32::from_be_bytes(head[5..].try_into().unwrap());
            return Ok((stream, payload));
        }
    }
}

/// Hands over requests that come in this order; the rest of the stream is read, too.
async fn read_h2_requests(
    mut stream: impl AsyncRead + Unpin,
    requests: mpsc::UnboundedSender<(u32, Vec<u8>)>,
) {
    while let Ok(request) = next_h2_request(&mut stream).await {
        let _ = requests.send(request);
    }
}

async fn serve_h2<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    habit: Habit,
    mut stream: S,
    counts: &Counts,
    reset: impl FnOnce(),
) {
    let mut preface = [0; PREFACE_BYTES];
    if stream.read_exact(&mut preface).await.is_err() {
        return;
    }
    let (reader, mut writer) = tokio::io::split(stream);
    let (sender, mut requests) = mpsc::unbounded_channel();
    let reading = tokio::spawn(read_h2_requests(reader, sender));
    let _ = writer.write_all(&h2_frame(SETTINGS, 0, 0, &[])).await;
    let _ = writer.flush().await;
    let mut last = 0;
    let mut came = 0;
    while came < habit.awaited_count() {
        let waiting = next_few(&mut requests, habit.awaited_count() - came).await;
        if waiting.is_empty() {
            return;
        }
        came += waiting.len();
        last = waiting.iter().map(|(id, _)| *id).fold(last, u32::max);
        let is_end = came >= habit.answers_count();
        if is_end && matches!(habit, Habit::SaysGoAway(_) | Habit::SaysCalmDown(_)) {
            let _ = writer.write_all(&go_away(last, habit.code())).await;
            let _ = writer.flush().await;
            sleep(PAUSE).await;
        }
        if habit == Habit::AnswersNothing {
            break;
        }
        for (id, query) in waiting {
            let head = h2_frame(HEADERS, END_HEADERS, id, H2_HEAD);
            let body = h2_frame(DATA, END_STREAM, id, &counts.answer(&query));
            let _ = writer.write_all(&[head, body].concat()).await;
            let _ = writer.flush().await;
        }
    }
    match habit {
        Habit::SaysGoAway(_) | Habit::SaysCalmDown(_) => drop(reading.await),
        Habit::RefusesAfter(_) => {
            while let Some((id, _)) = requests.recv().await {
                let refusal = h2_frame(RST_STREAM, 0, id, &REFUSED_STREAM.to_be_bytes());
                let _ = writer.write_all(&refusal).await;
                let _ = writer.flush().await;
            }
        }
        Habit::ResetsAfter(_) => {
            sleep(PAUSE).await;
            reset();
            reading.abort();
        }
        Habit::ClosesAfterEach | Habit::AnswersNothing => {
            let last = habit.answers_count().min(1) as u32 * last;
            let _ = writer.write_all(&go_away(last, habit.code())).await;
            let _ = writer.shutdown().await;
            let _ = timeout(PATIENCE, reading).await;
        }
    }
}

fn go_away(last_stream: u32, code: u32) -> Vec<u8> {
    let payload = [last_stream.to_be_bytes(), code.to_be_bytes()].concat();
    h2_frame(GOAWAY, 0, 0, &payload)
}

/// As many as these, or those that are there after a pause; none when there will be none.
async fn next_few<T>(requests: &mut mpsc::UnboundedReceiver<T>, most: usize) -> Vec<T> {
    let mut few: Vec<_> = requests.recv().await.into_iter().collect();
    while few.len() < most
        && let Ok(Some(next)) = timeout(PAUSE, requests.recv()).await
    {
        few.push(next);
    }
    few
}

fn serve_quic(
    alpn: &'static str,
    habit: Habit,
    policies: Arc<ServerPolicies>,
    counts: Arc<Counts>,
) -> u16 {
    let settings = QuicSettings::with_stream_limits(100, 3, Duration::from_secs(10));
    let address = "127.0.0.1:0".parse().unwrap();
    let alpns = vec![alpn.as_bytes().to_vec()];
    let listener = QuicListener::bind(address, alpns, policies, &settings, Arc::default()).unwrap();
    let port = listener.local_address().unwrap().port();
    tokio::spawn(async move {
        while let Some(arrival) = listener.accept().await {
            counts.connections.fetch_add(1, Ordering::SeqCst);
            let counts = Arc::clone(&counts);
            tokio::spawn(async move {
                if let Ok(connection) = arrival.start().await {
                    serve_connection(alpn, habit, connection, &counts).await;
                }
            });
        }
    });
    port
}

async fn serve_connection(
    alpn: &str,
    habit: Habit,
    connection: quinn::Connection,
    counts: &Counts,
) {
    let is_http = alpn == "h3";
    let mut control = connection.open_uni().await.unwrap();
    if is_http {
        control.write_all(&[0, SETTINGS, 0]).await.unwrap();
    }
    let (sender, mut requests) = mpsc::unbounded_channel();
    tokio::spawn(read_quic_requests(connection.clone(), sender));
    let says_go_away = is_http && matches!(habit, Habit::SaysGoAway(_));
    let mut came = 0;
    let mut last = 0;
    while came < habit.awaited_count() {
        let waiting = next_few(&mut requests, habit.awaited_count() - came).await;
        if waiting.is_empty() {
            return;
        }
        came += waiting.len();
        let ids = waiting
            .iter()
            .map(|(send, _)| u64::from(VarInt::from(send.id())));
        last = ids.fold(last, u64::max);
        if says_go_away && came >= habit.answers_count() {
            // A stream at or above this is not answered (RFC 9114 section 5.2).
            let first_left = [GOAWAY, 1, (last + 4) as u8];
            control.write_all(&first_left).await.unwrap();
            sleep(PAUSE).await;
        }
        if habit != Habit::AnswersNothing {
            for (send, request) in waiting {
                answer_on(send, &request, is_http, counts).await;
            }
        }
    }
    if says_go_away {
        connection.closed().await;
        return;
    }
    if matches!(habit, Habit::RefusesAfter(_)) {
        while let Some((mut send, _)) = requests.recv().await {
            let _ = send.reset(VarInt::from_u32(H3_REQUEST_REJECTED));
        }
        return;
    }
    connection.close(VarInt::from_u32(close_code(is_http, habit)), b"");
}

async fn read_quic_requests(
    connection: quinn::Connection,
    requests: mpsc::UnboundedSender<(quinn::SendStream, Vec<u8>)>,
) {
    while let Ok((send, mut receive)) = connection.accept_bi().await {
        if let Ok(request) = receive.read_to_end(1 << 16).await {
            let _ = requests.send((send, request));
        }
    }
}

/// Until the client has it.
async fn answer_on(mut send: quinn::SendStream, request: &[u8], is_http: bool, counts: &Counts) {
    let bytes = if is_http {
        let answer = counts.answer(&h3_body(request));
        let length = (answer.len() as u16 | 0x4000).to_be_bytes();
        [&H3_HEAD[..], &[DATA], &length, &answer].concat()
    } else {
        let answer = counts.answer(&request[2..]);
        [&(answer.len() as u16).to_be_bytes()[..], &answer].concat()
    };
    let _ = send.write_all(&bytes).await;
    let _ = send.finish();
    let _ = send.stopped().await;
}

fn close_code(is_http: bool, habit: Habit) -> u32 {
    match (is_http, habit) {
        (true, Habit::ResetsAfter(_)) => H3_INTERNAL_ERROR,
        (true, _) => H3_NO_ERROR,
        (false, Habit::ResetsAfter(_)) => DOQ_INTERNAL_ERROR,
        (false, _) => 0,
    }
}

/// Of the DATA frame behind HEADERS; both have a length of one or two bytes.
fn h3_body(mut request: &[u8]) -> Vec<u8> {
    let take = |bytes: &mut &[u8]| {
        let first = bytes.get_u8();
        match first >> 6 {
            0 => usize::from(first),
            _ => usize::from(first & 0x3f) << 8 | usize::from(bytes.get_u8()),
        }
    };
    loop {
        let kind = take(&mut request);
        let length = take(&mut request);
        let (payload, rest) = request.split_at(length);
        if kind == usize::from(DATA) {
            return payload.to_vec();
        }
        request = rest;
    }
}
