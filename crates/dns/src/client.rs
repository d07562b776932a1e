//! A client of one resolver. TLS configuration, trust and request template are prepared before any
//! clock starts, so opening a connection takes only the exchange on the wire.

mod options;
mod partial_support;
mod preparation;

pub use options::ClientOptions;
pub(crate) use partial_support::PartialSupport;
pub use preparation::{ClientError, tls_of};

use crate::bootstrap::look_up::ResolverLocation;
use crate::edns::ClientEdns;
use crate::resolver_address::ResolverAddress;
use crate::transports::retry::UdpRetryPolicy;
use crate::transports::session::Session;
use crate::transports::{doh, doh3, doq, doq_beside_h3, dot, dotcp};
use partial_support::PartialSupports;
use preparation::{PreparedTransport, Transport};
use resolab_http::private_alpn;
use resolab_record::HandshakeMode;
use resolab_transport::client::{
    ClientTicketStore, MeasuredFailure, QuicClient, SetupLog, TcpOptions,
};
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

/// The knowledge to forget when closing connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForgetScope {
    /// Forget nothing; only close the connections.
    Nothing,
    /// Forget everything learnt about the resolver. Keep everything given by the resolver: tickets,
    /// address tokens, cookies.
    Learnt,
    /// Forget everything; the next query is asked like the first.
    All,
}

/// A client of one resolver, with its transport.
pub struct DnsClient {
    /// The resolver as given by the user.
    pub resolver: ResolverAddress,
    /// The resolver's address, or how to look it up.
    pub location: ResolverLocation,
    /// The handshake mode asked for; `None` for transports without a handshake.
    pub requested_handshake_mode: Option<HandshakeMode>,
    /// The session tickets; `None` when the client keeps no tickets.
    pub tickets: Option<Arc<ClientTicketStore>>,
    /// The queries' EDNS options, equal for all addresses of the resolver.
    pub(crate) edns: ClientEdns,
    /// The EDNS options by address, with separate cookies for each address. Connections and pending
    /// queries keep theirs after `forget`.
    edns_by_address: Mutex<HashMap<IpAddr, Arc<ClientEdns>>>,
    /// `false` when any server would pass as the resolver. `None` without TLS: there is no
    /// certificate to check.
    pub certificate_checked: Option<bool>,
    transport: Transport,
    pub(crate) tcp: TcpOptions,
    /// True after a connection has asked the resolver for a Fast Open cookie. The kernel keeps the
    /// cookie.
    pub(crate) fast_open_is_primed: AtomicBool,
    partial_supports: PartialSupports,
}

impl DnsClient {
    /// Prepares a client. Errors without usable trust anchors or TLS.
    pub fn new(
        resolver: ResolverAddress,
        location: impl Into<ResolverLocation>,
        options: &ClientOptions,
    ) -> Result<Self, ClientError> {
        let location = location.into();
        let PreparedTransport {
            transport,
            tls,
            certificate_checked,
        } = PreparedTransport::new(&resolver, options)?;
        Ok(Self {
            certificate_checked,
            tickets: tls.as_ref().and_then(|tls| tls.tickets.clone()),
            requested_handshake_mode: tls.as_ref().map(|tls| tls.handshake_mode),
            edns: ClientEdns::new(
                options.edns,
                location
                    .known()
                    .map_or(Ipv4Addr::UNSPECIFIED.into(), |known| known.ip()),
                tls.is_some(),
            ),
            tcp: TcpOptions {
                fast_open: options.tcp_fast_open && transport.is_over_tcp(),
            },
            fast_open_is_primed: AtomicBool::new(false),
            partial_supports: PartialSupports::default(),
            edns_by_address: Mutex::default(),
            transport,
            resolver,
            location,
        })
    }

