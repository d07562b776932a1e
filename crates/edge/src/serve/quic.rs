//! Accepted QUIC connections: what ALPN says, and how they ended.

use super::{coalesced, doq, h3};
use crate::connections::{Ending, OpenConnection, Protocol};
use crate::world::World;
use quinn::{ConnectionError, TransportErrorCode, VarInt};
use resolab_http::private_alpn;
use resolab_record::Failure;
use resolab_transport::server::{QuicArrival, QuicListener};
use std::net::SocketAddr;
use std::sync::Arc;

/// How the serving of a connection ended.
#[derive(Debug)]
pub enum Served {
    /// The connection ended.
    Closed(ConnectionError),
    /// The client said it was done (GOAWAY).
    Done,
    /// The client broke the protocol, and the connection was closed for it.
    Violated(String),
}

/// Serve until the task is dropped or the listener closed.
pub async fn serve(world: Arc<World>, listener: QuicListener, local: SocketAddr) {
    while let Some(arrival) = listener.accept().await {
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
    let quic = match arrival.start().await {
        Ok(quic) => quic,
        Err(error) => return ending_of(&error, connection),
    };
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
            Ending::noted("closed by command")
        }
        served = serving => match served {
            Served::Closed(error) => ending_of(&error, connection),
            Served::Done => Ending::orderly(),
            Served::Violated(reason) if is_doq => Ending::failed(Failure::QueryMalformed, reason),
            Served::Violated(reason) => Ending::failed(Failure::HttpProtocol, reason),
        },
    }
}

fn ending_of(error: &ConnectionError, connection: &OpenConnection) -> Ending {
    let complete = connection
        .facts
        .as_ref()
        .is_some_and(|facts| facts.complete_ns().is_some());
    let text = error.to_string();
    if !complete {
        return match error {
            ConnectionError::TimedOut => Ending::failed(Failure::QuicHandshakeTimeout, text),
            _ => Ending::failed(Failure::QuicHandshakeFailed, text),
        };
    }
    match error {
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
        _ => Ending::failed(Failure::Other, text),
    }
}
