//! DNS over HTTPS on HTTP/3 (RFC 8484, RFC 9114).

use crate::exchange::ExchangeLog;
use crate::transports::batch::QueryBatch;
use crate::transports::http_message::{
    BODY_MAX_BYTES, DnsBody, PARTS_MAX_BYTES, PartialBody, RequestTemplate,
};
use resolab_http::H3Client;
use resolab_transport::client::{MeasuredFailure, QuicClient, SetupLog};
use std::net::SocketAddr;
use std::sync::Arc;

/// One open DoH3 connection.
pub struct Doh3Session {
    /// The HTTP/3 client of the connection.
    pub client: Arc<H3Client>,
    /// The template of its requests.
    pub template: RequestTemplate,
}

/// Opens a connection over QUIC and HTTP/3.
pub async fn open(
    resolver: SocketAddr,
    quic: &QuicClient,
    template: RequestTemplate,
    log: &Arc<SetupLog>,
) -> Result<Doh3Session, MeasuredFailure> {
    let connection = Arc::new(quic.connect(resolver, Arc::clone(log)).await?);
    let client = Arc::new(H3Client::open(connection).await?);
    Ok(Doh3Session { client, template })
}

impl Doh3Session {
    /// Sends a query and waits for the response.
    pub async fn exchange(
        &self,
        query: &[u8],
        log: &ExchangeLog,
    ) -> Result<DnsBody, MeasuredFailure> {
        let request = self.template.request(query)?;
        log.attempt(query);
        let exchange = self.client.exchange(request, BODY_MAX_BYTES).await?;
        log.complete(self.client.quic().log.last_arrival.wall_ns());
        log.add_attempts(exchange.attempt_count - 1);
        DnsBody::from_response(exchange.response)
    }

    /// Sends a message with several questions, and takes responses until all questions are
    /// answered.
    pub(crate) async fn gather(
        &self,
        query: &[u8],
        batch: &QueryBatch,
    ) -> Result<(), MeasuredFailure> {
        let request = self.template.request_for_parts(query)?;
        batch.attempt(query);
        let mut body = PartialBody::new(batch);
        let exchange = self
            .client
            .exchange_observed(request, PARTS_MAX_BYTES, &mut |head, piece| {
                body.take(head, piece);
            })
            .await?;
        if exchange.attempt_count > 1 {
            batch.add_attempt();
        }
        body.end(exchange.response)
    }
}
