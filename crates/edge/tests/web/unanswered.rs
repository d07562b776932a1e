//! Requests a site leaves without an answer because it is told to: each ends alone, over HTTP/1.1
//! with its connection.

use crate::support::clients::{Client, VERSIONS, request};
use crate::support::{HOST, Lab};
use h3::error::{Code, StreamError};
use http::{Method, StatusCode};
use resolab_record::EdgeCommand;
use std::time::Duration;
use tokio::time::timeout;

const PATIENCE: Duration = Duration::from_secs(10);

const BROKEN: &str = r#"
    response = [
        { path = "/reset", outcome = "reset", server_time_ms = 30 },
        { path = "/hang", outcome = "hang" },
    ]
"#;

/// Ask for a path that is not answered; whether the stream, not the connection, was ended for it.
async fn ask_in_vain(http: &mut Client, path: &str) -> bool {
    let get = request(Method::GET, HOST, path, &[]);
    match http {
        Client::H1(http) => {
            let text = format!("GET {path} HTTP/1.1\r\nhost: {HOST}\r\n\r\n");
            http.send(text.as_bytes()).await;
            assert_eq!(http.more().await, 0, "{:?}", http.unread);
            false
        }
        Client::H2(http) => {
            let error = http.send_request(get, true).unwrap().0.await.unwrap_err();
            error.is_remote() && error.is_reset() && error.reason() == Some(h2::Reason::CANCEL)
        }
        Client::H3(_, http) => {
            let mut stream = http.send_request(get).await.unwrap();
            stream.finish().await.unwrap();
            let error = stream.recv_response().await.unwrap_err();
            matches!(error, StreamError::RemoteTerminate { code, .. } if code == Code::H3_REQUEST_CANCELLED)
        }
    }
}

#[tokio::test]
async fn a_reset_ends_one_stream_after_its_time() {
    let lab = Lab::with_site(BROKEN).await;
    for (count, alpn) in VERSIONS.into_iter().enumerate() {
        let mut http = Client::connect(&lab, alpn, HOST).await;
        let is_stream = ask_in_vain(&mut http, "/reset").await;
        assert_eq!(is_stream, alpn != "http/1.1", "{alpn}");
        if is_stream {
            assert_eq!(
                http.get("/", &[]).await.0.status(),
                StatusCode::OK,
                "{alpn}"
            );
        }
        // The first connection has the one request.
        let seen = lab.requests(1 + 2 * count).await;
        let reset = seen.iter().rfind(|each| each.path == "/reset").unwrap();
        assert_eq!(reset.response_sent_ns, None, "{alpn}");
        assert!(reset.server_time_ns >= Some(30_000_000), "{alpn}");
    }
    let ended = lab.connections(1).await.remove(0);
    let detail = ended.failure_detail.as_deref();
    assert_eq!(
        (ended.failure, detail),
        (None, Some("a request is left without an answer"))
    );
}

/// Two clients of one connection.
fn two_hands(client: Client) -> (Client, Client) {
    match client {
        Client::H2(http) => (Client::H2(http.clone()), Client::H2(http)),
        Client::H3(quic, http) => (
            Client::H3(quic.clone(), http.clone()),
            Client::H3(quic, http),
        ),
        Client::H1(_) => unreachable!(),
    }
}

#[tokio::test]
async fn what_hangs_holds_nothing_else_up() {
    let mut lab = Lab::with_site(BROKEN).await;
    for alpn in ["h2", "h3"] {
        let (mut held, mut good) = two_hands(Client::connect(&lab, alpn, HOST).await);
        let held = tokio::spawn(async move { held.get("/hang", &[]).await.0.status() });
        for _ in 0..5 {
            assert_eq!(
                good.get("/", &[]).await.0.status(),
                StatusCode::OK,
                "{alpn}"
            );
        }
        assert!(!held.is_finished(), "{alpn}");
        held.abort();
    }
    // It is written down at once, and keeps no connection from being closed.
    let seen = lab.requests(12).await;
    let held = seen.iter().filter(|each| each.path == "/hang");
    assert_eq!(
        held.filter(|each| each.response_sent_ns.is_none()).count(),
        2
    );
    let close = EdgeCommand::CloseConnections {
        id: 1,
        name: None,
        names: None,
    };
    lab.command(close).await;
    lab.connections(2).await;
}

#[tokio::test]
async fn what_hangs_ends_with_the_edges_patience() {
    let short = "[limits]\nidle_timeout_s = 0.3\n[resolver]";
    let text = |text: String| text.replacen("[resolver]", short, 1) + BROKEN;
    let lab = Lab::start_edited(text).await;
    let mut alone = Client::connect(&lab, "http/1.1", HOST).await;
    let asked = timeout(PATIENCE, ask_in_vain(&mut alone, "/hang")).await;
    assert!(!asked.unwrap());
    for alpn in ["h2", "h3"] {
        let (mut held, mut good) = two_hands(Client::connect(&lab, alpn, HOST).await);
        // Other requests keep the connection from being idle.
        let keep_busy = async {
            loop {
                tokio::time::sleep(Duration::from_millis(30)).await;
                good.get("/", &[]).await;
            }
        };
        let asked = tokio::select! {
            asked = timeout(PATIENCE, ask_in_vain(&mut held, "/hang")) => asked,
            () = keep_busy => unreachable!(),
        };
        assert!(asked.unwrap(), "{alpn}");
    }
}
