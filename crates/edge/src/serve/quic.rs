//! Accepted QUIC connections: the choice of the protocol by ALPN, and the end of each connection.

use super::served::Served;
use super::{coalesced, doq, h3};
use crate::connections::ending::Ending;
use crate::connections::{OpenConnection, Protocol};
use crate::world::World;
use quinn::{ConnectionError, TransportErrorCode, VarInt};
use resolab_http::private_alpn;
use resolab_record::Failure;
use resolab_transport::server::{QuicArrival, QuicListener};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::time::{Instant, sleep_until};

/// Serves a listener until the task is dropped or the listener closed.
pub async fn serve(world: Arc<World>, listener: QuicListener, local: SocketAddr) {
    while let Some(arrival) = listener.accept().await {
        if !world.connections.admits(arrival.peer_address().ip()) {
            arrival.refuse();
            continue;
        }
        let facts = Arc::clone(arrival.facts());
        let connection =
            world
                .connections
                .open(Protocol::Quic, local, arrival.peer_address(), Some(facts));
        let world = Arc::clone(&world);
        tokio::spawn(async move {
            let ending = serve_connection(&world, &connection, arrival).await;
            world.connections.end(&connection, ending);
        });
    }
}

async fn serve_connection(
    world: &Arc<World>,
    connection: &Arc<OpenConnection>,
    arrival: QuicArrival,
) -> Ending {
    let deadline = Instant::now() + connection.limits.handshake_timeout;
    // A client's hello may come in parts, or never whole.
    let quic = tokio::select! {
        () = connection.close_wanted() => return Ending::noted("closed by command"),
        () = sleep_until(deadline) => return overdue(connection),
        started = arrival.start() => match started {
            Ok(quic) => quic,
            Err(error) => return ending_of(&error, connection),
        },
    };
    connection.set_quic(quic.clone());
    let alpn = connection.facts.as_ref().and_then(|facts| facts.alpn());
    let is_doq = alpn == Some("doq");
    let is_coalesced = alpn == Some(private_alpn::ALPN);
    let no_error = if is_doq { doq::NO_ERROR } else { h3::NO_ERROR };
    let serving = async {
        if is_doq {
            doq::serve(world, connection, &quic).await
        } else if is_coalesced {
            coalesced::serve(world, connection, &quic).await
        } else {
            h3::serve(world, connection, &quic).await
        }
    };
    tokio::select! {
        () = connection.close_wanted() => {
            quic.close(VarInt::from_u32(no_error), b"closed by command");
            Ending::noted("closed by command").code(no_error)
        }
        () = is_overdue(connection, deadline) => {
            quic.close(VarInt::from_u32(no_error), b"handshake timeout");
            overdue(connection)
        }
        served = serving => match served {
            Served::Closed(error) => ending_of(&error, connection),
            Served::Done => Ending::orderly(),
            Served::Violated(reason) => {
                let failure = if is_doq { Failure::QueryMalformed } else { Failure::HttpProtocol };
                Ending::failed(failure, reason).by_client(false)
            }
        },
    }
}

fn overdue(connection: &OpenConnection) -> Ending {
    connection.tallies.handshake_timeouts.add();
    let reason = "the handshake took too long";
    Ending::failed(Failure::QuicHandshakeTimeout, reason).by_client(false)
}

/// Resolves when the client's Finished misses the deadline.
async fn is_overdue(connection: &OpenConnection, deadline: Instant) {
    sleep_until(deadline).await;
    let complete = connection
        .facts
        .as_ref()
        .and_then(|facts| facts.complete_ns());
    if complete.is_some() {
        std::future::pending::<()>().await;
    }
}

fn ending_of(error: &ConnectionError, connection: &OpenConnection) -> Ending {
    let facts = connection.facts.as_ref();
    let complete = facts.is_some_and(|facts| facts.complete_ns().is_some());
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "of quinn's errors those that are no failure are named"
    )]
    let ending = match error {
        _ if !complete => Ending::failed(handshake_failure(error), error.to_string()),
        ConnectionError::ApplicationClosed(close)
            if [doq::NO_ERROR, h3::NO_ERROR]
                .map(VarInt::from_u32)
                .contains(&close.error_code) =>
        {
            Ending::orderly()
        }
        ConnectionError::ConnectionClosed(close)
            if close.error_code == TransportErrorCode::NO_ERROR =>
        {
            Ending::orderly()
        }
        ConnectionError::TimedOut => Ending::noted("idle"),
        _ => Ending::failed(Failure::Other, error.to_string()),
    };
    match error {
        ConnectionError::ApplicationClosed(close) => ending.by_client(true).code(close.error_code),
        ConnectionError::ConnectionClosed(close) => {
            ending.by_client(true).code(u64::from(close.error_code))
        }
        ConnectionError::TransportError(own) => ending.by_client(false).code(u64::from(own.code)),
        ConnectionError::Reset => ending.by_client(true),
        ConnectionError::VersionMismatch
        | ConnectionError::TimedOut
        | ConnectionError::LocallyClosed
        | ConnectionError::CidsExhausted => ending.by_client(false),
    }
}

fn handshake_failure(error: &ConnectionError) -> Failure {
    if *error == ConnectionError::TimedOut {
        Failure::QuicHandshakeTimeout
    } else {
        Failure::QuicHandshakeFailed
    }
}
