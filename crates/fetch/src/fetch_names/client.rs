//! A client of one resolver and one document, prepared before any clock starts. Not for: fetching.

use crate::fetch::PageAddress;
use resolab_dns::ClientError;
use resolab_dns::RequestTemplate;
use resolab_dns::ResolverAddress;
use resolab_dns::edns::EdnsOptions;
use resolab_dns::iana;
use resolab_dns::question::{Question, QuestionError};
use resolab_record::{
    CoalescingMode, DnsTransport, DohMethod, HandshakeMode, KeyExchangeGroup, NameAnnouncement,
};
use resolab_transport::client::{TlsClient, TlsConfigError, Trust};
use std::net::SocketAddr;
use std::path::PathBuf;
use thiserror::Error;

/// The options shared by all fetches of a client.
#[derive(Debug, Clone)]
pub struct FetchNamesOptions {
    /// The way names become known before they are found in the document.
    pub announcement: NameAnnouncement,
    /// The way of sharing connections: the document over the resolver's connection, or separate.
    /// Only the modes possible over TCP.
    pub mode: CoalescingMode,
    /// The key exchange groups offered on every connection, the preferred group first.
    pub groups: Vec<KeyExchangeGroup>,
    /// The EDNS(0) options of the queries.
    pub edns: EdnsOptions,
    /// The PEM file of trusted authorities; the system's authorities when absent.
    pub ca_file: Option<PathBuf>,
}

/// The reason for a client that cannot be made.
#[derive(Debug, Error)]
pub enum FetchNamesError {
    /// The document's host is not a name.
    #[error(transparent)]
    Question(#[from] QuestionError),
    /// No usable trust anchors or TLS configuration.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// A combination of options that is not supported.
    #[error("fetch names over {resolver}: {reason}")]
    Unsupported {
        /// The resolver's URL as given.
        resolver: String,
        /// The reason, with an option to use instead.
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
    /// The questions for the document's own name: its address here, its HTTPS record below.
    pub(super) address_question: Question,
    pub(super) https_question: Question,
    pub(super) template: RequestTemplate,
    pub(super) dns_tls: TlsClient,
    pub(super) web_tls: TlsClient,
}

impl FetchNamesClient {
    /// Prepares a client. Errors on unsupported combinations of resolver and options.
    pub fn new(
        resolver: ResolverAddress,
        resolver_at: SocketAddr,
        page: PageAddress,
        options: FetchNamesOptions,
    ) -> Result<Self, FetchNamesError> {
        if let Some(reason) = check_combination(&resolver, &options) {
            let resolver = resolver.url;
            return Err(FetchNamesError::Unsupported { resolver, reason });
        }
        let hashes = resolver.certificate_hashes.clone();
        let trust = Trust::from_authorities(options.ca_file.as_deref(), Vec::new(), hashes)
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

/// Returns the address record type of the resolver's address family.
pub(super) fn address_type(resolver_at: SocketAddr) -> &'static str {
    if resolver_at.is_ipv6() { "AAAA" } else { "A" }
}

fn check_combination(
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
