//! Time limits of a TCP connection, for every protocol on the connection.
//!
//! For: clients stalling in the handshake, or sending bytes without ever finishing a query or
//! request.
//! Not for: orderly idle closes; the protocols close idle connections first.

use crate::connections::OpenConnection;
use crate::connections::ending::ConnectionEnding;
use resolab_record::Failure;
use tokio::time::sleep;

/// Resolves when the connection must end, with the reason.
pub async fn wait_for_missed_deadline(connection: &OpenConnection) -> ConnectionEnding {
    let limits = &connection.limits;
    if let Some(facts) = &connection.facts {
        sleep(limits.handshake_timeout).await;
        if facts.complete_ns().is_none() {
            connection.tallies.handshake_timeouts.add();
            let detail = match facts.client_hello_ns() {
                None => "no ClientHello",
                Some(_) => "the handshake took too long",
            };
            return ConnectionEnding::from_failure(Failure::TlsHandshakeTimeout, detail)
                .ended_by_client(false);
        }
    }
    // A little more than the protocols' own patience.
    let period = limits.idle_timeout + limits.message_timeout;
    loop {
        let before = (connection.bytes.sent(), connection.messages_count());
        sleep(period).await;
        if before == (connection.bytes.sent(), connection.messages_count()) {
            connection.tallies.slow_peers.add();
            return ConnectionEnding::from_note("nothing became complete in time");
        }
    }
}
