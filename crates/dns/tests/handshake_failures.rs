//! Handshakes that end without what the transport needs, each with a class and words of its own, at
//! once: none may count as an answer that took as long as the deadline.

#![allow(clippy::unwrap_used)]

use crate::support::{HOST, client};
use bytes::Bytes;
use http::Response;
use rcgen::{BasicConstraints, Certificate, CertificateParams, IsCa, KeyPair};
use resolab_dns::{ClientOptions, ConnectionPolicy, PendingQuery, Question, Upstream};
use resolab_record::{Failure, HandshakeMode};
use resolab_transport::client::MeasuredFailure;
use rustls::pki_types::PrivateKeyDer;
use rustls::server::{ServerSessionMemoryCache, StoresServerSessions};
use rustls::version::{TLS12, TLS13};
use rustls::{ServerConfig, SupportedProtocolVersion};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// No failure here waits for it.
const DEADLINE: Duration = Duration::from_secs(30);

fn config(alpn: &[&str]) -> ServerConfig {
    let (certificate, key) = self_signed(IsCa::NoCa);
    let mut config = config_of(&[&TLS13], &certificate, &key);
    config.alpn_protocols = alpn.iter().map(|id| id.as_bytes().to_vec()).collect();
    config
}

fn self_signed(is_ca: IsCa) -> (Certificate, KeyPair) {
    let key = KeyPair::generate().unwrap();
    let mut parameters = CertificateParams::new(vec![HOST.to_owned()]).unwrap();
    parameters.is_ca = is_ca;
    (parameters.self_signed(&key).unwrap(), key)
}

fn config_of(
    versions: &[&'static SupportedProtocolVersion],
    certificate: &Certificate,
    key: &KeyPair,
) -> ServerConfig {
    let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap()
}

/// Each connection with the next configuration, the last for all that come after; the port.
async fn serve(configs: Vec<ServerConfig>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let configs: Vec<_> = configs.into_iter().map(Arc::new).collect();
    tokio::spawn(async move {
        for number in 0.. {
            let (stream, _) = listener.accept().await.unwrap();
            let config = configs.get(number).unwrap_or(configs.last().unwrap());
            tokio::spawn(answer(stream, TlsAcceptor::from(Arc::clone(config))));
        }
    });
    port
}

/// Over HTTP/2 what was asked, as a response; over anything else nothing, for as long as the client
/// stays.
async fn answer(stream: TcpStream, acceptor: TlsAcceptor) {
    let Ok(stream) = acceptor.accept(stream).await else {
        return;
    };
    if stream.get_ref().1.alpn_protocol() != Some(b"h2") {
        tokio::time::sleep(2 * DEADLINE).await;
        return;
    }
    let mut connection = h2::server::handshake(stream).await.unwrap();
    while let Some(Ok((request, mut respond))) = connection.accept().await {
        tokio::spawn(async move {
            let query = request.into_body().data().await.unwrap().unwrap();
            let mut message = query.to_vec();
            message[2] |= 0x80;
            let head = Response::builder().header("content-type", "application/dns-message");
            let mut body = respond
                .send_response(head.body(()).unwrap(), false)
                .unwrap();
            body.send_data(Bytes::from(message), true).unwrap();
        });
    }
}

fn insecure(handshake_mode: HandshakeMode) -> ClientOptions {
    ClientOptions {
        is_insecure: true,
        handshake_mode,
        ..ClientOptions::default()
    }
}

async fn failure_of(url: &str, options: &ClientOptions) -> MeasuredFailure {
    let upstream = Upstream::new(client(url, options), ConnectionPolicy::default());
    let question = Question::parse("a.test", "A").unwrap();
    upstream.client.prime(&question, 0, DEADLINE).await;
    let begun = Instant::now();
    let asking = PendingQuery::begin(&upstream.client, &question);
    let failure = upstream
        .ask(&asking, DEADLINE)
        .await
        .outcome
        .result
        .err()
        .unwrap();
    assert!(begun.elapsed() < DEADLINE, "{failure}");
    failure
}

#[tokio::test]
async fn a_doh_server_that_does_not_choose_http2_fails_at_once() {
    // RFC 9113 section 3.2, RFC 7301 section 3.2.
    for alpn in [&["http/1.1"][..], &[]] {
        let port = serve(vec![config(alpn)]).await;
        let url = format!("https://{HOST}:{port}");
        let failure = failure_of(&url, &insecure(HandshakeMode::Full)).await;
        assert_eq!(failure.failure, Failure::TlsAlpnMismatch, "{failure}");
    }
}

#[tokio::test]
async fn early_data_that_was_rejected_makes_no_http2_where_it_is_not_chosen() {
    let sessions: Arc<dyn StoresServerSessions> = ServerSessionMemoryCache::new(64);
    let configs = [&["h2"][..], &[]].map(|alpn| {
        let mut config = config(alpn);
        config.max_early_data_size = 16_384;
        config.session_storage = Arc::clone(&sessions);
        config
    });
    let port = serve(configs.into()).await;
    let options = insecure(HandshakeMode::ZeroRtt);
    let failure = failure_of(&format!("https://{HOST}:{port}"), &options).await;
    assert_eq!(failure.failure, Failure::TlsAlpnMismatch, "{failure}");
}

#[tokio::test]
async fn a_server_of_tls_12_alone_is_told_what_is_offered() {
    let (certificate, key) = self_signed(IsCa::NoCa);
    let port = serve(vec![config_of(&[&TLS12], &certificate, &key)]).await;
    let failure = failure_of(
        &format!("tls://{HOST}:{port}"),
        &insecure(HandshakeMode::Full),
    )
    .await;
    assert_eq!(failure.failure, Failure::TlsHandshakeFailed);
    assert!(failure.detail.contains("TLS 1.3 alone"), "{failure}");
}

#[tokio::test]
async fn a_self_signed_authority_is_explained_with_its_way_out() {
    let (certificate, key) = self_signed(IsCa::Ca(BasicConstraints::Unconstrained));
    let port = serve(vec![config_of(&[&TLS13], &certificate, &key)]).await;
    let file = std::env::temp_dir().join(format!("authority-{port}.pem"));
    std::fs::write(&file, certificate.pem()).unwrap();
    let options = ClientOptions {
        ca_file: Some(file.clone()),
        ..ClientOptions::default()
    };
    let failure = failure_of(&format!("tls://{HOST}:{port}"), &options).await;
    std::fs::remove_file(file).unwrap();
    assert_eq!(failure.failure, Failure::TlsCertificateInvalid);
    assert!(
        failure.detail.contains("a certificate authority's own")
            && failure.detail.contains("--insecure --pin sha256/")
            && !failure.detail.contains("OtherError"),
        "{failure}"
    );
}

#[tokio::test]
async fn where_no_packet_can_leave_each_transport_says_so_at_once() {
    // A scope of IPv6 that no machine has (RFC 4007 section 6).
    let at = "[fe80::1%4294967295]";
    let options = insecure(HandshakeMode::Full);
    for (scheme, expected) in [
        ("udp", Failure::QueryUnreachable),
        ("tcp", Failure::TcpConnectUnreachable),
        ("tls", Failure::TcpConnectUnreachable),
        ("https", Failure::TcpConnectUnreachable),
        ("h3", Failure::QuicHandshakeUnreachable),
        ("quic", Failure::QuicHandshakeUnreachable),
    ] {
        let failure = failure_of(&format!("{scheme}://{at}"), &options).await;
        assert_eq!(failure.failure, expected, "{scheme}: {failure}");
    }
}
