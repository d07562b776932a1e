//! Accepted QUIC connections: the choice of the protocol by ALPN, and the end of each connection.

use super::service_end::ServiceEnd;
use super::{doq, h3, private_alpn};
use crate::connections::ending::ConnectionEnding;
use crate::connections::{ConnectionProtocol, OpenConnection};
use crate::state::EdgeState;
use quinn::{ConnectionError, TransportErrorCode, VarInt};
use resolab_http::private_alpn::ALPN;
use resolab_record::Failure;
use resolab_transport::server::{QuicArrival, QuicListener};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::time::{Instant, sleep_until};

/// Serves a listener until the task is dropped or the listener closed.
pub async fn serve(state: Arc<EdgeState>, listener: QuicListener, local: SocketAddr) {
    while let Some(arrival) = listener.accept().await {
        if !state.connections.admits(arrival.peer_address().ip()) {
            arrival.refuse();
            continue;
        }
        let facts = Arc::clone(arrival.facts());
        let connection = state.connections.open(
            ConnectionProtocol::Quic,
            local,
            arrival.peer_address(),
            Some(facts),
        );
        let state = Arc::clone(&state);
        tokio::spawn(async move {
            let ending = serve_connection(&state, &connection, arrival).await;
            state.connections.end(&connection, ending);
        });
    }
}

async fn serve_connection(
    state: &Arc<EdgeState>,
    connection: &Arc<OpenConnection>,
    arrival: QuicArrival,
) -> ConnectionEnding {
    let deadline = Instant::now() + connection.limits.handshake_timeout;
    // A client's hello may come in parts, or never whole.
    let quic = tokio::select! {
        () = connection.close_wanted() => return ConnectionEnding::from_note("closed by command"),
        () = sleep_until(deadline) => return handshake_timeout(connection),
        started = arrival.start() => match started {
            Ok(quic) => quic,
            Err(error) => return ending_of(&error, connection),
        },
    };
    connection.set_quic(quic.clone());
    let alpn = connection.facts.as_ref().and_then(|facts| facts.alpn());
    let is_doq = alpn == Some("doq");
    let is_coalesced = alpn == Some(ALPN);
    let no_error = if is_doq { doq::NO_ERROR } else { h3::NO_ERROR };
    let serving = async {
        if is_doq {
            doq::serve(state, connection, &quic).await
        } else if is_coalesced {
            private_alpn::serve(state, connection, &quic).await
        } else {
            h3::serve(state, connection, &quic).await
        }
    };
    tokio::select! {
        () = connection.close_wanted() => {
            quic.close(VarInt::from_u32(no_error), b"closed by command");
            ConnectionEnding::from_note("closed by command").with_code(no_error)
        }
        () = wait_for_handshake_deadline(connection, deadline) => {
            quic.close(VarInt::from_u32(no_error), b"handshake timeout");
            handshake_timeout(connection)
        }
        served = serving => match served {
            ServiceEnd::Closed(error) => ending_of(&error, connection),
            ServiceEnd::Done => ConnectionEnding::orderly(),
            ServiceEnd::Violated(reason) => {
                let failure = if is_doq { Failure::QueryMalformed } else { Failure::HttpProtocol };
                ConnectionEnding::from_failure(failure, reason).ended_by_client(false)
            }
        },
    }
}

fn handshake_timeout(connection: &OpenConnection) -> ConnectionEnding {
    connection.tallies.handshake_timeouts.add();
    let reason = "the handshake took too long";
    ConnectionEnding::from_failure(Failure::QuicHandshakeTimeout, reason).ended_by_client(false)
}

/// Resolves when the client's Finished misses the deadline.
async fn wait_for_handshake_deadline(connection: &OpenConnection, deadline: Instant) {
    sleep_until(deadline).await;
    let complete = connection
        .facts
        .as_ref()
        .and_then(|facts| facts.complete_ns());
    if complete.is_some() {
        std::future::pending::<()>().await;
    }
}

fn ending_of(error: &ConnectionError, connection: &OpenConnection) -> ConnectionEnding {
    let facts = connection.facts.as_ref();
    let complete = facts.is_some_and(|facts| facts.complete_ns().is_some());
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "of quinn's errors those that are no failure are named"
    )]
    let ending = match error {
        _ if !complete => {
            ConnectionEnding::from_failure(handshake_failure(error), error.to_string())
        }
        ConnectionError::ApplicationClosed(close)
            if [doq::NO_ERROR, h3::NO_ERROR]
                .map(VarInt::from_u32)
                .contains(&close.error_code) =>
        {
            ConnectionEnding::orderly()
        }
        ConnectionError::ConnectionClosed(close)
            if close.error_code == TransportErrorCode::NO_ERROR =>
        {
            ConnectionEnding::orderly()
        }
        ConnectionError::TimedOut => ConnectionEnding::from_note("idle"),
        _ => ConnectionEnding::from_failure(Failure::Other, error.to_string()),
    };
    match error {
        ConnectionError::ApplicationClosed(close) => {
            ending.ended_by_client(true).with_code(close.error_code)
        }
        ConnectionError::ConnectionClosed(close) => ending
            .ended_by_client(true)
            .with_code(u64::from(close.error_code)),
        ConnectionError::TransportError(own) => {
            ending.ended_by_client(false).with_code(u64::from(own.code))
        }
        ConnectionError::Reset => ending.ended_by_client(true),
        ConnectionError::VersionMismatch
        | ConnectionError::TimedOut
        | ConnectionError::LocallyClosed
        | ConnectionError::CidsExhausted => ending.ended_by_client(false),
    }
}

fn handshake_failure(error: &ConnectionError) -> Failure {
    if *error == ConnectionError::TimedOut {
        Failure::QuicHandshakeTimeout
    } else {
        Failure::QuicHandshakeFailed
    }
}
