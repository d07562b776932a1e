//! Servers on loopback that answer as told, and plans for them. Not for: being resolvers.
#![allow(dead_code, clippy::unwrap_used)]

use resolab_dns::client::tls_of;
use resolab_dns::{ClientOptions, ResolverAddress};
use resolab_load::{GatheringRule, LoadError, LoadPacing, LoadPlan, QueryTemplates, SendLimit};
use resolab_record::{DohMethod, LoadRecord};
use resolab_transport::server::CertificateAuthority;
use rustls::crypto::ring;
use rustls::sign::SingleCertAndKey;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

pub const HOST: &str = "dns.resolab.test";
const POLL: Duration = Duration::from_millis(20);
static FOLDER_NUMBER: AtomicU32 = AtomicU32::new(0);

/// What a server does with a query.
pub enum Reaction {
    Answer(Vec<Vec<u8>>),
    Close,
}

/// What a server does with the query at a position, counted from 0 over all connections.
pub type Behaviour = Arc<dyn Fn(u64, &[u8]) -> Reaction + Send + Sync>;

pub fn answer_to(query: &[u8]) -> Vec<u8> {
    let mut answer = query.to_vec();
    answer[2] |= 0x80;
    answer
}

pub fn answers_all() -> Behaviour {
    Arc::new(|_, query| Reaction::Answer(vec![answer_to(query)]))
}

pub struct Server {
    pub address: SocketAddr,
    pub scheme: &'static str,
    pub query_count: Arc<AtomicU64>,
    pub connection_count: Arc<AtomicU64>,
    ca_folder: Option<PathBuf>,
    ca_file: Option<PathBuf>,
    stopped: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(thread::JoinHandle::join);
        let _ = self.ca_folder.take().map(std::fs::remove_dir_all);
    }
}

impl Server {
    pub fn start(scheme: &'static str, behaviour: Behaviour) -> Self {
        let mut server = Self {
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            scheme,
            query_count: Arc::default(),
            connection_count: Arc::default(),
            ca_folder: None,
            ca_file: None,
            stopped: Arc::default(),
            thread: None,
        };
        let (stopped, count) = (Arc::clone(&server.stopped), Arc::clone(&server.query_count));
        server.thread = Some(if scheme == "udp" {
            let socket = UdpSocket::bind(server.address).unwrap();
            server.address = socket.local_addr().unwrap();
            thread::spawn(move || serve_udp(&socket, &behaviour, &count, &stopped))
        } else {
            let tls = (scheme == "tls").then(|| server.tls());
            let listener = TcpListener::bind(server.address).unwrap();
            server.address = listener.local_addr().unwrap();
            let connection_count = Arc::clone(&server.connection_count);
            thread::spawn(move || {
                listener.set_nonblocking(true).unwrap();
                while !stopped.load(Ordering::Relaxed) {
                    let Ok((stream, _)) = listener.accept() else {
                        thread::sleep(Duration::from_millis(1));
                        continue;
                    };
                    connection_count.fetch_add(1, Ordering::Relaxed);
                    let (tls, behaviour) = (tls.clone(), Arc::clone(&behaviour));
                    let (stopped, count) = (Arc::clone(&stopped), Arc::clone(&count));
                    // It ends with the stream or the server, whichever ends first.
                    thread::spawn(move || serve(stream, tls, &behaviour, &count, &stopped));
                }
            })
        });
        server
    }

    fn tls(&mut self) -> Arc<ServerConfig> {
        let number = FOLDER_NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("resolab-load-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let authority = CertificateAuthority::open_or_create(&folder).unwrap();
        let key = authority.issue(&[HOST.to_owned()]).unwrap();
        self.ca_folder = Some(folder);
        self.ca_file = Some(authority.certificate_file().to_owned());
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[&rustls::version::TLS13])
            .unwrap()
            .with_no_client_auth();
        let key = SingleCertAndKey::from(key.as_ref().clone());
        Arc::new(config.with_cert_resolver(Arc::new(key)))
    }

    pub fn queries(&self) -> u64 {
        self.query_count.load(Ordering::Relaxed)
    }

    /// A closed loop of 1,000 queries over 4 connections by 2 threads, 40 outstanding.
    pub fn plan(&self) -> LoadPlan {
        self.plan_trusting(self.ca_file())
    }

    pub fn ca_file(&self) -> Option<PathBuf> {
        self.ca_file.clone()
    }

