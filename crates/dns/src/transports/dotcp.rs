//! DNS over TCP (RFC 7766).

use crate::transports::framed::FramedConnection;
use resolab_transport::client::{MeasuredFailure, SetupLog, TcpOptions, connect_tcp};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::io::BufWriter;

/// Open a connection in the usual way.
pub async fn open(
    resolver: SocketAddr,
    log: &Arc<SetupLog>,
) -> Result<FramedConnection, MeasuredFailure> {
    open_with(resolver, TcpOptions::default(), log).await
}

/// Open a connection.
pub async fn open_with(
    resolver: SocketAddr,
    options: TcpOptions,
    log: &Arc<SetupLog>,
) -> Result<FramedConnection, MeasuredFailure> {
    let stream = connect_tcp(resolver, options, log).await?;
    Ok(FramedConnection::new(
        BufWriter::new(stream),
        Arc::clone(log),
    ))
}
