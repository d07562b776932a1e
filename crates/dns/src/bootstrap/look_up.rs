//! Turns a resolver's host name into an address inside the clock, when the look-up is part of the
//! measurement. Not for: look-ups before any clock starts (`bootstrap`).

use crate::edns::QueryEdns;
use crate::exchange::ExchangeLog;
use crate::message::{build_query, check_echo, random_id, read_response};
use crate::question::Question;
use crate::transports::doudp;
use crate::transports::retry::{ResolverRetries, UdpRetryPolicy};
use resolab_record::{Bootstrap, Failure};
use resolab_transport::client::{MeasuredFailure, SetupLog};
use std::fmt::Display;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// A resolver's address, or how to look it up.
#[derive(Debug, Clone)]
pub enum ResolverLocation {
    /// A known address, with its source.
    Known(SocketAddr, Bootstrap),
    /// An address to look up each time a session is opened.
    Unknown(ResolverLookUp),
    /// An earlier look-up without a result: every opening fails with this reason.
    Missing(String),
}

impl From<(SocketAddr, Bootstrap)> for ResolverLocation {
    fn from((address, bootstrap): (SocketAddr, Bootstrap)) -> Self {
        Self::Known(address, bootstrap)
    }
}

/// A host name, and the resolver to ask for its address.
#[derive(Debug, Clone)]
pub struct ResolverLookUp {
    /// The resolver's host name.
    pub host: String,
    /// The port of the resolver.
    pub port: u16,
    /// The resolver to ask over DoUDP; the system when absent.
    pub by: Option<SocketAddr>,
}

impl ResolverLocation {
    /// Returns the source of the address.
    pub fn bootstrap(&self) -> Bootstrap {
        match self {
            Self::Known(_, bootstrap) => *bootstrap,
            Self::Unknown(ResolverLookUp { by: Some(_), .. }) => Bootstrap::Resolver,
            Self::Unknown(ResolverLookUp { by: None, .. }) | Self::Missing(_) => Bootstrap::System,
        }
    }

    /// Returns the address, if known beforehand.
    pub fn known(&self) -> Option<SocketAddr> {
        match self {
            Self::Known(address, _) => Some(*address),
            Self::Unknown(_) | Self::Missing(_) => None,
        }
    }

    /// Finds the address. The log keeps the time of the look-up.
    pub(crate) async fn find(&self, log: &SetupLog) -> Result<SocketAddr, MeasuredFailure> {
        let address = match self {
            Self::Known(address, _) => *address,
            Self::Unknown(look_up) => {
                log.bootstrap.begin();
                let address = look_up.ask().await?;
                log.bootstrap.finish();
                address
            }
            Self::Missing(reason) => {
                return Err(MeasuredFailure::new(Failure::BootstrapFailed, reason));
            }
        };
        log.set_peer_address(address);
        Ok(address)
    }
}

impl ResolverLookUp {
    /// Asks the resolver `by`, or the system, for the address: first A, then AAAA.
    pub(super) async fn ask(&self) -> Result<SocketAddr, MeasuredFailure> {
        let Some(resolver) = self.by else {
            return self.ask_system().await;
        };
        for record_type in ["A", "AAAA"] {
            if let Some(ip) = self.ask_resolver(resolver, record_type).await? {
                return Ok(SocketAddr::new(ip, self.port));
            }
        }
        Err(self.failure("it has none"))
    }

    /// Asks getaddrinfo(3) on a separate thread.
    async fn ask_system(&self) -> Result<SocketAddr, MeasuredFailure> {
        let found = tokio::net::lookup_host((self.host.as_str(), self.port)).await;
        found
            .map_err(|error| self.failure(error))?
            .next()
            .ok_or_else(|| self.failure("it has none"))
    }

    async fn ask_resolver(
        &self,
        resolver: SocketAddr,
        record_type: &str,
    ) -> Result<Option<IpAddr>, MeasuredFailure> {
        let question =
            Question::parse(&self.host, record_type).map_err(|error| self.failure(error))?;
        let query = build_query(&question, random_id(), &QueryEdns::default())
            .map_err(|error| self.failure(error))?;
        let (retries, log) = (
            ResolverRetries::new(UdpRetryPolicy::System),
            ExchangeLog::default(),
        );
        let message = doudp::exchange(resolver, &retries, &query, &Arc::default(), &log)
            .await
            .map_err(|failure| self.failure(failure))?;
        check_echo(&query, &message).map_err(|error| self.failure(error))?;
        let response = read_response(&message).map_err(|error| self.failure(error))?;
        if response.is_answer {
            Ok(response.addresses.first().copied())
        } else {
            Err(self.failure(response.rcode))
        }
    }

    pub(super) fn failure(&self, reason: impl Display) -> MeasuredFailure {
        let detail = format_args!("find an address for {}: {reason}", self.host);
        MeasuredFailure::new(Failure::BootstrapFailed, detail)
    }
}
