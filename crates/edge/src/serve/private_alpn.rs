//! DoQ and HTTP/3 on one connection under the private ALPN (docs/formats/private-alpn.md). The
//! first bytes of a stream select its protocol.
//!
//! Not for: answering; `doq` and `h3` answer as on their own connections.

use super::doq::{self, ProtocolViolation, ServedQueryStream};
use super::h3;
use super::service_end::ServiceEnd;
use crate::connections::OpenConnection;
use crate::state::EdgeState;
use bytes::Bytes;
use quinn::{Connection, RecvStream, SendStream};
use resolab_http::private_alpn::{DNS_PREFIX, StreamKind, stream_kind};
use resolab_http::quic_streams::{Http3Quic, PrereadStream};
use std::sync::{Arc, OnceLock};
use tokio::sync::mpsc;

/// The shared state of a connection's streams.
#[derive(Clone)]
struct ConnectionContext {
    state: Arc<EdgeState>,
    connection: Arc<OpenConnection>,
    quic: Connection,
    /// The channel to HTTP/3; the stream limit of a client also limits the channel.
    requests: mpsc::UnboundedSender<PrereadStream>,
    violation: Arc<OnceLock<&'static str>>,
}

/// Serves a connection until the end of the connection.
pub async fn serve(
    state: &Arc<EdgeState>,
    connection: &Arc<OpenConnection>,
    quic: &Connection,
) -> ServiceEnd {
    let (requests, handed) = mpsc::unbounded_channel();
    let violation = Arc::new(OnceLock::new());
    let shared = ConnectionContext {
        state: Arc::clone(state),
        connection: Arc::clone(connection),
        quic: quic.clone(),
        requests,
        violation: Arc::clone(&violation),
    };
    let transport = Http3Quic::handed(quic.clone(), handed);
    let (served, ()) = tokio::join!(
        h3::serve_over(state, connection, quic, transport),
        accept(shared)
    );
    match violation.get() {
        Some(reason) => ServiceEnd::Violated((*reason).to_owned()),
        None => served,
    }
}

/// Starts a task for each stream, so a stream without data delays no other stream.
async fn accept(shared: ConnectionContext) {
    while let Ok((send, receive)) = shared.quic.accept_bi().await {
        let shared = shared.clone();
        tokio::spawn(async move {
            let (quic, violation) = (shared.quic.clone(), Arc::clone(&shared.violation));
            if let Err(ProtocolViolation(reason)) = dispatch(shared, send, receive).await {
                let _ = violation.set(reason);
                doq::close_for(&quic, reason);
            }
        });
    }
}

async fn dispatch(
    shared: ConnectionContext,
    send: SendStream,
    mut receive: RecvStream,
) -> Result<(), ProtocolViolation> {
    let Some((kind, first)) = first_bytes(&mut receive).await else {
        return Ok(());
    };
    match kind {
        StreamKind::Dns => {
            let stream = ServedQueryStream {
                send,
                receive,
                read: first[DNS_PREFIX.len()..].to_vec(),
            };
            let ConnectionContext {
                state, connection, ..
            } = shared;
            doq::exchange(&state, &connection, stream).await
        }
        StreamKind::Http3 => {
            // Nobody takes it when HTTP/3 has ended, and the connection with it.
            let _ = shared.requests.send(PrereadStream {
                send,
                receive,
                first,
            });
            Ok(())
        }
    }
}

/// Reads the bytes up to the stream's kind, and all bytes received with them. `None` when the
/// client reset the stream. A stream ending earlier belongs to HTTP/3, because HTTP/3 defines an
/// error for this case.
async fn first_bytes(receive: &mut RecvStream) -> Option<(StreamKind, Bytes)> {
    let mut first = Bytes::new();
    loop {
        let chunk = receive.read_chunk(usize::MAX, true).await.ok()?;
        let Some(chunk) = chunk else {
            return Some((StreamKind::Http3, first));
        };
        first = if first.is_empty() {
            chunk.bytes
        } else {
            [first, chunk.bytes].concat().into()
        };
        if let Some(kind) = stream_kind(&first) {
            return Some((kind, first));
        }
    }
}
