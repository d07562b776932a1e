//! DNS over TLS (RFC 7858), the resolver authenticated by its name (RFC 8310 section 5, strict).
//!
//! Each query is a TLS record of its own, as stub resolvers write them: dnsdist 1.7 forgets what else is in a record when
//! the first query in it takes its time (interop/README.md).

use crate::transports::framed::FramedConnection;
use resolab_transport::client::{
    MeasuredFailure, SetupLog, TcpOptions, TlsClient, connect_tcp, connect_tls_for_messages,
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
    let stream = connect_tls_for_messages(tcp, tls, Arc::clone(log)).await?;
    Ok(FramedConnection::new(stream, Arc::clone(log)))
}
