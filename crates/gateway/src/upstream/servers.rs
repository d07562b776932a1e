//! The clients of the names' servers, prepared once and kept over loads: TLS configurations, with
//! the only store of session tickets and address tokens. Not for: connections.

use crate::options::GatewayOptions;
use resolab_http::PAGE_WINDOWS;
use resolab_record::{Failure, HttpVersion};
use resolab_transport::client::{
    ClientTicketStore, MeasuredFailure, QuicClient, TlsClient, TlsConfigError,
};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The windows for the server's data: of one response, and of a whole connection.
pub(crate) const STREAM_WINDOW_BYTES: u32 = PAGE_WINDOWS.stream_bytes;
pub(crate) const CONNECTION_WINDOW_BYTES: u32 = PAGE_WINDOWS.connection_bytes;

/// The client of one server, and its tickets.
pub(super) struct UpstreamServer {
    pub way: HttpClientKind,
    tickets: Option<Arc<ClientTicketStore>>,
}

/// The HTTP version's client.
pub(super) enum HttpClientKind {
    H2(TlsClient),
    H3(QuicClient),
}

impl UpstreamServer {
    fn new(host: &str, options: &GatewayOptions) -> Result<Self, TlsConfigError> {
        let is_quic = options.upstream_version == HttpVersion::H3;
        let alpn = if is_quic { "h3" } else { "h2" };
        let (trust, mode) = (&options.trust, options.handshake_mode);
        let tls = TlsClient::new(trust, host, alpn, mode, &options.groups)?;
        let tickets = tls.tickets.clone();
        let way = if is_quic {
            let quic = QuicClient::new(&tls)?;
            HttpClientKind::H3(quic.with_windows(STREAM_WINDOW_BYTES, CONNECTION_WINDOW_BYTES))
        } else {
            HttpClientKind::H2(tls)
        };
        Ok(Self { way, tickets })
    }
}

/// The servers by name.
#[derive(Default)]
pub(super) struct UpstreamServers(Mutex<HashMap<String, Arc<UpstreamServer>>>);

impl UpstreamServers {
    /// Returns the client of a name's server.
    pub fn get(
        &self,
        host: &str,
        options: &GatewayOptions,
    ) -> Result<Arc<UpstreamServer>, MeasuredFailure> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(server) = all.get(host) {
            return Ok(Arc::clone(server));
        }
        let server = UpstreamServer::new(host, options);
        let server = server.map_err(|error| MeasuredFailure::new(Failure::Other, error))?;
        let server = Arc::new(server);
        all.insert(host.to_owned(), Arc::clone(&server));
        Ok(server)
    }

    /// Forgets tickets and address tokens: the next handshakes are like the first.
    pub fn forget(&self) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for server in all.values() {
            // Connections that are just ending may still bring tickets, to nobody.
            if let Some(tickets) = &server.tickets {
                tickets.forget();
            }
        }
        all.clear();
    }
}