    /// Returns the client with connections for pages beside queries, and with the windows for pages
    /// (of a stream, of all streams). DoH3 needs no other change. DoQ uses the private ALPN,
    /// offered by servers beside their HTTP/3. Other transports cannot carry pages.
    pub fn with_pages(mut self, windows: (u32, u32)) -> Result<Self, ClientError> {
        self.transport = match self.transport {
            Transport::H3(quic, template) => {
                Transport::H3(quic.with_windows(windows.0, windows.1), template)
            }
            Transport::Quic(tls, _) => {
                let tls = tls.with_alpn(private_alpn::ALPN);
                self.tickets.clone_from(&tls.tickets);
                let quic = QuicClient::new(&tls)?;
                let quic = quic.with_windows(windows.0, windows.1);
                Transport::QuicBesideH3(quic)
            }
            carries_none @ (Transport::Udp(_)
            | Transport::Tcp
            | Transport::Tls(_)
            | Transport::H2(..)
            | Transport::QuicBesideH3(..)) => carries_none,
        };
        Ok(self)
    }

    /// Returns true when queries share no connection (DoUDP).
    pub fn is_connectionless(&self) -> bool {
        matches!(self.transport, Transport::Udp(_))
    }

    /// Opens the session needed by a first query. With 0-RTT, returns the connection before the end
    /// of its handshake.
    pub async fn open(&self, log: &Arc<SetupLog>) -> Result<Session, MeasuredFailure> {
        let address = self.location.find(log).await?;
        let edns = self.address_edns(address.ip());
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
                let session = doh::open(address, self.tcp, tls, template.clone(), log).await?;
                Session::doh(session, edns)
            }
            Transport::H3(quic, template) => {
                let template = template.clone();
                Session::doh3(doh3::open(address, quic, template, log).await?, edns)
            }
            Transport::Quic(_, quic) => Session::doq(doq::open(address, quic, log).await?, edns),
            Transport::QuicBesideH3(quic) => {
                let (session, http3) = doq_beside_h3::open(address, quic, log).await?;
                Session::doq(session, edns).beside_http3(http3)
            }
        })
    }

    /// Forgets the traces of earlier queries, so the next query is asked like the first.
    /// docs/method/forgotten.md lists all kinds of traces.
    pub fn forget(&self, what: ForgetScope) {
        match what {
            ForgetScope::Nothing => (),
            ForgetScope::Learnt => self.forget_learnt(),
            ForgetScope::All => {
                self.forget_learnt();
                self.forget_given();
            }
        }
    }

    /// Forgets the knowledge of partial responses, and the round trips learnt by DoUDP's policy.
    fn forget_learnt(&self) {
        self.partial_supports.forget();
        if let Transport::Udp(retries) = &self.transport {
            retries.forget();
        }
    }

    /// Forgets everything given by the resolver for later use: tickets, QUIC's address tokens, DNS
    /// cookies.
    fn forget_given(&self) {
        if let Some(tickets) = &self.tickets {
            tickets.forget();
        }
        self.edns_by_address
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
        match &self.transport {
            Transport::H3(quic, _) | Transport::Quic(_, quic) | Transport::QuicBesideH3(quic) => {
                quic.forget_tokens();
            }
            Transport::Udp(_) | Transport::Tcp | Transport::Tls(_) | Transport::H2(..) => (),
        }
    }

    /// Returns the present knowledge of the resolver's support for partial responses.
    pub(crate) fn partial_support(&self) -> Arc<PartialSupport> {
        self.partial_supports.current()
    }

    fn address_edns(&self, resolver: IpAddr) -> Arc<ClientEdns> {
        let mut by_address = self
            .edns_by_address
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let edns = by_address
            .entry(resolver)
            .or_insert_with(|| Arc::new(self.edns.with_resolver(resolver)));
        Arc::clone(edns)
    }

    /// Returns DoUDP's retry policy; `None` for other transports.
    pub(crate) fn udp_retry_policy(&self) -> Option<UdpRetryPolicy> {
        match &self.transport {
            Transport::Udp(retries) => Some(retries.policy),
            Transport::Tcp
            | Transport::Tls(_)
            | Transport::H2(..)
            | Transport::H3(..)
            | Transport::Quic(..)
            | Transport::QuicBesideH3(..) => None,
        }
    }
}
