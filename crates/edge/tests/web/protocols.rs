//! Which protocols a site's names offer, chosen by the name of the ClientHello.

use crate::support::clients::{Client, H1, request, tls};
use crate::support::{HOST, Lab};
use resolab_record::{EdgeCommand, Failure, HttpVersion};
use rustls::ClientConfig;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

const OLD: &str = "old.resolab.test";
const NEW: &str = "new.resolab.test";
const SITES: &str = r#"
    [[site]]
    host = "old.resolab.test"
    address = "WEB"
    generated_prefix = "/"
    protocols = ["h1"]
    [[site]]
    host = "*.resolab.test"
    address = "WEB"
    generated_prefix = "/"
    protocols = ["h3"]
"#;

/// What is agreed upon with a client of HTTP/2 and HTTP/1.1.
async fn agreed(lab: &Lab, name: &str) -> std::io::Result<Option<Vec<u8>>> {
    let mut config: ClientConfig = (*lab.tls_client("h2")).clone();
    config.alpn_protocols.push(b"http/1.1".to_vec());
    let tcp = TcpStream::connect(lab.web()).await?;
    let name = name.to_owned().try_into().unwrap();
    let stream = TlsConnector::from(Arc::new(config))
        .connect(name, tcp)
        .await?;
    Ok(stream.get_ref().1.alpn_protocol().map(<[u8]>::to_vec))
}

async fn h3_is_there(lab: &Lab, name: &str) -> bool {
    let client = lab.quic_client("h3");
    client.connect(lab.web(), name).unwrap().await.is_ok()
}

#[tokio::test]
async fn a_name_offers_what_its_site_says() {
    let lab = Lab::with_site(SITES).await;
    assert_eq!(
        agreed(&lab, HOST).await.unwrap().as_deref(),
        Some(&b"h2"[..])
    );
    assert_eq!(
        agreed(&lab, OLD).await.unwrap().as_deref(),
        Some(&b"http/1.1"[..])
    );
    let refused = agreed(&lab, NEW).await.unwrap_err();
    assert!(
        refused.to_string().contains("NoApplicationProtocol"),
        "{refused}"
    );
    for (name, is_there) in [(HOST, true), (OLD, false), (NEW, true)] {
        assert_eq!(h3_is_there(&lab, name).await, is_there, "{name}");
    }
    let mut http = Client::connect(&lab, "http/1.1", OLD).await;
    let get = request(http::Method::GET, OLD, "/77.css", &[]);
    assert_eq!(http.fetch(get, None).await.1.len(), 77);
    assert_eq!(lab.requests(1).await[0].http_version, HttpVersion::H1);
    // The one that asked for a file is still open.
    let ended = lab.connections(5).await;
    let failures: Vec<_> = ended.into_iter().filter_map(|each| each.failure).collect();
    assert!(
        failures.contains(&Failure::TlsHandshakeFailed),
        "{failures:?}"
    );
    assert!(
        failures.contains(&Failure::QuicHandshakeFailed),
        "{failures:?}"
    );
}

#[tokio::test]
async fn without_alpn_http1_is_spoken_only_where_it_is_offered() {
    let lab = Lab::with_site(SITES).await;
    for (name, is_there) in [(HOST, true), (NEW, false)] {
        let mut config: ClientConfig = (*lab.tls_client("h2")).clone();
        config.alpn_protocols.clear();
        let mut http = H1::new(tls(&config.into(), lab.web(), name).await);
        let get = format!("GET /1.js HTTP/1.0\r\nHost: {name}\r\n\r\n");
        // The edge may be gone before it is sent.
        let _ = http.write.write_all(get.as_bytes()).await;
        let _ = http.write.flush().await;
        let count = http.read.read(&mut [0; 9]).await.unwrap_or_default();
        assert_eq!(count > 0, is_there, "{name}");
    }
}

#[tokio::test]
async fn a_command_changes_what_is_offered() {
    let mut lab = Lab::start().await;
    for (settings, h2, h3) in [
        ("protocols = ['h1', 'h3']", false, true),
        ("protocols = ['h2']", true, false),
        ("alt_svc = true", true, true),
    ] {
        let command = EdgeCommand::LoadSite {
            id: 1,
            host: HOST.to_owned(),
            folder: Some(lab.folder.join("site").display().to_string()),
            address: None,
            settings: Some(settings.to_owned()),
        };
        lab.command(command).await;
        let id = agreed(&lab, HOST).await.unwrap().unwrap();
        assert_eq!(
            (id == b"h2", h3_is_there(&lab, HOST).await),
            (h2, h3),
            "{settings}"
        );
    }
    for (settings, part) in [("protocols = []", "empty"), ("protocols = ['h4']", "h4")] {
        let command = EdgeCommand::LoadSite {
            id: 2,
            host: HOST.to_owned(),
            folder: None,
            address: None,
            settings: Some(format!("generated_prefix = '/'\n{settings}")),
        };
        let error = lab.edge.carry_out(command).await.unwrap_err();
        assert!(error.contains(part) && !error.contains('\n'), "{error}");
    }
}
