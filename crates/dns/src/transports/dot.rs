//! DNS over TLS (RFC 7858), the resolver authenticated by its name (RFC 8310 section 5, strict).

use crate::transports::framed::FramedConnection;
use resolab_transport::client::{
    MeasuredFailure, SetupLog, TcpOptions, TlsClient, connect_tcp, connect_tls,
};
use std::net::SocketAddr;
use std::sync::Arc;

/// Open a connection.
pub async fn open(
    resolver: SocketAddr,
    options: TcpOptions,
    tls: &TlsClient,
    log: &Arc<SetupLog>,
) -> Result<FramedConnection, MeasuredFailure> {
    let tcp = connect_tcp(resolver, options, log).await?;
    let stream = connect_tls(tcp, tls, Arc::clone(log)).await?;
    Ok(FramedConnection::new(stream, Arc::clone(log)))
}
