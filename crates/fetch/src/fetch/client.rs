//! A client of one resolver and one page, prepared before any clock starts. Not for: fetching.

use super::page::PageAddress;
use super::page_coverage::PageCoverage;
use resolab_dns::ClientError;
use resolab_dns::RequestTemplate;
use resolab_dns::ResolverAddress;
use resolab_dns::edns::{ClientEdns, EdnsOptions};
use resolab_dns::iana;
use resolab_dns::question::{Question, QuestionError};
use resolab_http::{H2Windows, PAGE_WINDOWS, private_alpn};
use resolab_record::{CoalescingMode, DnsTransport, DohMethod, HandshakeMode, KeyExchangeGroup};
use resolab_transport::client::{
    ClientAddressTokens, ClientTicketStore, QuicClient, TlsClient, TlsConfigError, Trust,
};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use thiserror::Error;

/// The options shared by all fetches of a client.
#[derive(Debug, Clone)]
pub struct FetchOptions {
    /// The way of sharing connections between name and page.
    pub mode: CoalescingMode,
    /// True to send the page's request together with the query.
    pub is_speculative: bool,
    /// The handshake mode asked for, of every connection.
    pub handshake_mode: HandshakeMode,
    /// The key exchange groups offered on every connection, the preferred group first.
    pub groups: Vec<KeyExchangeGroup>,
    /// True to keep address tokens for the next connection; never with full handshakes.
    pub keeps_address_tokens: bool,
    /// The EDNS(0) options of the queries.
    pub edns: EdnsOptions,
    /// The PEM file of trusted authorities; the system's authorities when absent.
    pub ca_file: Option<PathBuf>,
}

/// The reason for a client that cannot be made.
#[derive(Debug, Error)]
pub enum FetchError {
    /// The page's host is not a name.
    #[error(transparent)]
    Question(#[from] QuestionError),
    /// No usable trust anchors or TLS configuration.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// A combination of options that is not supported.
    #[error("fetch over {resolver} in mode {mode}: {reason}")]
    Unsupported {
        /// The resolver's URL as given.
        resolver: String,
        /// The sharing mode as typed.
        mode: &'static str,
        /// The reason, with an option to use instead.
        reason: &'static str,
    },
}

impl From<TlsConfigError> for FetchError {
    fn from(error: TlsConfigError) -> Self {
        Self::Client(error.into())
    }
}

/// QUIC to one server name with one ALPN, and the tickets and tokens kept for later connections.
pub(super) struct QuicServer {
    pub(super) name: String,
    pub(super) quic: QuicClient,
    pub(super) tickets: Option<Arc<ClientTicketStore>>,
    pub(super) tokens: Arc<ClientAddressTokens>,
}

impl QuicServer {
    fn new(
        trust: &Trust,
        name: &str,
        alpn: &str,
        options: &FetchOptions,
    ) -> Result<Self, TlsConfigError> {
        let tls = TlsClient::new(trust, name, alpn, options.handshake_mode, &options.groups)?;
        let keeps = options.keeps_address_tokens && options.handshake_mode != HandshakeMode::Full;
        let tokens = Arc::new(if keeps {
            ClientAddressTokens::default()
        } else {
            ClientAddressTokens::without_memory()
        });
        let quic = QuicClient::new(&tls)?.with_tokens(Arc::clone(&tokens));
        let H2Windows {
            stream_bytes,
            connection_bytes,
        } = PAGE_WINDOWS;
        Ok(Self {
            name: name.to_owned(),
            quic: quic.with_windows(stream_bytes, connection_bytes),
            tickets: tls.tickets.clone(),
            tokens,
        })
    }
}

/// A client of one resolver and one page, prepared before any clock starts.
pub struct FetchClient {
    pub(super) options: FetchOptions,
    pub(super) resolver: ResolverAddress,
    pub(super) resolver_at: SocketAddr,
    pub(super) page: PageAddress,
    pub(super) question: Question,
    pub(super) edns: ClientEdns,
    pub(super) template: RequestTemplate,
    /// The server of the connection carrying the query.
    pub(super) dns: QuicServer,
    /// The server of a connection for the page alone.
    pub(super) web: QuicServer,
    /// True when the last fetch needed a connection for the page alone.
    pub(super) web_was_used: AtomicBool,
    pub(super) known: Mutex<PageCoverage>,
}

impl FetchClient {
    /// Prepares a client. Errors on unsupported combinations of resolver and mode.
    pub fn new(
        resolver: ResolverAddress,
        resolver_at: SocketAddr,
        page: PageAddress,
        options: FetchOptions,
    ) -> Result<Self, FetchError> {
        let alpn = alpn_of(&resolver, &options)?;
        let trust = Trust::from_authorities(
            options.ca_file.as_deref(),
            Vec::new(),
            resolver.certificate_hashes.clone(),
        )
        .map_err(ClientError::from)?;
        Ok(Self {
            question: Question::parse(
                &page.host,
                if resolver_at.is_ipv6() { "AAAA" } else { "A" },
            )?,
            edns: ClientEdns::new(options.edns, resolver_at.ip(), true),
            template: RequestTemplate::new(&resolver, DohMethod::Post),
            dns: QuicServer::new(&trust, &resolver.host, alpn, &options)?,
            web: QuicServer::new(&trust, &page.host, iana::ALPN_H3, &options)?,
            web_was_used: AtomicBool::new(options.mode == CoalescingMode::Separate),
            known: Mutex::default(),
            options,
            resolver,
            resolver_at,
            page,
        })
    }
}

/// Returns the ALPN of the connection carrying the query.
fn alpn_of(resolver: &ResolverAddress, options: &FetchOptions) -> Result<&'static str, FetchError> {
    let unsupported = |mode, reason| FetchError::Unsupported {
        resolver: resolver.url.clone(),
        mode,
        reason,
    };
    let is_doh3 = resolver.transport == DnsTransport::Doh3;
    match options.mode {
        CoalescingMode::Separate if options.is_speculative => Err(unsupported(
            "separate",
            "nothing is known of the page's server before its address is; share a connection",
        )),
        CoalescingMode::Separate if resolver.transport == DnsTransport::Doq => Ok(iana::ALPN_DOQ),
        CoalescingMode::Separate | CoalescingMode::SharedConnection if is_doh3 => Ok(iana::ALPN_H3),
        CoalescingMode::PrivateAlpn if is_doh3 => Ok(private_alpn::ALPN),
        CoalescingMode::Separate => Err(unsupported("separate", "give h3:// or quic://")),
        CoalescingMode::SharedConnection => Err(unsupported("shared_connection", "give h3://")),
        CoalescingMode::PrivateAlpn => Err(unsupported(
            "private_alpn",
            "give h3://: it is offered where DoH3 is",
        )),
    }
}
