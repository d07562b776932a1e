//! A gateway on loopback addresses of its own, servers behind it that do what a path says, an edge
//! that knows their names, and browsers that are not resolab's.
// Every test file uses a part of it.
#![allow(dead_code)]
#![allow(clippy::unwrap_used)]

pub mod browser;
pub mod origin;

use browser::Browser;
use origin::Origin;
use resolab_dns::{ClientOptions, DnsClient};
use resolab_edge::{Edge, EdgeConfig};
use resolab_gateway::{Gateway, GatewayOptions};
use resolab_record::{
    Bootstrap, ConnectionSharing, GatewayConnectionRecord, GatewayLegRecord, GatewayRequestRecord,
    GatewaySpeculationRecord, GatewayTrigger, HandshakeMode, HttpVersion, KeyExchangeGroup, Record,
};
use resolab_transport::client::Trust;
use resolab_transport::server::CertificateAuthority;
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinHandle;

/// Long enough for a busy machine; nothing waits for it that goes well.
pub const LONG: Duration = Duration::from_secs(20);
pub const PORT: u16 = 8443;
/// Of the first server.
pub const FIRST: &str = "first.resolab.test";
/// Of the first server, too, by the same certificate.
pub const COVERED: &str = "covered.resolab.test";
/// Of the second server, by the certificate of the first.
pub const FAR: &str = "far.resolab.test";
/// Of the second server, by a certificate of its own.
pub const ELSEWHERE: &str = "elsewhere.resolab.test";

/// Sites of the edge: at the resolver's address, and at another one.
pub const SITES: [&str; 2] = ["page.resolab.test", "named.resolab.test"];
/// Their page that is answered 425, early or not.
pub const TOO_EARLY: &str = "/too-early";
pub const RESOLVER: &str = "dns.resolab.test";

/// What differs between tests.
pub struct Settings {
    pub trigger: GatewayTrigger,
    pub sharing: ConnectionSharing,
    pub handshake: HandshakeMode,
    pub upstream: HttpVersion,
    /// Keys of the resolver's `[[name]]`.
    pub delay_ms: u32,
    /// The servers are not there.
    pub without_origin: bool,
    /// Where its connections carry pages, the resolver is asked over DoQ by the private ALPN.
    pub private_alpn: bool,
    /// The resolver is asked over DoH3, and its connections serve [`SITES`]; whether with ORIGIN
    /// frames.
    pub coalescing: Option<bool>,
    /// What the servers' ORIGIN frames name; none without.
    pub origins: &'static [&'static str],
    pub deadline: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            trigger: GatewayTrigger::Mirror,
            sharing: ConnectionSharing::Separate,
            handshake: HandshakeMode::Full,
            upstream: HttpVersion::H3,
            delay_ms: 0,
            without_origin: false,
            private_alpn: false,
            coalescing: None,
            origins: &[],
            deadline: LONG,
        }
    }
}

/// Everything.
pub struct Lab {
    pub gateway: Arc<Gateway>,
    pub dns: SocketAddr,
    pub origin: Option<Origin>,
    pub edge: Edge,
    edge_records: Arc<Mutex<Vec<Record>>>,
    roots: RootCertStore,
    received: Mutex<(Receiver<Record>, Vec<Record>)>,
    serving: JoinHandle<()>,
    folder: PathBuf,
}

static LABS: AtomicU32 = AtomicU32::new(0);

impl Lab {
    pub async fn start(settings: Settings) -> Self {
        let (process, number) = (std::process::id(), LABS.fetch_add(1, Ordering::Relaxed));
        // Sixteen addresses of 127.64.0.0/10, where no other crate's tests are: 1 to 3 for servers,
        // the upper eight for the gateway's names.
        let own = (process & 0xfff) << 10 | (number & 0x3f) << 4;
        let at = |last: u32| Ipv4Addr::from(0x7f40_0000 | own | last);
        let folder = std::env::temp_dir().join(format!("resolab-gateway-{process}-{number}"));
        let mut authority = CertificateAuthority::open_or_create(&folder.join("ca")).unwrap();
        let shared = [FIRST, COVERED, FAR].map(str::to_owned);
        authority.share(&shared).unwrap();
        let origin = if settings.without_origin {
            None
        } else {
            Some(Origin::start(&authority, [at(2), at(3)], settings.origins).await)
        };
        let edge_records = Arc::<Mutex<Vec<Record>>>::default();
        let more = coalescing_text(&settings, at(1), at(4));
        let text = edge_text(&folder, at(1), [at(2), at(3)], settings.delay_ms);
        let edge = start_edge(&(text + &more), Arc::clone(&edge_records)).await;
        let ca_file = authority.certificate_file().to_owned();
        let mut roots = RootCertStore::empty();
        roots
            .add(CertificateDer::from_pem_file(&ca_file).unwrap())
            .unwrap();
        let client = resolver_client(&settings, at(1), &ca_file);
        let options = options(&settings, at(8), &ca_file);
        let (sender, receiver) = channel();
        let listen = SocketAddr::from((at(1), 8054));
        let gateway = Gateway::start(listen, client, options, authority, sender);
        let gateway = Arc::new(gateway.await.unwrap());
        let serving = {
            let gateway = Arc::clone(&gateway);
            tokio::spawn(async move { gateway.serve().await })
        };
        Self {
            dns: listen,
            gateway,
            origin,
            edge,
            edge_records,
            roots,
            received: Mutex::new((receiver, Vec::new())),
            serving,
            folder,
        }
    }

