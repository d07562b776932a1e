//! The stub's listeners for datagrams and streams, within the limits. Not for: the contents of a
//! stream (`stream`).

use super::client::ReplyDestination;
use super::forward::StubState;
use super::limits::ClientLimits;
use super::stream;
use resolab_transport::answering_socket::AnsweringSocket;
use resolab_transport::clock::monotonic_ns;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

const DATAGRAM_MAX_BYTES: usize = 65_535;
/// The pause after a failed accept. Without a pause accept fails again at once when descriptors
/// have run out.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// Handles datagrams for ever.
pub(super) async fn serve_datagrams(socket: Arc<AnsweringSocket>, service: Arc<StubState>) {
    let queries = Arc::new(Semaphore::new(service.limits.queries_max_count));
    let mut buffer = vec![0; DATAGRAM_MAX_BYTES];
    while let Ok(permit) = Arc::clone(&queries).acquire_owned().await {
        // An error here is an ICMP message about an earlier reply; a lasting error must not spin.
        let Ok((length, addresses)) = socket.receive(&mut buffer).await else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let received_ns = monotonic_ns();
        let (message, service) = (buffer[..length].to_vec(), Arc::clone(&service));
        let client = ReplyDestination::Udp(Arc::clone(&socket), addresses);
        tokio::spawn(async move {
            service.handle(message, received_ns, client).await;
            drop(permit);
        });
    }
}

/// Accepts streams for ever.
pub(super) async fn serve_streams(listener: &TcpListener, service: &Arc<StubState>) {
    let ClientLimits {
        queries_max_count,
        streams_max_count,
        ..
    } = service.limits;
    let queries = Arc::new(Semaphore::new(queries_max_count));
    let streams = Arc::new(Semaphore::new(streams_max_count));
    while let Ok(permit) = Arc::clone(&streams).acquire_owned().await {
        let Ok((stream, from)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let serving = stream::serve(stream, from, Arc::clone(service), Arc::clone(&queries));
        tokio::spawn(async move {
            serving.await;
            drop(permit);
        });
    }
}
