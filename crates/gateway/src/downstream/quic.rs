//! Downstream connections over QUIC. The trigger delays a connection before any of its packets is
//! answered. Meanwhile quinn keeps the browser's packets. Not for: HTTP.

use super::{DownstreamConnection, h3};
use crate::gateway_state::GatewayState;
use quinn::VarInt;
use resolab_http::H3_NO_ERROR;
use resolab_record::Failure;
use resolab_transport::client::MeasuredFailure;
use resolab_transport::server::{QuicArrival, QuicListener};
use std::sync::Arc;

/// Accepts connections until the task is dropped.
pub(crate) async fn serve(
    gateway_state: Arc<GatewayState>,
    host: Arc<str>,
    listener: QuicListener,
) {
    while let Some(arrival) = listener.accept().await {
        // More than that many wait for nothing: a browser is told at once.
        let Ok(place) = Arc::clone(&gateway_state.permits).try_acquire_owned() else {
            arrival.refuse();
            continue;
        };
        let downstream =
            DownstreamConnection::new(&gateway_state, &host, Arc::clone(arrival.facts()), place);
        tokio::spawn(async move { serve_leg(&downstream, arrival).await });
    }
}

async fn serve_leg(downstream: &Arc<DownstreamConnection>, arrival: QuicArrival) {
    let is_released = tokio::select! {
        is_released = downstream.wait_for_release(false) => is_released,
        () = downstream.wait_for_load_end() => false,
    };
    if !is_released {
        arrival.refuse();
        return;
    }
    let started = tokio::select! {
        started = arrival.start() => started,
        // Who vanished in its handshake holds up no load.
        () = downstream.wait_for_load_end() => return,
    };
    let quic = match started {
        Ok(quic) => quic,
        Err(error) => {
            downstream.fail(MeasuredFailure::new(Failure::QuicHandshakeFailed, error));
            return;
        }
    };
    tokio::select! {
        () = h3::serve(downstream, &quic) => (),
        () = downstream.wait_for_load_end() => quic.close(VarInt::from_u32(H3_NO_ERROR), b""),
    }
}
