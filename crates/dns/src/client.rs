//! A client of one resolver, prepared before any clock starts: TLS configuration, trust, request
//! template. Opening a connection then costs what the wire costs.

mod options;
mod partial_support;
mod preparation;

pub use options::ClientOptions;
pub(crate) use partial_support::PartialSupport;
pub use preparation::{ClientError, tls_of};

use crate::bootstrap::look_up::Location;
use crate::edns::ClientEdns;
use crate::resolver_address::ResolverAddress;
use crate::transports::retry::UdpRetryPolicy;
use crate::transports::session::Session;
use crate::transports::{doh, doh3, doq, dot, dotcp};
use partial_support::PartialSupports;
use preparation::{Prepared, Transport};
use resolab_http::private_alpn;
use resolab_record::HandshakeMode;
use resolab_transport::client::{MeasuredFailure, QuicClient, SetupLog, TcpOptions, TicketStore};
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

/// The knowledge that is forgotten when connections are closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forgetting {
    /// Connections alone end.
    Nothing,
    /// All that was learnt of the resolver, too. All that it gave stays: tickets, address tokens, cookies.
    Learnt,
    /// The next query is asked as the first was.
    All,
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
    /// The options that queries have, whichever address is asked.
    pub(crate) edns: ClientEdns,
    /// The same for each address: each has cookies of its own. Connections and queries under way keep
    /// theirs when all are forgotten.
    edns_by_address: Mutex<HashMap<IpAddr, Arc<ClientEdns>>>,
    /// `false` when a server could be anybody; `None` without TLS: there is nothing to check.
    pub certificate_checked: Option<bool>,
    transport: Transport,
    pub(crate) tcp: TcpOptions,
    /// Whether a connection asked the resolver for a Fast Open cookie; the kernel keeps it.
    pub(crate) fast_open_is_primed: AtomicBool,
    partial_supports: PartialSupports,
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

    /// The same, whose connections carry pages beside queries, with windows (of a stream, and of all)
    /// for them: over DoH3 as they are, over DoQ by the private ALPN, which servers
    /// offer where their HTTP/3 is. Other transports carry none.
    pub fn carrying_pages(mut self, windows: (u32, u32)) -> Result<Self, ClientError> {
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
                let session = doh::open(address, self.tcp, tls, template.clone(), log).await?;
                Session::doh(session, edns)
            }
            Transport::H3(quic, template) => {
                let template = template.clone();
                Session::doh3(doh3::open(address, quic, template, log).await?, edns)
            }
            Transport::Quic(_, quic) => Session::doq(doq::open(address, quic, log).await?, edns),
            Transport::QuicBesideH3(quic) => {
                Session::doq(doq::open_for_pages(address, quic, log).await?, edns)
            }
        })
    }

    /// Forget what earlier queries left, so that the next ones are asked as the first was; every kind of
    /// it stands in docs/method/forgotten.md.
    pub fn forget(&self, what: Forgetting) {
        match what {
            Forgetting::Nothing => (),
            Forgetting::Learnt => self.forget_learnt(),
            Forgetting::All => {
                self.forget_learnt();
                self.forget_given();
            }
        }
    }

    /// Its knowledge of partial responses, and the round trips that DoUDP's policy learnt.
    fn forget_learnt(&self) {
        self.partial_supports.forget();
        if let Transport::Udp(retries) = &self.transport {
            retries.forget();
        }
    }

    /// All that the resolver gave to be shown to it again: tickets, QUIC's address tokens, DNS cookies.
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

    /// The resolver's knowledge of partial responses, as far as is known now.
    pub(crate) fn partial_support(&self) -> Arc<PartialSupport> {
        self.partial_supports.current()
    }

    fn edns_at(&self, resolver: IpAddr) -> Arc<ClientEdns> {
        let mut by_address = self
            .edns_by_address
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let edns = by_address
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
            | Transport::Quic(..)
            | Transport::QuicBesideH3(..) => None,
        }
    }
}
