//! The TLS configuration of one client: TLS 1.3, the key exchange groups asked for, AES-128
//! first, the certificates it trusts, and tickets only when the handshake asked for needs them.

use super::key_log;
use super::qlog::QlogFolderError;
use super::tickets::TicketStore;
use super::trust::Trust;
use crate::crypto::provider;
use resolab_record::{HandshakeMode, KeyExchangeGroup};
use rustls::client::Resumption;
use rustls::pki_types::{InvalidDnsNameError, ServerName};
use rustls::server::VerifierBuilderError;
use rustls::{CipherSuite, ClientConfig};
use std::sync::Arc;
use thiserror::Error;

/// Why a TLS client cannot be made.
#[derive(Debug, Error)]
pub enum TlsConfigError {
    /// rustls refused the configuration.
    #[error("configure TLS: {0}")]
    Rustls(#[from] rustls::Error),
    /// The authorities are of no use.
    #[error("check certificates: {0}")]
    Verifier(#[from] VerifierBuilderError),
    /// The host cannot stand in a certificate.
    #[error("use {host:?} as a server name: {source}")]
    ServerName {
        /// The host as given.
        host: String,
        /// What was wrong.
        source: InvalidDnsNameError,
    },
    /// No cipher suite for QUIC's Initial packets.
    #[error("configure QUIC: {0}")]
    Quic(#[from] quinn::crypto::rustls::NoInitialCipherSuite),
    /// QUIC cannot be spoken like that.
    #[error("configure QUIC: {0}")]
    Endpoint(#[from] quinn::ConfigError),
    /// No place for the logs of QUIC connections.
    #[error(transparent)]
    Qlog(#[from] QlogFolderError),
}

/// TLS towards one server name with one ALPN and one way of handshaking. Connections share it and
/// with it the tickets: rustls resumes only under the same verifier object.
#[derive(Debug, Clone)]
pub struct TlsClient {
    pub(super) config: Arc<ClientConfig>,
    pub(super) server_name: ServerName<'static>,
    /// `None` for full handshakes: no ticket is kept.
    pub tickets: Option<Arc<TicketStore>>,
    /// What is asked for.
    pub handshake_mode: HandshakeMode,
}

impl TlsClient {
    /// Prepare TLS for one server.
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
        let tickets = (handshake_mode != HandshakeMode::Full).then(Arc::<TicketStore>::default);
        config.resumption = match &tickets {
            Some(store) => Resumption::store(Arc::clone(store) as _),
            None => Resumption::disabled(),
        };
        Ok(Self {
            config: Arc::new(config),
            server_name,
            tickets,
            handshake_mode,
        })
    }

    /// The same with another ALPN; tickets are bound to it, so that those of one are none of the other.
    #[must_use]
    pub fn with_alpn(&self, alpn: &str) -> Self {
        let mut config = ClientConfig::clone(&self.config);
        config.alpn_protocols = vec![alpn.as_bytes().to_vec()];
        Self {
            config: Arc::new(config),
            ..self.clone()
        }
    }

    /// For connections made without this crate.
    pub fn config(&self) -> &Arc<ClientConfig> {
        &self.config
    }

    /// The name the server's certificate must have.
    pub fn server_name(&self) -> &ServerName<'static> {
        &self.server_name
    }
}

/// The IANA name of a TLS 1.3 cipher suite.
pub(crate) fn iana_name(suite: CipherSuite) -> String {
    format!("{suite:?}").replace("TLS13_", "TLS_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_has_the_name_iana_gave_it() {
        let suite = rustls::CipherSuite::TLS13_AES_128_GCM_SHA256;
        assert_eq!(iana_name(suite), "TLS_AES_128_GCM_SHA256");
    }

    #[test]
    fn only_other_than_full_handshakes_keep_tickets() {
        let trust = Trust::in_pins_only(Vec::new());
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
