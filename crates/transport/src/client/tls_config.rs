//! The TLS configuration of one client: TLS 1.3, the requested key exchange groups, AES-128 first,
//! and the trusted certificates. Tickets are kept only for handshake modes with tickets.

use super::key_log;
use super::qlog::QlogFolderError;
use super::tickets::ClientTicketStore;
use super::trust::Trust;
use crate::crypto::provider;
use resolab_record::{HandshakeMode, KeyExchangeGroup};
use rustls::client::Resumption;
use rustls::pki_types::{InvalidDnsNameError, ServerName};
use rustls::server::VerifierBuilderError;
use rustls::{CipherSuite, ClientConfig};
use std::sync::Arc;
use thiserror::Error;

/// The reasons why a TLS client cannot be made.
#[derive(Debug, Error)]
pub enum TlsConfigError {
    /// rustls refused the configuration.
    #[error("configure TLS: {0}")]
    Rustls(#[from] rustls::Error),
    /// The authorities are unusable.
    #[error("check certificates: {0}")]
    Verifier(#[from] VerifierBuilderError),
    /// The host is not valid as a certificate name.
    #[error("use {host:?} as a server name: {source}")]
    ServerName {
        /// The host given by the caller.
        host: String,
        /// The error of the name parser.
        source: InvalidDnsNameError,
    },
    /// The provider has no cipher suite for QUIC's Initial packets.
    #[error("configure QUIC: {0}")]
    Quic(#[from] quinn::crypto::rustls::NoInitialCipherSuite),
    /// quinn refused the endpoint's configuration.
    #[error("configure QUIC: {0}")]
    Endpoint(#[from] quinn::ConfigError),
    /// The folder for the logs of QUIC connections is unusable.
    #[error(transparent)]
    Qlog(#[from] QlogFolderError),
}

/// TLS for one server name, one ALPN identifier and one handshake mode. Connections share the
/// configuration and its tickets: rustls resumes only under the same verifier object.
#[derive(Debug, Clone)]
pub struct TlsClient {
    pub(super) config: Arc<ClientConfig>,
    pub(super) server_name: ServerName<'static>,
    /// The ticket store. `None` for full handshakes: no ticket is kept.
    pub tickets: Option<Arc<ClientTicketStore>>,
    /// The requested handshake mode.
    pub handshake_mode: HandshakeMode,
}

impl TlsClient {
    /// Prepares TLS for one server.
    pub fn new(
        trust: &Trust,
        host: &str,
        alpn: &str,
        handshake_mode: HandshakeMode,
        groups: &[KeyExchangeGroup],
    ) -> Result<Self, TlsConfigError> {
        let server_name =
            ServerName::try_from(host.to_owned()).map_err(|source| TlsConfigError::ServerName {
                host: host.to_owned(),
                source,
            })?;
        let provider = Arc::new(provider(groups));
        let mut config = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .dangerous()
            .with_custom_certificate_verifier(trust.verifier(&provider)?)
            .with_no_client_auth();
        config.alpn_protocols = vec![alpn.as_bytes().to_vec()];
        config.enable_early_data = handshake_mode == HandshakeMode::ZeroRtt;
        if let Some(key_log) = key_log::from_environment() {
            config.key_log = key_log;
        }
        Ok(Self::keeping_tickets(config, server_name, handshake_mode))
    }

    /// Returns the client with another ALPN identifier and without the tickets. Early data needs
    /// the ALPN of the ticket's connection (RFC 8446 section 4.2.10).
    #[must_use]
    pub fn with_alpn(&self, alpn: &str) -> Self {
        let mut config = ClientConfig::clone(&self.config);
        config.alpn_protocols = vec![alpn.as_bytes().to_vec()];
        Self::keeping_tickets(config, self.server_name.clone(), self.handshake_mode)
    }

    /// Makes a client with a new ticket store, if the mode keeps tickets.
    fn keeping_tickets(
        mut config: ClientConfig,
        server_name: ServerName<'static>,
        handshake_mode: HandshakeMode,
    ) -> Self {
        let tickets =
            (handshake_mode != HandshakeMode::Full).then(Arc::<ClientTicketStore>::default);
        config.resumption = match &tickets {
            Some(store) => Resumption::store(Arc::clone(store) as _),
            None => Resumption::disabled(),
        };
        Self {
            config: Arc::new(config),
            server_name,
            tickets,
            handshake_mode,
        }
    }

    /// Returns the configuration, for connections made without this crate.
    pub fn config(&self) -> &Arc<ClientConfig> {
        &self.config
    }

    /// Returns the name required in the server's certificate.
    pub fn server_name(&self) -> &ServerName<'static> {
        &self.server_name
    }
}

/// Returns the IANA name of a TLS 1.3 cipher suite.
pub(crate) fn iana_name(suite: CipherSuite) -> String {
    format!("{suite:?}").replace("TLS13_", "TLS_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::pki_types::PrivateKeyDer;
    use rustls::{ClientConnection, HandshakeKind, ServerConfig, ServerConnection};

    fn server(alpn: &[&str]) -> Arc<ServerConfig> {
        let key = rcgen::KeyPair::generate().unwrap();
        let params = rcgen::CertificateParams::new(vec!["a.test".to_owned()]).unwrap();
        let certificate = params.self_signed(&key).unwrap().der().clone();
        let private = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        let mut config =
            ServerConfig::builder_with_provider(Arc::new(provider(&KeyExchangeGroup::ALL)))
                .with_protocol_versions(&[&rustls::version::TLS13])
                .unwrap()
                .with_no_client_auth()
                .with_single_cert(vec![certificate], private)
                .unwrap();
        config.alpn_protocols = alpn.iter().map(|id| id.as_bytes().to_vec()).collect();
        Arc::new(config)
    }

    fn shake(client: &TlsClient, server: &Arc<ServerConfig>) -> HandshakeKind {
        let mut server = ServerConnection::new(Arc::clone(server)).unwrap();
        let config = Arc::clone(client.config());
        let mut client = ClientConnection::new(config, client.server_name().clone()).unwrap();
        for _ in 0..4 {
            let mut bytes = Vec::new();
            client.write_tls(&mut bytes).unwrap();
            server.read_tls(&mut bytes.as_slice()).unwrap();
            server.process_new_packets().unwrap();
            bytes.clear();
            server.write_tls(&mut bytes).unwrap();
            client.read_tls(&mut bytes.as_slice()).unwrap();
            client.process_new_packets().unwrap();
        }
        client.handshake_kind().unwrap()
    }

    #[test]
    fn tickets_of_one_alpn_are_none_of_another() {
        let trust = Trust::from_pins(Vec::new());
        let (mode, groups) = (HandshakeMode::ZeroRtt, &KeyExchangeGroup::ALL);
        let client = TlsClient::new(&trust, "a.test", "one", mode, groups).unwrap();
        let server = server(&["one", "other"]);
        assert_eq!(shake(&client, &server), HandshakeKind::Full);
        let count = |client: &TlsClient| client.tickets.as_ref().unwrap().count();
        let (ones_count, other) = (count(&client), client.with_alpn("other"));
        assert!(ones_count > 0 && count(&other) == 0);
        assert_eq!(shake(&other, &server), HandshakeKind::Full);
        assert!(count(&client) == ones_count && count(&other) > 0);
        for shaken in [&client, &other] {
            assert_eq!(shake(shaken, &server), HandshakeKind::Resumed);
        }
        let full = TlsClient::new(&trust, "a.test", "one", HandshakeMode::Full, groups).unwrap();
        assert!(full.with_alpn("other").tickets.is_none());
    }

    #[test]
    fn a_suite_has_the_name_iana_gave_it() {
        let suite = rustls::CipherSuite::TLS13_AES_128_GCM_SHA256;
        assert_eq!(iana_name(suite), "TLS_AES_128_GCM_SHA256");
    }

    #[test]
    fn only_other_than_full_handshakes_keep_tickets() {
        let trust = Trust::from_pins(Vec::new());
        let groups = &KeyExchangeGroup::ALL;
        for (mode, keeps, early) in [
            (HandshakeMode::Full, false, false),
            (HandshakeMode::Resumed, true, false),
            (HandshakeMode::ZeroRtt, true, true),
        ] {
            let client = TlsClient::new(&trust, "dns.example", "doq", mode, groups).unwrap();
            assert_eq!(client.tickets.is_some(), keeps);
            assert_eq!(client.config.enable_early_data, early);
        }
        assert!(TlsClient::new(&trust, "not a name", "doq", HandshakeMode::Full, groups).is_err());
    }
}
