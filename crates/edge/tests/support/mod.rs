//! An edge on loopback addresses of its own, its records, and clients that are not resolab's.
// Every test file uses a part of it.
#![allow(dead_code)]
#![allow(clippy::unwrap_used)]

pub mod clients;
mod delay;
mod doq;
mod handshakes;
pub mod ours;
pub mod relay;

#[allow(unused_imports)]
pub use delay::{delayed_tcp, delayed_udp};
#[allow(unused_imports)]
pub use doq::{ask_doq, open_doq};
#[allow(unused_imports)]
pub use handshakes::Client;

use quinn::crypto::rustls::QuicClientConfig;
use resolab_edge::{Edge, EdgeConfig};
use resolab_record::TicketPolicy;
use resolab_record::{
    ConnectionRecord, ConnectionsSummary, EdgeCommand, EdgeQueryRecord, EdgeRequestRecord, Record,
};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub const RESOLVER: &str = "dns.resolab.test";
pub const HOST: &str = "example.resolab.test";
pub const IMAGE_BYTES: usize = 150_000;

/// A running edge. Its addresses belong to this test alone, so its ports can be fixed.
pub struct Lab {
    pub edge: Edge,
    pub resolver: Ipv4Addr,
    pub web: Ipv4Addr,
    pub folder: PathBuf,
    pub image: Vec<u8>,
    records: Arc<Mutex<Vec<Record>>>,
}

/// What a file of certificates makes trusted.
pub fn roots_in(ca_file: &Path) -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_file(ca_file).unwrap())
        .unwrap();
    roots
}

fn tls_client(roots: RootCertStore, alpn: &str) -> Arc<ClientConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![alpn.as_bytes().to_vec()];
    config.enable_early_data = true;
    Arc::new(config)
}

