//! DNS messages, one client per transport, resolver addresses, and the stub.
//!
//! For: asking a resolver a question and recording every phase of the query; forwarding other
//! programs' questions over an encrypted transport. Not for: recursion, caching, or serving zones
//! (`resolab-edge`).

pub mod bootstrap;
pub mod client;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub mod edns;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub mod iana;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub mod message;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub mod partial;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub mod presentation;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub mod question;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub mod resolver_address;
pub mod stub;

mod connection_use;
mod exchange;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing;
mod kernel_stamps;
mod query;
pub mod questions_probe;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
mod stamp;
mod transports;
mod upstream;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
mod zoned_address;

pub use bootstrap::look_up::{ResolverLocation, ResolverLookUp};
pub use client::{ClientError, ClientOptions, DnsClient, ForgetScope};
pub use edns::client_subnet::ClientSubnet;
pub use edns::{EdnsOptions, Padding};
pub use exchange::ExchangeLog;
pub use query::{PendingQuery, QueryAnswer, QueryOutcome, SessionSlot, TICKET_SLACK};
pub use question::Question;
pub use resolab_record::DohMethod;
pub use resolver_address::ResolverAddress;
pub use stamp::StampError;
pub use transports::doh3::Doh3Session;
pub use transports::doq::DoqSession;
pub use transports::doq_beside_h3;
pub use transports::http_message::{BODY_MAX_BYTES, DnsBody, RequestTemplate};
pub use transports::retry::UdpRetryPolicy;
pub use transports::session;
pub use upstream::{ConnectionPolicy, MessagePosition, Upstream, UpstreamOutcome};
pub use zoned_address::ZonedAddress;
