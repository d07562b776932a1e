//! Downstream connections over TCP: delayed by the trigger, then TLS, then HTTP by ALPN. Not for:
//! HTTP.

use super::{DownstreamConnection, h1, h2};
use crate::gateway_state::GatewayState;
use resolab_record::Failure;
use resolab_transport::client::MeasuredFailure;
use resolab_transport::server::{ByteCounts, HandshakeFacts, TlsStream};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{sleep, timeout};

/// The pause after a failed accept. Without a pause accept fails again at once when descriptors
/// have run out.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// Accepts connections until the task is dropped.
pub(crate) async fn serve(
    gateway_state: Arc<GatewayState>,
    host: Arc<str>,
    listener: TcpListener,
    alpn: Vec<Vec<u8>>,
) {
    let alpn: Arc<[Vec<u8>]> = alpn.into();
    loop {
        let Ok((tcp, _)) = listener.accept().await else {
            sleep(ACCEPT_PAUSE).await;
            continue;
        };
        // No permit is kept while nobody comes: a load ends when all are free.
        let Ok(place) = Arc::clone(&gateway_state.permits).acquire_owned().await else {
            return;
        };
        // Without it an answer waits for the browser's delayed acknowledgement.
        let _ = tcp.set_nodelay(true);
        let (gateway_state, host, alpn) = (
            Arc::clone(&gateway_state),
            Arc::clone(&host),
            Arc::clone(&alpn),
        );
        tokio::spawn(async move { serve_leg(&gateway_state, &host, tcp, &alpn, place).await });
    }
}

async fn serve_leg(
    gateway_state: &Arc<GatewayState>,
    host: &Arc<str>,
    tcp: TcpStream,
    alpn: &[Vec<u8>],
    place: OwnedSemaphorePermit,
) {
    let deadline = gateway_state.options.deadline;
    let mut load = gateway_state.load.subscribe();
    // A browser may open a connection long before it needs it: then it says nothing on it, and may
    // close it without a word.
    let mut first = [0];
    let hello = tokio::select! {
        hello = tcp.peek(&mut first) => hello,
        _ = load.changed() => return,
    };
    if !matches!(hello, Ok(1..)) {
        return;
    }
    let facts = Arc::<HandshakeFacts>::default();
    let downstream = DownstreamConnection::new(gateway_state, host, Arc::clone(&facts), place);
    let accepting = async {
        if !downstream.wait_for_release(true).await {
            return None;
        }
        let bytes = Arc::<ByteCounts>::default();
        let handshake = TlsStream::accept(tcp, &gateway_state.policies, alpn, facts, bytes);
        let accepted = timeout(deadline, handshake).await;
        let accepted = accepted.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
        let failed =
            |error| downstream.fail(MeasuredFailure::new(Failure::TlsHandshakeFailed, error));
        accepted.map_err(failed).ok()
    };
    let stream = tokio::select! {
        stream = accepting => stream,
        () = downstream.wait_for_load_end() => None,
    };
    let Some(stream) = stream else {
        return;
    };
    if downstream.facts.alpn() == Some("h2") {
        h2::serve(&downstream, stream).await;
    } else {
        tokio::select! {
            () = h1::serve(&downstream, stream) => (),
            () = downstream.wait_for_load_end() => (),
        }
    }
}
