//! DNS over TCP (RFC 7766).

use crate::framed::FramedConnection;
use resolab_transport::client::{MeasuredFailure, SetupLog, connect_tcp};
use std::net::SocketAddr;
use std::sync::Arc;

/// Open a connection.
pub async fn open(
    resolver: SocketAddr,
    log: &Arc<SetupLog>,
) -> Result<FramedConnection, MeasuredFailure> {
    let stream = connect_tcp(resolver, log).await?;
    Ok(FramedConnection::new(stream, Arc::clone(log)))
}
