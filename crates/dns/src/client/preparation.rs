//! Prepares each transport for its resolver. One table gives each transport's ALPN and set-up.
//! Not for: opening connections.

use super::options::ClientOptions;
use crate::iana;
use crate::resolver_address::ResolverAddress;
use crate::transports::http_message::RequestTemplate;
use crate::transports::retry::ResolverRetries;
use resolab_record::DnsTransport;
use resolab_transport::client::{QuicClient, TlsClient, TlsConfigError, Trust, TrustError};
use resolab_transport::stamped_udp::keep_stamping;
use std::sync::Arc;
use thiserror::Error;

/// The reason for a client that cannot be made.
#[derive(Debug, Error)]
pub enum ClientError {
    /// No usable trust anchors.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// No usable TLS configuration.
    #[error(transparent)]
    Tls(#[from] TlsConfigError),
}

/// A transport, with everything needed to open its connections.
pub(super) enum Transport {
    Udp(Arc<ResolverRetries>),
    Tcp,
    Tls(TlsClient),
    H2(TlsClient, RequestTemplate),
    H3(QuicClient, RequestTemplate),
    /// DoQ, with the TLS client for making a TLS client of another ALPN.
    Quic(TlsClient, QuicClient),
    /// DoQ and HTTP/3 on one connection, chosen by the private ALPN (docs/formats/private-alpn.md).
    QuicBesideH3(QuicClient),
}

impl Transport {
    /// Returns true when the transport uses TCP connections, with or without TLS.
    pub fn is_over_tcp(&self) -> bool {
        match self {
            Self::Tcp | Self::Tls(_) | Self::H2(..) => true,
            Self::Udp(_) | Self::H3(..) | Self::Quic(..) | Self::QuicBesideH3(..) => false,
        }
    }
}

/// Returns the TLS client for `resolver`, and true when the client checks certificates. Both are
/// `None` for transports without TLS.
pub fn tls_of(
    resolver: &ResolverAddress,
    options: &ClientOptions,
) -> Result<(Option<TlsClient>, Option<bool>), ClientError> {
    match Preparation::from_transport(resolver.transport) {
        Preparation::Plain(_) => Ok((None, None)),
        Preparation::Encrypted(alpn, _) => {
            let (tls, is_checked) = tls_with(alpn, resolver, options)?;
            Ok((Some(tls), Some(is_checked)))
        }
    }
}

fn tls_with(
    alpn: &str,
    resolver: &ResolverAddress,
    options: &ClientOptions,
) -> Result<(TlsClient, bool), ClientError> {
    let trust = trust_in(resolver, options)?;
    let mode = options.handshake_mode;
    let tls = TlsClient::new(&trust, &resolver.host, alpn, mode, &options.groups)?;
    Ok((tls, trust.is_checked()))
}

fn trust_in(resolver: &ResolverAddress, options: &ClientOptions) -> Result<Trust, TrustError> {
    let pins = options.pins.clone();
    if options.is_insecure {
        return Ok(Trust::from_pins(pins));
    }
    let hashes = resolver.certificate_hashes.clone();
    Trust::from_authorities(options.ca_file.as_deref(), pins, hashes)
}

/// The way to prepare a transport.
enum Preparation {
    Plain(fn(&ClientOptions) -> Transport),
    /// An encrypted transport: the ALPN of its TLS, and the maker.
    Encrypted(&'static str, MakeEncrypted),
}

type MakeEncrypted = fn(&TlsClient, RequestTemplate) -> Result<Transport, TlsConfigError>;

impl Preparation {
    fn from_transport(transport: DnsTransport) -> Self {
        match transport {
            DnsTransport::Doudp => Self::Plain(|options| {
                Transport::Udp(Arc::new(ResolverRetries::new(options.udp_retry_policy)))
            }),
            DnsTransport::Dotcp => Self::Plain(|_| Transport::Tcp),
            DnsTransport::Dot => {
                Self::Encrypted(iana::ALPN_DOT, |tls, _| Ok(Transport::Tls(tls.clone())))
            }
            DnsTransport::Doh => Self::Encrypted(iana::ALPN_H2, |tls, template| {
                Ok(Transport::H2(tls.clone(), template))
            }),
            DnsTransport::Doh3 => Self::Encrypted(iana::ALPN_H3, |tls, template| {
                Ok(Transport::H3(QuicClient::new(tls)?, template))
            }),
            DnsTransport::Doq => Self::Encrypted(iana::ALPN_DOQ, |tls, _| {
                Ok(Transport::Quic(tls.clone(), QuicClient::new(tls)?))
            }),
        }
    }
}

/// A transport with its TLS, and true when the TLS checks certificates.
pub(super) struct PreparedTransport {
    pub transport: Transport,
    pub tls: Option<TlsClient>,
    pub certificate_checked: Option<bool>,
}

impl PreparedTransport {
    pub fn new(resolver: &ResolverAddress, options: &ClientOptions) -> Result<Self, ClientError> {
        keep_stamping();
        Ok(match Preparation::from_transport(resolver.transport) {
            Preparation::Plain(make) => Self {
                transport: make(options),
                tls: None,
                certificate_checked: None,
            },
            Preparation::Encrypted(alpn, make) => {
                let (tls, certificate_checked) = tls_with(alpn, resolver, options)?;
                let template = RequestTemplate::new(resolver, options.doh_method);
                Self {
                    transport: make(&tls, template)?,
                    tls: Some(tls),
                    certificate_checked: Some(certificate_checked),
                }
            }
        })
    }
}