    pub fn plan_trusting(&self, ca_file: Option<PathBuf>) -> LoadPlan {
        let url = format!("{}://{HOST}:{}", self.scheme, self.address.port());
        let resolver: ResolverAddress = url.parse().unwrap();
        let options = ClientOptions {
            ca_file,
            ..ClientOptions::default()
        };
        let (tls, certificate_checked) = tls_of(&resolver, &options).unwrap();
        let names: Vec<_> = (0..100).map(|name| format!("n{name}.test")).collect();
        LoadPlan {
            resolver,
            resolver_address: self.address,
            tls,
            certificate_checked,
            doh_method: DohMethod::Get,
            names: Arc::new(QueryTemplates::parse(&names.join("\n"), None, false).unwrap()),
            threads: 2,
            connections: 4,
            outstanding: 40,
            pace: LoadPacing::Closed,
            extent: SendLimit::Count(1000),
            timeout: Duration::from_secs(5),
            gathering: GatheringRule::Adaptive,
            segmentation_offload: false,
            spin: false,
            seed: 1,
        }
    }
}

pub fn run(plan: LoadPlan) -> Result<LoadRecord, LoadError> {
    let stopped = Arc::new(AtomicBool::new(false));
    resolab_load::run(plan, &stopped, Duration::from_mins(1), &mut |_| ())
}

/// A run whose server dies once it has been asked so many queries. One that does not end by itself
/// is stopped after a while.
pub fn run_until_the_server_dies(server: Server, plan: LoadPlan, query_count: u64) -> LoadRecord {
    let stopped = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stopped);
    let run = thread::spawn(move || {
        let every = Duration::from_mins(1);
        checked(resolab_load::run(plan, &flag, every, &mut |_| ()).unwrap())
    });
    while server.queries() < query_count {
        thread::sleep(Duration::from_millis(1));
    }
    drop(server);
    let begun = Instant::now();
    while !run.is_finished() && begun.elapsed() < Duration::from_secs(20) {
        thread::sleep(Duration::from_millis(10));
    }
    stopped.store(true, Ordering::Relaxed);
    run.join().unwrap()
}

/// Run, and check what must hold of every run.
pub fn run_checked(plan: LoadPlan) -> LoadRecord {
    checked(run(plan).unwrap())
}

fn checked(record: LoadRecord) -> LoadRecord {
    let apart = record.lost_count + record.interrupted_count + record.failed_count;
    assert_eq!(record.sent_count, record.completed_count + apart);
    let rcode_sum: u64 = record.rcodes.values().sum();
    assert_eq!(rcode_sum, record.completed_count);
    assert_eq!(
        record.query_response_time.sample_count,
        record.completed_count
    );
    assert_eq!(
        record.histogram_count.iter().sum::<u64>(),
        record.completed_count
    );
    record
}

fn serve_udp(socket: &UdpSocket, behaviour: &Behaviour, count: &AtomicU64, stopped: &AtomicBool) {
    socket.set_read_timeout(Some(POLL)).unwrap();
    let mut buffer = [0; 2048];
    while !stopped.load(Ordering::Relaxed) {
        let Ok((length, from)) = socket.recv_from(&mut buffer) else {
            continue;
        };
        let position = count.fetch_add(1, Ordering::Relaxed);
        if let Reaction::Answer(answers) = behaviour(position, &buffer[..length]) {
            for answer in answers {
                socket.send_to(&answer, from).unwrap();
            }
        }
    }
}

fn serve(
    stream: TcpStream,
    tls: Option<Arc<ServerConfig>>,
    behaviour: &Behaviour,
    count: &AtomicU64,
    stopped: &AtomicBool,
) {
    stream.set_nonblocking(false).unwrap();
    stream.set_nodelay(true).unwrap();
    stream.set_read_timeout(Some(POLL)).unwrap();
    let result = match tls {
        None => serve_framed(stream, behaviour, count, stopped),
        Some(tls) => {
            let session = ServerConnection::new(tls).unwrap();
            serve_framed(StreamOwned::new(session, stream), behaviour, count, stopped)
        }
    };
    // However it ended, the client is what is tested.
    drop(result);
}

fn serve_framed(
    mut stream: impl Read + Write,
    behaviour: &Behaviour,
    count: &AtomicU64,
    stopped: &AtomicBool,
) -> io::Result<()> {
    let (mut inbox, mut buffer) = (Vec::new(), [0; 16384]);
    while !stopped.load(Ordering::Relaxed) {
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(length) => inbox.extend_from_slice(&buffer[..length]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
            Err(error) => return Err(error),
        }
        while inbox.len() >= 2 {
            let end = 2 + usize::from(u16::from_be_bytes([inbox[0], inbox[1]]));
            if inbox.len() < end {
                break;
            }
            let query: Vec<u8> = inbox.drain(..end).skip(2).collect();
            let position = count.fetch_add(1, Ordering::Relaxed);
            let Reaction::Answer(answers) = behaviour(position, &query) else {
                return Ok(());
            };
            for answer in answers {
                stream.write_all(&(answer.len() as u16).to_be_bytes())?;
                stream.write_all(&answer)?;
            }
        }
        stream.flush()?;
    }
    Ok(())
}
