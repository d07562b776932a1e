//! DNS over TLS (RFC 7858). The resolver is authenticated by its name (RFC 8310 section 5, strict).
//!
//! Each query is a separate TLS record, as written by stub resolvers. When a record has several
//! queries and the first needs time, dnsdist 1.7 forgets the others (interop/README.md).

use crate::transports::framed::FramedConnection;
use resolab_transport::client::{
    MeasuredFailure, SetupLog, TcpOptions, TlsClient, connect_tcp, connect_tls_for_messages,
};
use std::net::SocketAddr;
use std::sync::Arc;

/// Opens a connection over TCP and TLS.
pub async fn open(
    resolver: SocketAddr,
    options: TcpOptions,
    tls: &TlsClient,
    log: &Arc<SetupLog>,
) -> Result<FramedConnection, MeasuredFailure> {
    let tcp = connect_tcp(resolver, options, log).await?;
    let stream = connect_tls_for_messages(tcp, tls, Arc::clone(log)).await?;
    Ok(FramedConnection::new(stream, Arc::clone(log)))
}
