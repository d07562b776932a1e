//! Downstream connections over TCP: delayed by the trigger, then TLS, then HTTP by ALPN. Not for:
//! HTTP.

use super::{DownstreamConnection, h1, h2};
use crate::world::GatewayState;
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
    world: Arc<GatewayState>,
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
        // No place is kept while nobody comes: a load ends when all are free.
        let Ok(place) = Arc::clone(&world.places).acquire_owned().await else {
            return;
        };
        // Without it an answer waits for the browser's delayed acknowledgement.
        let _ = tcp.set_nodelay(true);
        let (world, host, alpn) = (Arc::clone(&world), Arc::clone(&host), Arc::clone(&alpn));
        tokio::spawn(async move { serve_leg(&world, &host, tcp, &alpn, place).await });
    }
}

async fn serve_leg(
    world: &Arc<GatewayState>,
    host: &Arc<str>,
    tcp: TcpStream,
    alpn: &[Vec<u8>],
    place: OwnedSemaphorePermit,
) {
    let deadline = world.options.deadline;
    let mut load = world.load.subscribe();
    // A browser may open a connection long before it needs it: then it says nothing on it, and may close
    // it without a word.
    let mut first = [0];
    let hello = tokio::select! {
        hello = tcp.peek(&mut first) => hello,
        _ = load.changed() => return,
    };
    if !matches!(hello, Ok(1..)) {
        return;
    }
    let facts = Arc::<HandshakeFacts>::default();
    let leg = DownstreamConnection::new(world, host, Arc::clone(&facts), place);
    let accepting = async {
        if !leg.released(true).await {
            return None;
        }
        let bytes = Arc::<ByteCounts>::default();
        let handshake = TlsStream::accept(tcp, &world.policies, alpn, facts, bytes);
        let accepted = timeout(deadline, handshake).await;
        let accepted = accepted.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
        let failed = |error| leg.fail(MeasuredFailure::new(Failure::TlsHandshakeFailed, error));
        accepted.map_err(failed).ok()
    };
    let stream = tokio::select! {
        stream = accepting => stream,
        () = leg.load_ended() => None,
    };
    let Some(stream) = stream else {
        return;
    };
    if leg.facts.alpn() == Some("h2") {
        h2::serve(&leg, stream).await;
    } else {
        tokio::select! {
            () = h1::serve(&leg, stream) => (),
            () = leg.load_ended() => (),
        }
    }
}
