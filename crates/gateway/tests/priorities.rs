//! A browser changes the priority of what it asked for (RFC 9218 section 7.2), in bytes by hand, and
//! the server is told.
#![allow(clippy::unwrap_used)]

use crate::support;
use crate::support::{FIRST, LONG, Lab, PORT, Settings};
use quinn::crypto::rustls::QuicClientConfig;
use resolab_record::{GatewayRequestRecord, HttpVersion};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

/// A browser's HTTP/3 connection on which every byte is ours.
struct ByHand {
    quic: quinn::Connection,
    control: quinn::SendStream,
    _endpoint: quinn::Endpoint,
}

impl ByHand {
    async fn open(lab: &Lab) -> Self {
        let address = SocketAddr::from((lab.look_up(FIRST).await, PORT));
        let mut endpoint = quinn::Endpoint::client((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        let tls = support::browser::tls(lab.roots(), "h3");
        let crypto = QuicClientConfig::try_from(tls).unwrap();
        endpoint.set_default_client_config(quinn::ClientConfig::new(Arc::new(crypto)));
        let quic = endpoint.connect(address, FIRST).unwrap().await.unwrap();
        let mut control = quic.open_uni().await.unwrap();
        // The control stream, and SETTINGS without any.
        control.write_all(&[0x00, 0x04, 0x00]).await.unwrap();
        Self {
            quic,
            control,
            _endpoint: endpoint,
        }
    }

    /// A GET, in a HEADERS frame with fields of QPACK's static table and literals.
    async fn ask(&self, path: &str) -> quinn::RecvStream {
        let literal = |index: u8, text: &str| {
            let mut bytes = vec![0x50 | index, text.len() as u8];
            bytes.extend_from_slice(text.as_bytes());
            bytes
        };
        let fields = [
            // `:method: GET` and `:scheme: https` are entries 17 and 23 (RFC 9204 appendix A).
            vec![0, 0, 0xd1, 0xd7],
            literal(0, FIRST),
            literal(1, path),
        ]
        .concat();
        let frame = [vec![0x01, fields.len() as u8], fields].concat();
        let (mut send, receive) = self.quic.open_bi().await.unwrap();
        send.write_all(&frame).await.unwrap();
        send.finish().unwrap();
        receive
    }

    async fn reprioritize(&mut self, stream: u8, value: &str) {
        let head = [0x80, 0x0f, 0x07, 0x00, value.len() as u8 + 1, stream];
        let frame = [&head, value.as_bytes()].concat();
        self.control.write_all(&frame).await.unwrap();
    }
}

async fn lab(upstream: HttpVersion) -> Lab {
    Lab::start(Settings {
        upstream,
        ..Settings::default()
    })
    .await
}

async fn told(lab: &Lab, count: usize) -> Vec<(String, String)> {
    let began = Instant::now();
    loop {
        let noted = lab.origin().seen.priorities.lock().unwrap().clone();
        if noted.len() >= count {
            return noted;
        }
        assert!(began.elapsed() < LONG, "{noted:?}");
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
}

fn counts(requests: &[GatewayRequestRecord]) -> Vec<(&str, u32)> {
    let count = |it: &'_ GatewayRequestRecord| it.priority_updates_count;
    let mut counts: Vec<_> = requests
        .iter()
        .map(|it| (it.path.as_str(), count(it)))
        .collect();
    counts.sort_unstable();
    counts
}

fn one(path: &str, value: &str) -> (String, String) {
    (path.to_owned(), value.to_owned())
}

#[tokio::test]
async fn what_is_said_of_a_request_under_way_or_to_come_reaches_its_server() {
    let lab = lab(HttpVersion::H3).await;
    let mut browser = ByHand::open(&lab).await;
    let mut first = browser.ask("/gate/1").await;
    let mut second = browser.ask("/gate/2").await;
    browser.reprioritize(4, "u=1").await;
    assert_eq!(told(&lab, 1).await, [one("/gate/2", "u=1")]);
    // Behind a first one, and of a request that has not been sent.
    browser.reprioritize(4, "u=6, i").await;
    browser.reprioritize(8, "u=0").await;
    assert_eq!(told(&lab, 2).await[1], one("/gate/2", "u=6, i"));
    let mut third = browser.ask("/gate/3").await;
    assert_eq!(told(&lab, 3).await[2], one("/gate/3", "u=0"));
    lab.origin().gate.send_replace(true);
    for response in [&mut first, &mut second, &mut third] {
        assert!(!response.read_to_end(1_000).await.unwrap().is_empty());
    }
    let requests = lab.requests(3).await;
    let expected = [("/gate/1", 0), ("/gate/2", 2), ("/gate/3", 1)];
    assert_eq!(counts(&requests), expected);
}

#[tokio::test]
async fn what_cannot_be_told_is_not_counted_and_harms_nothing() {
    let lab = lab(HttpVersion::H2).await;
    let mut browser = ByHand::open(&lab).await;
    browser.reprioritize(0, "u=1").await;
    // Of a stream that is no request's, and without any stream.
    browser.reprioritize(3, "u=1").await;
    browser
        .control
        .write_all(&[0x80, 0x0f, 0x07, 0, 0])
        .await
        .unwrap();
    let mut response = browser.ask("/").await;
    assert!(!response.read_to_end(1_000).await.unwrap().is_empty());
    assert_eq!(counts(&lab.requests(1).await), [("/", 0)]);
}
