//! A client of one resolver and one page, prepared before any clock starts. Not for: fetching.

use super::knowledge::Knowledge;
use super::page::PageAddress;
use crate::client::ClientError;
use crate::edns::{ClientEdns, EdnsOptions};
use crate::iana;
use crate::question::{Question, QuestionError};
use crate::resolver_address::ResolverAddress;
use crate::transports::http_message::RequestTemplate;
use resolab_http::{H2Windows, PAGE_WINDOWS, private_alpn};
use resolab_record::{CoalescingMode, DnsTransport, DohMethod, HandshakeMode, KeyExchangeGroup};
use resolab_transport::client::{
    AddressTokens, QuicClient, TicketStore, TlsClient, TlsConfigError, Trust,
};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use thiserror::Error;

/// What is the same for all fetches of a client.
#[derive(Debug, Clone)]
pub struct FetchOptions {
    /// How connections are shared.
    pub mode: CoalescingMode,
    /// Whether the page is asked for beside the query.
    pub is_speculative: bool,
    /// Handshake asked for, of every connection.
    pub handshake_mode: HandshakeMode,
    /// Key exchange groups offered, of every connection, the one preferred first.
    pub groups: Vec<KeyExchangeGroup>,
    /// Whether address tokens are kept for the next connection; never with full handshakes.
    pub keeps_address_tokens: bool,
    /// EDNS(0) of the queries.
    pub edns: EdnsOptions,
    /// PEM file of the authorities to trust; the system's without one.
    pub ca_file: Option<PathBuf>,
}

/// Why there is no client.
#[derive(Debug, Error)]
pub enum FetchError {
    /// The page's host is no name to ask for.
    #[error(transparent)]
    Question(#[from] QuestionError),
    /// No trust anchors or no TLS.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// Parts that do not go together.
    #[error("fetch over {resolver} in mode {mode}: {reason}")]
    Unsupported {
        /// The resolver.
        resolver: String,
        /// The mode as typed.
        mode: &'static str,
        /// What to do.
        reason: &'static str,
    },
}

impl From<TlsConfigError> for FetchError {
    fn from(error: TlsConfigError) -> Self {
        Self::Client(error.into())
    }
}

/// QUIC towards one server name with one ALPN, and what its connections leave for later ones.
pub(super) struct Server {
    pub(super) name: String,
    pub(super) quic: QuicClient,
    pub(super) tickets: Option<Arc<TicketStore>>,
    pub(super) tokens: Arc<AddressTokens>,
}

impl Server {
    fn new(
        trust: &Trust,
        name: &str,
        alpn: &str,
        options: &FetchOptions,
    ) -> Result<Self, TlsConfigError> {
        let tls = TlsClient::new(trust, name, alpn, options.handshake_mode, &options.groups)?;
        let keeps = options.keeps_address_tokens && options.handshake_mode != HandshakeMode::Full;
        let tokens = Arc::new(if keeps {
            AddressTokens::default()
        } else {
            AddressTokens::forgotten()
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
    /// Of the connection that carries the query.
    pub(super) dns: Server,
    /// Of a connection for the page alone.
    pub(super) web: Server,
    /// Whether the last fetch needed such a one.
    pub(super) web_was_used: AtomicBool,
    pub(super) known: Mutex<Knowledge>,
}

impl FetchClient {
    /// Prepare a client.
    pub fn new(
        resolver: ResolverAddress,
        resolver_at: SocketAddr,
        page: PageAddress,
        options: FetchOptions,
    ) -> Result<Self, FetchError> {
        let alpn = alpn_of(&resolver, &options)?;
        let trust = Trust::in_authorities(
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
            dns: Server::new(&trust, &resolver.host, alpn, &options)?,
            web: Server::new(&trust, &page.host, iana::ALPN_H3, &options)?,
            web_was_used: AtomicBool::new(options.mode == CoalescingMode::Separate),
            known: Mutex::default(),
            options,
            resolver,
            resolver_at,
            page,
        })
    }
}

/// ALPN of the connection that carries the query.
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
