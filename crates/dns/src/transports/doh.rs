//! DNS over HTTPS on HTTP/2 (RFC 8484).

use crate::exchange::ExchangeLog;
use crate::transports::batch::QueryBatch;
use crate::transports::http_message::{
    BODY_MAX_BYTES, DnsBody, PARTS_MAX_BYTES, PartialBody, RequestTemplate,
};
use resolab_http::H2Client;
use resolab_transport::client::{
    MeasuredFailure, SetupLog, TcpOptions, TlsClient, connect_tcp, connect_tls,
};
use std::net::SocketAddr;
use std::sync::Arc;

/// One open DoH connection.
pub struct DohSession {
    /// The HTTP/2 client of the connection.
    pub client: H2Client,
    template: RequestTemplate,
}

/// Opens a connection over TCP, TLS and HTTP/2.
pub async fn open(
    resolver: SocketAddr,
    options: TcpOptions,
    tls: &TlsClient,
    template: RequestTemplate,
    log: &Arc<SetupLog>,
) -> Result<DohSession, MeasuredFailure> {
    let tcp = connect_tcp(resolver, options, log).await?;
    let stream = connect_tls(tcp, tls, Arc::clone(log)).await?;
    Ok(DohSession {
        client: H2Client::open(stream, Arc::clone(log)).await?,
        template,
    })
}

impl DohSession {
    /// Sends a query and waits for the response.
    pub async fn exchange(
        &self,
        query: &[u8],
        log: &ExchangeLog,
    ) -> Result<DnsBody, MeasuredFailure> {
        let request = self.template.request(query)?;
        log.attempt(query);
        let response = self.client.exchange(request, BODY_MAX_BYTES).await?;
        log.complete(self.client.last_arrival().wall_ns());
        DnsBody::from_response(response)
    }

    /// Sends a message with several questions, and takes responses until all questions are
    /// answered.
    pub async fn gather(&self, query: &[u8], batch: &QueryBatch) -> Result<(), MeasuredFailure> {
        let request = self.template.request_for_parts(query)?;
        batch.attempt(query);
        let mut body = PartialBody::new(batch);
        let response = self
            .client
            .exchange_observed(request, PARTS_MAX_BYTES, &mut |head, piece| {
                body.take(head, piece);
            })
            .await?;
        body.end(response)
    }
}
