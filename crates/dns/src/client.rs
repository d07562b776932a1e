//! A client of one resolver, prepared before any clock starts: TLS configuration, trust, request
//! template. Opening a connection then costs what the wire costs.

use crate::bootstrap::look_up::Location;
use crate::edns::{ClientEdns, EdnsOptions};
use crate::resolver_address::ResolverAddress;
use crate::transports::doh::{self, DohSession};
use crate::transports::http_message::RequestTemplate;
use crate::transports::retry::{Retries, UdpRetryPolicy};
use crate::transports::session::Session;
use crate::transports::{doh3, doq, dot, dotcp};
use resolab_record::{DnsTransport, DohMethod, HandshakeMode};
use resolab_transport::client::{
    MeasuredFailure, QuicClient, SetupLog, Sha256, TcpOptions, TicketStore, TlsClient,
    TlsConfigError, Trust, TrustError,
};
use resolab_transport::stamped_udp::keep_stamping;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use thiserror::Error;

/// What is the same for all queries of a client.
#[derive(Debug, Clone)]
pub struct ClientOptions {
    /// Handshake asked for; means nothing to transports without one.
    pub handshake_mode: HandshakeMode,
    /// DoH by POST or GET.
    pub doh_method: DohMethod,
    /// What DoUDP does when no response comes. Round trips are learnt by client.
    pub udp_retry_policy: UdpRetryPolicy,
    /// TCP Fast Open; means nothing to DoUDP and QUIC.
    pub tcp_fast_open: bool,
    /// EDNS(0) of the queries.
    pub edns: EdnsOptions,
    /// PEM file of the authorities to trust; the system's without one.
    pub ca_file: Option<PathBuf>,
    /// The public key of the resolver's certificate must be one of them, unless there are none.
    pub pins: Vec<Sha256>,
    /// Nothing else than `pins` is checked of certificates: no authority, no name, no hash of a
    /// stamp.
    pub is_insecure: bool,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            handshake_mode: HandshakeMode::Full,
            doh_method: DohMethod::Post,
            udp_retry_policy: UdpRetryPolicy::default(),
            tcp_fast_open: false,
            edns: EdnsOptions::default(),
            ca_file: None,
            pins: Vec::new(),
            is_insecure: false,
        }
    }
}

/// Why a client cannot be made.
#[derive(Debug, Error)]
pub enum ClientError {
    /// No trust anchors.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// No TLS.
    #[error(transparent)]
    Tls(#[from] TlsConfigError),
}

enum Transport {
    Udp(Arc<Retries>),
    Tcp,
    Tls(TlsClient),
    H2(TlsClient, RequestTemplate),
    H3(QuicClient, RequestTemplate),
    Quic(QuicClient),
}

impl Transport {
    /// Whether its connections are TCP connections, with or without TLS.
    fn is_over_tcp(&self) -> bool {
        match self {
            Self::Tcp | Self::Tls(_) | Self::H2(..) => true,
            Self::Udp(_) | Self::H3(..) | Self::Quic(_) => false,
        }
    }
}

/// A client of one resolver.
pub struct DnsClient {
    /// The resolver as given.
    pub resolver: ResolverAddress,
    /// Where it is.
    pub location: Location,
    /// `None` for transports without a handshake.
    pub requested_handshake_mode: Option<HandshakeMode>,
    /// `None` where no tickets are kept.
    pub tickets: Option<Arc<TicketStore>>,
    pub(crate) edns: Arc<ClientEdns>,
    /// Of addresses that were looked up: each has cookies of its own.
    edns_of_found: Mutex<HashMap<IpAddr, Arc<ClientEdns>>>,
    /// `false` when a server could be anybody; without TLS there is nothing to check.
    pub certificate_checked: bool,
    transport: Transport,
    pub(crate) tcp: TcpOptions,
    /// Whether a connection asked the resolver for a Fast Open cookie; the kernel keeps it.
    pub(crate) fast_open_is_primed: AtomicBool,
}

impl DnsClient {
    /// Prepare a client.
    pub fn new(
        resolver: ResolverAddress,
        location: impl Into<Location>,
        options: &ClientOptions,
    ) -> Result<Self, ClientError> {
        let location = location.into();
        let Prepared {
            transport,
            tls,
            certificate_checked,
        } = Prepared::new(&resolver, options)?;
        Ok(Self {
            certificate_checked,
            tickets: tls.as_ref().and_then(|tls| tls.tickets.clone()),
            requested_handshake_mode: tls.as_ref().map(|tls| tls.handshake_mode),
            edns: Arc::new(ClientEdns::new(
                options.edns,
                location
                    .known()
                    .map_or(Ipv4Addr::UNSPECIFIED.into(), |known| known.ip()),
                tls.is_some(),
            )),
            tcp: TcpOptions {
                fast_open: options.tcp_fast_open && transport.is_over_tcp(),
            },
            fast_open_is_primed: AtomicBool::new(false),
            edns_of_found: Mutex::default(),
            transport,
            resolver,
            location,
        })
    }

    /// Whether each query stands alone.
    pub fn is_connectionless(&self) -> bool {
        matches!(self.transport, Transport::Udp(_))
    }

