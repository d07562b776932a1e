//! Downstream connections over QUIC. The trigger delays a connection before any of its packets is
//! answered. Meanwhile quinn keeps the browser's packets. Not for: HTTP.

use super::{DownstreamConnection, h3};
use crate::world::GatewayState;
use quinn::VarInt;
use resolab_http::H3_NO_ERROR;
use resolab_record::Failure;
use resolab_transport::client::MeasuredFailure;
use resolab_transport::server::{QuicArrival, QuicListener};
use std::sync::Arc;

/// Accepts connections until the task is dropped.
pub(crate) async fn serve(world: Arc<GatewayState>, host: Arc<str>, listener: QuicListener) {
    while let Some(arrival) = listener.accept().await {
        // More than that many wait for nothing: a browser is told at once.
        let Ok(place) = Arc::clone(&world.places).try_acquire_owned() else {
            arrival.refuse();
            continue;
        };
        let leg = DownstreamConnection::new(&world, &host, Arc::clone(arrival.facts()), place);
        tokio::spawn(async move { serve_leg(&leg, arrival).await });
    }
}

async fn serve_leg(leg: &Arc<DownstreamConnection>, arrival: QuicArrival) {
    let is_released = tokio::select! {
        is_released = leg.released(false) => is_released,
        () = leg.load_ended() => false,
    };
    if !is_released {
        arrival.refuse();
        return;
    }
    let started = tokio::select! {
        started = arrival.start() => started,
        // Who vanished in its handshake holds up no load.
        () = leg.load_ended() => return,
    };
    let quic = match started {
        Ok(quic) => quic,
        Err(error) => {
            leg.fail(MeasuredFailure::new(Failure::QuicHandshakeFailed, error));
            return;
        }
    };
    tokio::select! {
        () = h3::serve(leg, &quic) => (),
        () = leg.load_ended() => quic.close(VarInt::from_u32(H3_NO_ERROR), b""),
    }
}
