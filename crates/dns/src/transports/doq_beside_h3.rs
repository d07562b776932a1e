//! DoQ beside HTTP/3 on one QUIC connection, under the private ALPN (docs/formats/private-alpn.md).
//! Not for: DoQ itself (`doq`).

use crate::transports::doq::DoqSession;
use resolab_http::private_alpn::DNS_PREFIX;
use resolab_http::{H3_NO_ERROR, H3Client};
use resolab_transport::client::{MeasuredFailure, QuicClient, QuicConnection, SetupLog};
use std::net::SocketAddr;
use std::sync::Arc;

/// Opens a connection for queries and pages: both clients on the connection.
pub async fn open(
    resolver: SocketAddr,
    quic: &QuicClient,
    log: &Arc<SetupLog>,
) -> Result<(DoqSession, Arc<H3Client>), MeasuredFailure> {
    let quic = Arc::new(quic.connect(resolver, Arc::clone(log)).await?);
    let http = H3Client::open(Arc::clone(&quic)).await?;
    Ok((session(quic), Arc::new(http)))
}

/// Returns the client of queries on a connection carrying HTTP/3 too.
pub fn session(quic: Arc<QuicConnection>) -> DoqSession {
    DoqSession::beside_others(quic, &DNS_PREFIX, H3_NO_ERROR)
}
