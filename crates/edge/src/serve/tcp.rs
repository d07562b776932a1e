//! Accepted TCP connections: plain DNS, or TLS and the protocol chosen by ALPN.

use super::deadlines::wait_for_missed_deadline;
use super::{framed, h1, h2};
use crate::connections::ending::ConnectionEnding;
use crate::connections::{ConnectionProtocol, OpenConnection};
use crate::state::EdgeState;
use resolab_record::{DnsTransport, Failure};
use resolab_transport::server::{HandshakeFacts, PlainStream, TlsStream};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

/// The pause after a failed accept (no file descriptors left), against a busy loop.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// Serves DoTCP until the task is dropped.
pub async fn serve_plain(state: Arc<EdgeState>, listener: TcpListener) {
    loop {
        let Some((tcp, connection)) = accept(&state, &listener, None).await else {
            continue;
        };
        let state = Arc::clone(&state);
        tokio::spawn(async move {
            let stream = PlainStream::new(
                tcp,
                Arc::clone(&connection.bytes),
                Arc::clone(&state.policies.black_hole),
                state.doh.as_ref().map(|doh| doh.name.clone()),
            );
            let ending = tokio::select! {
                ending = wait_for_missed_deadline(&connection) => ending,
                ending = framed::serve(&state, &connection, stream, DnsTransport::Dotcp) => ending,
            };
            state.connections.end(&connection, ending);
        });
    }
}

/// Serves DoT, HTTP/2 and HTTP/1.1 until the task is dropped.
pub async fn serve_tls(state: Arc<EdgeState>, listener: TcpListener, alpn: Vec<Vec<u8>>) {
    let alpn = Arc::new(alpn);
    loop {
        let facts = Arc::new(HandshakeFacts::default());
        let accepted = accept(&state, &listener, Some(Arc::clone(&facts))).await;
        let Some((tcp, connection)) = accepted else {
            continue;
        };
        let (state, alpn) = (Arc::clone(&state), Arc::clone(&alpn));
        tokio::spawn(async move {
            let ending = tokio::select! {
                ending = wait_for_missed_deadline(&connection) => ending,
                ending = serve_connection(&state, &connection, tcp, &alpn, facts) => ending,
            };
            state.connections.end(&connection, ending);
        });
    }
}

async fn accept(
    state: &EdgeState,
    listener: &TcpListener,
    facts: Option<Arc<HandshakeFacts>>,
) -> Option<(TcpStream, Arc<OpenConnection>)> {
    let Ok((tcp, peer)) = listener.accept().await else {
        sleep(ACCEPT_PAUSE).await;
        return None;
    };
    if !state.connections.admits(peer.ip()) {
        return None;
    }
    // Without it an answer waits for the client's delayed acknowledgement.
    tcp.set_nodelay(true).ok()?;
    let local = tcp.local_addr().ok()?;
    let connection = state
        .connections
        .open(ConnectionProtocol::Tcp, local, peer, facts);
    Some((tcp, connection))
}

async fn serve_connection(
    state: &Arc<EdgeState>,
    connection: &Arc<OpenConnection>,
    tcp: TcpStream,
    alpn: &[Vec<u8>],
    facts: Arc<HandshakeFacts>,
) -> ConnectionEnding {
    let bytes = Arc::clone(&connection.bytes);
    let accepting = TlsStream::accept(tcp, &state.policies, alpn, Arc::clone(&facts), bytes);
    // A client in a black hole is told to close, too.
    let accepted = tokio::select! {
        accepted = accepting => accepted,
        () = connection.close_wanted() => return ConnectionEnding::from_note("closed by command"),
    };
    let stream = match accepted {
        Ok(stream) => stream,
        Err(error) => {
            if TlsStream::is_version_refusal(&error) {
                connection.tallies.refused_tls_version.add();
            }
            return ConnectionEnding::from_failure(Failure::TlsHandshakeFailed, error.to_string());
        }
    };
    let ending = match facts.alpn() {
        Some("h2") => h2::serve(state, connection, stream).await,
        Some("http/1.1") => h1::serve(state, connection, stream).await,
        // RFC 7858 asks for no ALPN; the port says what is spoken.
        _ if offers(alpn, "dot") => {
            framed::serve(state, connection, stream, DnsTransport::Dot).await
        }
        _ if offers(&state.policies.offer(facts.server_name(), alpn), "http/1.1") => {
            h1::serve(state, connection, stream).await
        }
        _ => ConnectionEnding::from_failure(
            Failure::TlsHandshakeFailed,
            "the client offered no ALPN",
        ),
    };
    // Whatever ends it before the client's Finished is a failure of the handshake.
    match facts.complete_ns() {
        None => ConnectionEnding {
            failure: Some(Failure::TlsHandshakeFailed),
            ..ending
        },
        Some(_) => ending,
    }
}

fn offers(alpn: &[Vec<u8>], id: &str) -> bool {
    alpn.iter().any(|each| each == id.as_bytes())
}
