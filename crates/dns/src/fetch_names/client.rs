//! A client of one resolver and one document, prepared before any clock starts. Not for: fetching.

use crate::client::ClientError;
use crate::edns::EdnsOptions;
use crate::fetch::PageAddress;
use crate::iana;
use crate::question::{Question, QuestionError};
use crate::resolver_address::ResolverAddress;
use crate::transports::http_message::RequestTemplate;
use resolab_record::{
    CoalescingMode, DnsTransport, DohMethod, HandshakeMode, KeyExchangeGroup, NameAnnouncement,
};
use resolab_transport::client::{TlsClient, TlsConfigError, Trust};
use std::net::SocketAddr;
use std::path::PathBuf;
use thiserror::Error;

/// What is the same for all fetches of a client.
#[derive(Debug, Clone)]
pub struct FetchNamesOptions {
    /// How names become known before the document says them.
    pub announcement: NameAnnouncement,
    /// Whether the document comes over the resolver's connection; of the modes that are TCP's.
    pub mode: CoalescingMode,
    /// Key exchange groups offered, of every connection, the one preferred first.
    pub groups: Vec<KeyExchangeGroup>,
    /// EDNS(0) of the queries.
    pub edns: EdnsOptions,
    /// PEM file of the authorities to trust; the system's without one.
    pub ca_file: Option<PathBuf>,
}

/// Why there is no client.
#[derive(Debug, Error)]
pub enum FetchNamesError {
    /// The document's host is no name to ask for.
    #[error(transparent)]
    Question(#[from] QuestionError),
    /// No trust anchors or no TLS.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// Parts that do not go together.
    #[error("fetch names over {resolver}: {reason}")]
    Unsupported {
        /// The resolver.
        resolver: String,
        /// What to do.
        reason: &'static str,
    },
}

impl From<TlsConfigError> for FetchNamesError {
    fn from(error: TlsConfigError) -> Self {
        Self::Client(error.into())
    }
}

/// A client of one resolver and one document.
pub struct FetchNamesClient {
    pub(super) options: FetchNamesOptions,
    pub(super) resolver: ResolverAddress,
    pub(super) resolver_at: SocketAddr,
    pub(super) page: PageAddress,
    /// Of the document's own name: its address, and its HTTPS record.
    pub(super) address_question: Question,
    pub(super) https_question: Question,
    pub(super) template: RequestTemplate,
    pub(super) dns_tls: TlsClient,
    pub(super) web_tls: TlsClient,
}

impl FetchNamesClient {
    /// Prepare a client.
    pub fn new(
        resolver: ResolverAddress,
        resolver_at: SocketAddr,
        page: PageAddress,
        options: FetchNamesOptions,
    ) -> Result<Self, FetchNamesError> {
        if let Some(reason) = what_does_not_go_together(&resolver, &options) {
            let resolver = resolver.url;
            return Err(FetchNamesError::Unsupported { resolver, reason });
        }
        let hashes = resolver.certificate_hashes.clone();
        let trust = Trust::in_authorities(options.ca_file.as_deref(), Vec::new(), hashes)
            .map_err(ClientError::from)?;
        let tls = |host: &str| {
            let mode = HandshakeMode::Full;
            TlsClient::new(&trust, host, iana::ALPN_H2, mode, &options.groups)
        };
        let record_type = address_type(resolver_at);
        Ok(Self {
            address_question: Question::parse(&page.host, record_type)?,
            https_question: Question::parse(&page.host, "HTTPS")?,
            template: RequestTemplate::new(&resolver, DohMethod::Post),
            dns_tls: tls(&resolver.host)?,
            web_tls: tls(&page.host)?,
            options,
            resolver,
            resolver_at,
            page,
        })
    }
}

/// Type of the records asked for, of the family the resolver is reached by.
pub(super) fn address_type(resolver_at: SocketAddr) -> &'static str {
    if resolver_at.is_ipv6() { "AAAA" } else { "A" }
}

fn what_does_not_go_together(
    resolver: &ResolverAddress,
    options: &FetchNamesOptions,
) -> Option<&'static str> {
    if resolver.transport != DnsTransport::Doh {
        return Some("give https://: pushes and interim responses are taken over HTTP/2");
    }
    match (options.mode, options.announcement) {
        (CoalescingMode::PrivateAlpn, _) => Some("the private ALPN is QUIC's"),
        (CoalescingMode::Separate, NameAnnouncement::ServerPush) => Some(
            "only the resolver's connection may push its answers: share it (--mode shared_connection)",
        ),
        (CoalescingMode::Separate | CoalescingMode::SharedConnection, _) => None,
    }
}
