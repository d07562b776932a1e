//! DNS over TCP (RFC 7766).

use crate::transports::framed::FramedConnection;
use resolab_transport::client::{MeasuredFailure, SetupLog, TcpOptions, connect_tcp};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::io::BufWriter;

/// Opens a connection with the default TCP options.
pub async fn open(
    resolver: SocketAddr,
    log: &Arc<SetupLog>,
) -> Result<FramedConnection, MeasuredFailure> {
    open_with(resolver, TcpOptions::default(), log).await
}

/// Opens a connection with these TCP options.
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