pub fn quic_client(roots: RootCertStore, alpn: &str) -> quinn::Endpoint {
    let mut endpoint = quinn::Endpoint::client((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let crypto = QuicClientConfig::try_from(tls_client(roots, alpn)).unwrap();
    endpoint.set_default_client_config(quinn::ClientConfig::new(Arc::new(crypto)));
    endpoint
}

static LABS: AtomicU32 = AtomicU32::new(0);

impl Lab {
    pub async fn start() -> Self {
        Self::start_with("", "").await
    }

    /// With more keys of its site and more tables after it; `WEB` is the site's address.
    pub async fn with_site(more: &str) -> Self {
        Self::start_with("", more).await
    }

    /// With more lines in `[resolver]`, and more at the end.
    pub async fn start_with(resolver_lines: &str, more: &str) -> Self {
        Self::launch(resolver_lines, more, |text| text).await
    }

    /// With the configuration's text changed.
    pub async fn start_edited(edit: impl FnOnce(String) -> String) -> Self {
        Self::launch("", "", edit).await
    }

    async fn launch(resolver_lines: &str, more: &str, edit: impl FnOnce(String) -> String) -> Self {
        let number = LABS.fetch_add(1, Ordering::Relaxed) as u8;
        let process = std::process::id();
        let (second, third) = ((process >> 8) as u8 | 0x80, process as u8);
        let resolver = Ipv4Addr::new(127, second, third, 2 * number + 1);
        let web = Ipv4Addr::new(127, second, third, 2 * number + 2);
        let folder = std::env::temp_dir().join(format!("resolab-edge-{process}-{number}"));
        let image: Vec<u8> = (0..IMAGE_BYTES).map(|i| (i * 31 % 251) as u8).collect();
        std::fs::create_dir_all(folder.join("site/img")).unwrap();
        std::fs::write(folder.join("site/index.html"), "<!doctype html>hello").unwrap();
        std::fs::write(folder.join("site/img/a.png"), &image).unwrap();
        let more = more.replace("WEB", &web.to_string());
        let config = edit(config_text(&folder, resolver, web, resolver_lines) + &more);
        let config = EdgeConfig::parse(&config, "test").unwrap();
        let records = Arc::new(Mutex::new(Vec::new()));
        let sink = {
            let records = Arc::clone(&records);
            Arc::new(move |record| records.lock().unwrap().push(record))
        };
        let edge = Edge::start(&config, sink).await.unwrap();
        Self {
            edge,
            resolver,
            web,
            folder,
            image,
            records,
        }
    }

    pub async fn set_policy(&mut self, name: Option<&str>, policy: TicketPolicy) {
        let name = name.map(str::to_owned);
        let command = EdgeCommand::SetTicketPolicy {
            id: 1,
            name,
            policy,
        };
        self.edge.carry_out(command).await.unwrap();
    }

    pub async fn command(&mut self, command: EdgeCommand) {
        self.edge.carry_out(command).await.unwrap();
    }

    /// The summary as of now.
    pub async fn summary(&mut self) -> ConnectionsSummary {
        self.records
            .lock()
            .unwrap()
            .retain(|record| !matches!(record, Record::EdgeSummary(_)));
        self.command(EdgeCommand::Summary { id: 1, label: None })
            .await;
        self.wait(|records| {
            records.iter().find_map(|record| {
                let Record::EdgeSummary(summary) = record else {
                    return None;
                };
                summary.connections.clone()
            })
        })
        .await
    }

    pub fn doq(&self) -> SocketAddr {
        (self.resolver, 8853).into()
    }

    pub fn dot(&self) -> SocketAddr {
        (self.resolver, 8853).into()
    }

    pub fn doh(&self) -> SocketAddr {
        (self.resolver, 8443).into()
    }

    pub fn web(&self) -> SocketAddr {
        (self.web, 8443).into()
    }

    pub fn roots(&self) -> RootCertStore {
        roots_in(Path::new(&self.edge.ready_record().ca_file))
    }

    /// A client whose tickets live as long as it does.
    pub fn tls_client(&self, alpn: &str) -> Arc<ClientConfig> {
        tls_client(self.roots(), alpn)
    }

    pub fn quic_client(&self, alpn: &str) -> quinn::Endpoint {
        quic_client(self.roots(), alpn)
    }

    /// Wait until `pick` finds something in the records.
    pub async fn wait<T>(&self, pick: impl Fn(&[Record]) -> Option<T>) -> T {
        for _ in 0..2_000 {
            if let Some(found) = pick(&self.records.lock().unwrap()) {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        panic!("no such record in {:#?}", self.records.lock().unwrap());
    }

    pub async fn queries(&self, count: usize) -> Vec<EdgeQueryRecord> {
        self.wait(|records| {
            all(records, count, |record| {
                let Record::EdgeQuery(query) = record else {
                    return None;
                };
                Some(query.clone())
            })
        })
        .await
    }

    pub async fn requests(&self, count: usize) -> Vec<EdgeRequestRecord> {
        self.wait(|records| {
            all(records, count, |record| {
                let Record::EdgeRequest(request) = record else {
                    return None;
                };
                Some(request.clone())
            })
        })
        .await
    }

    /// Records of the connections that have ended by now.
    pub fn ended_connections(&self) -> Vec<ConnectionRecord> {
        let records = self.records.lock().unwrap();
        all(&records, 0, ended).unwrap()
    }

    /// Records of ended connections.
    pub async fn connections(&self, count: usize) -> Vec<ConnectionRecord> {
        self.wait(|records| all(records, count, ended)).await
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn ended(record: &Record) -> Option<ConnectionRecord> {
    let Record::Connection(connection) = record else {
        return None;
    };
    connection.closed_ns.map(|_| connection.as_ref().clone())
}

fn all<T>(records: &[Record], count: usize, pick: impl Fn(&Record) -> Option<T>) -> Option<Vec<T>> {
    let found: Vec<T> = records.iter().filter_map(pick).collect();
    (found.len() >= count).then_some(found)
}

fn config_text(
    folder: &std::path::Path,
    resolver: Ipv4Addr,
    web: Ipv4Addr,
    resolver_lines: &str,
) -> String {
    format!(
        r#"
        [ca]
        folder = "{folder}/ca"
        [resolver]
        name = "{RESOLVER}"
        addresses = ["{resolver}"]
        ports = {{ do53 = 8053, dot = 8853, doh = 8443, doh3 = 8443, doq = 8853 }}
        {resolver_lines}
        [web]
        h2_port = 8443
        h3_port = 8443
        [[site]]
        host = "{HOST}"
        address = "{web}"
        folder = "{folder}/site"
        "#,
        folder = folder.display()
    )
}

/// A query for an address of the page, message ID 0.
pub fn query() -> Vec<u8> {
    let mut message = vec![0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    message.extend_from_slice(b"\x07example\x07resolab\x04test\x00\x00\x01\x00\x01");
    message
}

/// A query for an address of a name, with an id.
pub fn query_for(name: &str, id: u8) -> Vec<u8> {
    let mut message = vec![0, id, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in name.split('.') {
        message.push(label.len() as u8);
        message.extend_from_slice(label.as_bytes());
    }
    message.extend_from_slice(&[0, 0, 1, 0, 1]);
    message
}

/// A message behind its length.
pub fn framed(message: &[u8]) -> Vec<u8> {
    let mut framed = (message.len() as u16).to_be_bytes().to_vec();
    framed.extend_from_slice(message);
    framed
}

/// Whether bytes are the answer to [`query`]: the web address at the end.
pub fn assert_answer(lab: &Lab, message: &[u8]) {
    assert_eq!(
        &message[..8],
        &[0, 0, 0x81, 0x80, 0, 1, 0, 1],
        "{message:?}"
    );
    assert_eq!(&message[message.len() - 4..], &lab.web.octets());
}
