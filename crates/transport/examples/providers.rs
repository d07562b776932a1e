//! Compares the cost of the cryptography providers: handshakes in memory with the key exchange of
//! ring and of aws-lc-rs, in turn. Run the program by hand on a quiet machine. The output has a
//! line for each kind.
//! Not for: the network, or anything but the processor time of both ends together.
//!
//! cargo run --release -p resolab-transport --example providers -- [ROUNDS]
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use rcgen::{CertificateParams, KeyPair};
use resolab_record::KeyExchangeGroup;
use resolab_transport::clock::monotonic_ns;
use rustls::crypto::{CryptoProvider, aws_lc_rs, ring};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::version::TLS13;
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection};
use std::sync::Arc;

/// The number of handshakes of a kind before the next kind's turn.
const TURN_COUNT: usize = 50;

struct Kind {
    name: String,
    client: Arc<ClientConfig>,
    server: Arc<ServerConfig>,
    took_ns: Vec<u64>,
}

fn main() {
    let rounds = std::env::args()
        .nth(1)
        .map_or(20, |typed| typed.parse().unwrap());
    let key = KeyPair::generate().unwrap();
    let parameters = CertificateParams::new(vec!["a.test".to_owned()]).unwrap();
    let certificate = parameters.self_signed(&key).unwrap().der().clone();
    let mut kinds = kinds(&certificate, &key);
    for _ in 0..rounds {
        for kind in &mut kinds {
            for _ in 0..TURN_COUNT {
                let began_ns = monotonic_ns();
                shake(kind);
                kind.took_ns.push(monotonic_ns() - began_ns);
            }
        }
    }
    println!("provider and group; handshakes; median and 90th percentile, us, both ends");
    for kind in &mut kinds {
        kind.took_ns.sort_unstable();
        let count = kind.took_ns.len();
        let us = |at: usize| kind.took_ns[at] as f64 / 1e3;
        let (median, p90) = (us(count / 2), us(count * 9 / 10));
        println!("{:32} {count:6} {median:8.1} {p90:8.1}", kind.name);
    }
}

/// Returns the kinds: ring alone, aws-lc-rs alone, and resolab's provider, each with every group of
/// the provider.
fn kinds(certificate: &CertificateDer<'static>, key: &KeyPair) -> Vec<Kind> {
    let all = aws_lc_rs::ALL_KX_GROUPS.iter();
    let all = all.filter(|group| KeyExchangeGroup::of_code(group.name().into()).is_some());
    let aws = all.map(|group| ("aws-lc-rs", vec![*group], aws_lc_rs::default_provider()));
    let of_ring = ring::ALL_KX_GROUPS.iter();
    let of_ring = of_ring.map(|group| ("ring", vec![*group], ring::default_provider()));
    let ours = KeyExchangeGroup::ALL.map(|group| {
        let provider = resolab_transport::provider(&[group]);
        ("resolab", provider.kx_groups.clone(), provider)
    });
    of_ring
        .chain(aws)
        .chain(ours)
        .map(|(name, groups, provider)| Kind {
            name: format!("{name} {:?}", groups[0].name()),
            took_ns: Vec::new(),
            client: client(certificate, provider.clone(), &groups),
            server: server(certificate, key, provider, &groups),
        })
        .collect()
}

type Groups = [&'static dyn rustls::crypto::SupportedKxGroup];

fn client(
    certificate: &CertificateDer<'static>,
    mut provider: CryptoProvider,
    groups: &Groups,
) -> Arc<ClientConfig> {
    provider.kx_groups = groups.to_vec();
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone()).unwrap();
    let mut config = ClientConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[&TLS13])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.resumption = rustls::client::Resumption::disabled();
    Arc::new(config)
}

fn server(
    certificate: &CertificateDer<'static>,
    key: &KeyPair,
    mut provider: CryptoProvider,
    groups: &Groups,
) -> Arc<ServerConfig> {
    provider.kx_groups = groups.to_vec();
    let private = PrivateKeyDer::Pkcs8(key.serialize_der().into());
    let mut config = ServerConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[&TLS13])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], private)
        .unwrap();
    config.send_tls13_tickets = 0;
    Arc::new(config)
}

/// Makes a full handshake between two ends in this process.
fn shake(kind: &Kind) {
    let name = ServerName::try_from("a.test").unwrap();
    let mut client = ClientConnection::new(Arc::clone(&kind.client), name).unwrap();
    let mut server = ServerConnection::new(Arc::clone(&kind.server)).unwrap();
    while client.is_handshaking() || server.is_handshaking() {
        let mut bytes = Vec::new();
        client.write_tls(&mut bytes).unwrap();
        server.read_tls(&mut bytes.as_slice()).unwrap();
        server.process_new_packets().unwrap();
        bytes.clear();
        server.write_tls(&mut bytes).unwrap();
        client.read_tls(&mut bytes.as_slice()).unwrap();
        client.process_new_packets().unwrap();
    }
}