    /// Open what a first query needs. In 0-RTT the connection is handed out before its handshake.
    pub async fn open(&self, log: &Arc<SetupLog>) -> Result<Session, MeasuredFailure> {
        let address = self.location.find(log).await?;
        let edns = self.edns_at(address.ip());
        Ok(match &self.transport {
            Transport::Udp(retries) => {
                Session::udp(address, Arc::clone(retries), Arc::clone(log), edns)
            }
            Transport::Tcp => {
                Session::framed(dotcp::open_with(address, self.tcp, log).await?, edns)
            }
            Transport::Tls(tls) => {
                Session::framed(dot::open(address, self.tcp, tls, log).await?, edns)
            }
            Transport::H2(tls, template) => {
                let session: DohSession =
                    doh::open(address, self.tcp, tls, template.clone(), log).await?;
                Session::doh(session, edns)
            }
            Transport::H3(quic, template) => Session::doh3(
                doh3::open(address, quic, template.clone(), log).await?,
                edns,
            ),
            Transport::Quic(quic) => Session::doq(doq::open(address, quic, log).await?, edns),
        })
    }

    /// Forget what earlier queries left that the next ones would be quicker by: tickets, and the
    /// round trips that DoUDP's policy learnt.
    pub fn forget(&self) {
        if let Some(tickets) = &self.tickets {
            tickets.forget();
        }
        if let Transport::Udp(retries) = &self.transport {
            retries.forget();
        }
    }

    fn edns_at(&self, resolver: IpAddr) -> Arc<ClientEdns> {
        if self.location.known().is_some() {
            return Arc::clone(&self.edns);
        }
        let mut found = self
            .edns_of_found
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let edns = found
            .entry(resolver)
            .or_insert_with(|| Arc::new(self.edns.at(resolver)));
        Arc::clone(edns)
    }

    /// `None` but for DoUDP.
    pub(crate) fn udp_retry_policy(&self) -> Option<UdpRetryPolicy> {
        match &self.transport {
            Transport::Udp(retries) => Some(retries.policy),
            Transport::Tcp
            | Transport::Tls(_)
            | Transport::H2(..)
            | Transport::H3(..)
            | Transport::Quic(_) => None,
        }
    }
}

/// The TLS of a client of `resolver`, `None` for transports without, and whether its certificate is
/// checked: `true` without TLS.
pub fn tls_of(
    resolver: &ResolverAddress,
    options: &ClientOptions,
) -> Result<(Option<TlsClient>, bool), ClientError> {
    match Preparation::of(resolver.transport) {
        Preparation::Plain(_) => Ok((None, true)),
        Preparation::Encrypted(alpn, _) => {
            let (tls, is_checked) = tls_with(alpn, resolver, options)?;
            Ok((Some(tls), is_checked))
        }
    }
}

fn tls_with(
    alpn: &str,
    resolver: &ResolverAddress,
    options: &ClientOptions,
) -> Result<(TlsClient, bool), ClientError> {
    let trust = trust_in(resolver, options)?;
    let tls = TlsClient::new(&trust, &resolver.host, alpn, options.handshake_mode)?;
    Ok((tls, trust.is_checked()))
}

fn trust_in(resolver: &ResolverAddress, options: &ClientOptions) -> Result<Trust, TrustError> {
    let pins = options.pins.clone();
    if options.is_insecure {
        return Ok(Trust::in_pins_only(pins));
    }
    let hashes = resolver.certificate_hashes.clone();
    Trust::in_authorities(options.ca_file.as_deref(), pins, hashes)
}

/// How a transport is prepared.
enum Preparation {
    Plain(fn(&ClientOptions) -> Transport),
    /// With the ALPN of its TLS.
    Encrypted(&'static str, MakeEncrypted),
}

type MakeEncrypted = fn(&TlsClient, RequestTemplate) -> Result<Transport, TlsConfigError>;

impl Preparation {
    fn of(transport: DnsTransport) -> Self {
        match transport {
            DnsTransport::Doudp => Self::Plain(|options| {
                Transport::Udp(Arc::new(Retries::new(options.udp_retry_policy)))
            }),
            DnsTransport::Dotcp => Self::Plain(|_| Transport::Tcp),
            DnsTransport::Dot => {
                Self::Encrypted(dot::ALPN, |tls, _| Ok(Transport::Tls(tls.clone())))
            }
            DnsTransport::Doh => Self::Encrypted(doh::ALPN, |tls, template| {
                Ok(Transport::H2(tls.clone(), template))
            }),
            DnsTransport::Doh3 => Self::Encrypted(doh3::ALPN, |tls, template| {
                Ok(Transport::H3(QuicClient::new(tls)?, template))
            }),
            DnsTransport::Doq => Self::Encrypted(doq::ALPN, |tls, _| {
                Ok(Transport::Quic(QuicClient::new(tls)?))
            }),
        }
    }
}

/// A transport with its TLS, and whether that checks certificates.
struct Prepared {
    transport: Transport,
    tls: Option<TlsClient>,
    certificate_checked: bool,
}

impl Prepared {
    fn new(resolver: &ResolverAddress, options: &ClientOptions) -> Result<Self, ClientError> {
        keep_stamping();
        Ok(match Preparation::of(resolver.transport) {
            Preparation::Plain(make) => Self {
                transport: make(options),
                tls: None,
                certificate_checked: true,
            },
            Preparation::Encrypted(alpn, make) => {
                let (tls, certificate_checked) = tls_with(alpn, resolver, options)?;
                let template = RequestTemplate::new(resolver, options.doh_method);
                Self {
                    transport: make(&tls, template)?,
                    tls: Some(tls),
                    certificate_checked,
                }
            }
        })
    }
}