    pub fn roots(&self) -> RootCertStore {
        self.roots.clone()
    }

    pub fn origin(&self) -> &Origin {
        self.origin.as_ref().unwrap()
    }

    /// A browser on a new connection for a name, which it asked for.
    pub async fn browser(&self, leg: HttpVersion, host: &str) -> Browser {
        let address = self.look_up(host).await;
        self.browser_at(leg, host, address).await.unwrap()
    }

    /// The same at a known address; an error where there is no connection.
    pub async fn browser_at(
        &self,
        leg: HttpVersion,
        host: &str,
        address: Ipv4Addr,
    ) -> Result<Browser, String> {
        let address = SocketAddr::from((address, PORT));
        Browser::open(self.roots.clone(), leg, host, address).await
    }

    /// The address a name has for the browser.
    pub async fn look_up(&self, host: &str) -> Ipv4Addr {
        let answer = self.ask(host, 1).await;
        assert_eq!(answer[3] & 15, 0, "{answer:?}");
        let octets: [u8; 4] = answer[answer.len() - 4..].try_into().unwrap();
        octets.into()
    }

    /// The answer to a query for records of a type.
    pub async fn ask(&self, host: &str, record_type: u8) -> Vec<u8> {
        let socket = tokio::net::UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .unwrap();
        let mut query = vec![0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        for label in host.split('.') {
            query.push(label.len() as u8);
            query.extend_from_slice(label.as_bytes());
        }
        query.extend_from_slice(&[0, 0, record_type, 0, 1]);
        socket.send_to(&query, self.dns).await.unwrap();
        let mut answer = vec![0; 512];
        let received = tokio::time::timeout(LONG, socket.recv(&mut answer)).await;
        answer.truncate(received.unwrap().unwrap());
        answer
    }

    /// Wait until `pick` finds something in the records.
    pub async fn wait<T>(&self, pick: impl Fn(&[Record]) -> Option<T>) -> T {
        let began = std::time::Instant::now();
        loop {
            {
                let mut received = self.received.lock().unwrap();
                let new: Vec<_> = received.0.try_iter().collect();
                received.1.extend(new);
                if let Some(found) = pick(&received.1) {
                    return found;
                }
                assert!(began.elapsed() < LONG, "no such record: {:#?}", received.1);
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// Whether such a record is there already.
    pub fn has_now(&self, is_it: impl Fn(&Record) -> bool) -> bool {
        let mut received = self.received.lock().unwrap();
        let new: Vec<_> = received.0.try_iter().collect();
        received.1.extend(new);
        received.1.iter().any(is_it)
    }

    pub async fn requests(&self, count: usize) -> Vec<GatewayRequestRecord> {
        self.wait(|records| {
            all(records, count, |record| {
                let Record::GatewayRequest(it) = record else {
                    return None;
                };
                Some(it.as_ref().clone())
            })
        })
        .await
    }

    pub async fn connections(&self, count: usize) -> Vec<GatewayConnectionRecord> {
        self.wait(|records| {
            all(records, count, |record| {
                let Record::GatewayConnection(it) = record else {
                    return None;
                };
                Some(it.as_ref().clone())
            })
        })
        .await
    }

    pub async fn speculations(&self, count: usize) -> Vec<GatewaySpeculationRecord> {
        self.wait(|records| {
            all(records, count, |record| {
                let Record::GatewaySpeculation(it) = record else {
                    return None;
                };
                Some(it.as_ref().clone())
            })
        })
        .await
    }

    /// What the edge has seen so far.
    pub fn edge_records(&self) -> Vec<Record> {
        self.edge_records.lock().unwrap().clone()
    }

    pub async fn legs(&self, count: usize) -> Vec<GatewayLegRecord> {
        self.wait(|records| {
            all(records, count, |record| {
                let Record::GatewayLeg(it) = record else {
                    return None;
                };
                Some(it.as_ref().clone())
            })
        })
        .await
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        self.serving.abort();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn resolver_client(settings: &Settings, resolver: Ipv4Addr, ca_file: &Path) -> DnsClient {
    let (url, port) = match settings.coalescing {
        None => (format!("udp://{resolver}:8053"), 8053),
        Some(_) if settings.private_alpn => (format!("quic://{RESOLVER}:{PORT}"), PORT),
        Some(_) => (format!("h3://{RESOLVER}:{PORT}"), PORT),
    };
    let located = (SocketAddr::from((resolver, port)), Bootstrap::Given);
    let options = ClientOptions {
        ca_file: Some(ca_file.to_owned()),
        handshake_mode: settings.handshake,
        ..ClientOptions::default()
    };
    DnsClient::new(url.parse().unwrap(), located, &options).unwrap()
}

fn options(settings: &Settings, range: Ipv4Addr, ca_file: &Path) -> GatewayOptions {
    GatewayOptions {
        range: format!("{range}/29").parse().unwrap(),
        names_max_count: 100,
        port: PORT,
        upstream_port: PORT,
        leg_versions: vec![HttpVersion::H1, HttpVersion::H2, HttpVersion::H3],
        upstream_version: settings.upstream,
        trigger: settings.trigger,
        sharing: settings.sharing,
        handshake_mode: settings.handshake,
        groups: KeyExchangeGroup::ALL.to_vec(),
        trust: Trust::from_authorities(Some(ca_file), Vec::new(), Vec::new()).unwrap(),
        deadline: settings.deadline,
    }
}

fn all<T>(records: &[Record], count: usize, pick: impl Fn(&Record) -> Option<T>) -> Option<Vec<T>> {
    let found: Vec<T> = records.iter().filter_map(pick).collect();
    (found.len() >= count).then_some(found)
}

async fn start_edge(text: &str, records: Arc<Mutex<Vec<Record>>>) -> Edge {
    let config = EdgeConfig::parse(text, "test").unwrap();
    let sink = Arc::new(move |record| records.lock().unwrap().push(record));
    Edge::start(&config, sink).await.unwrap()
}

fn coalescing_text(settings: &Settings, resolver: Ipv4Addr, other: Ipv4Addr) -> String {
    let Some(has_origin_frame) = settings.coalescing else {
        return String::new();
    };
    let site = |host: &str, address: Ipv4Addr| {
        format!(
            "[[site]]\nhost = '{host}'\naddress = '{address}'\ngenerated_prefix = '/bytes/'\n\
             response = [{{ path = '{TOO_EARLY}', status = 425 }}]\n"
        )
    };
    format!(
        "[web]\nh2_port = {PORT}\nh3_port = {PORT}\n{}{}[coalescing]\n\
         shared_connection = true\nprivate_alpn = true\norigin_frame = {has_origin_frame}\n\
         [[name]]\nname = '{}'\ndelay_ms = {}\n",
        site(SITES[0], resolver),
        site(SITES[1], other),
        SITES[0],
        settings.delay_ms,
    )
}

fn edge_text(
    folder: &Path,
    resolver: Ipv4Addr,
    [first, second]: [Ipv4Addr; 2],
    delay_ms: u32,
) -> String {
    format!(
        r#"
        [ca]
        folder = "{folder}/ca"
        [resolver]
        name = "{RESOLVER}"
        addresses = ["{resolver}"]
        ports = {{ do53 = 8053, doh3 = {PORT} }}
        origins = ["resolab.test"]
        [[zone]]
        name = "{FIRST}"
        type = "A"
        value = "{first}"
        [[zone]]
        name = "{FIRST}"
        type = "AAAA"
        value = "fd77::1"
        [[zone]]
        name = "{FIRST}"
        type = "HTTPS"
        value = "1 . alpn=h3 ipv4hint={first}"
        [[zone]]
        name = "{COVERED}"
        type = "A"
        value = "{first}"
        [[zone]]
        name = "{FAR}"
        type = "A"
        value = "{second}"
        [[zone]]
        name = "{ELSEWHERE}"
        type = "A"
        value = "{second}"
        [[name]]
        name = "{FIRST}"
        delay_ms = {delay_ms}
        "#,
        folder = folder.display()
    )
}
