//! DNS messages, one client per transport, resolver addresses, and the stub.
//!
//! For: asking one question of one resolver and recording every phase of it; forwarding other
//! programs' questions over an encrypted transport.
//! Not for: recursion, caching, or serving zones (`resolab-edge`).

pub mod bootstrap;
pub mod client;
pub mod cookie;
pub mod edns;
pub mod message;
pub mod question;
pub mod resolver_address;
pub mod session;
pub mod stub;

mod asking;
mod bad_cookie;
mod doh;
mod doh3;
mod doq;
mod dot;
mod dotcp;
mod doudp;
mod exchange;
mod framed;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing;
mod http_message;
mod kernel_stamps;
mod look_up;
mod priming;
mod recording;
mod retry;
mod sent_edns;
mod stamp;
mod upstream;

pub use asking::{Answer, Asking, Outcome, Slot};
pub use client::{ClientError, ClientOptions, DnsClient, DohMethod};
pub use edns::{ClientSubnet, EdnsOptions, Padding};
pub use exchange::ExchangeLog;
pub use look_up::{Location, LookUp};
pub use question::Question;
pub use resolver_address::ResolverAddress;
pub use retry::UdpRetryPolicy;
pub use stamp::StampError;
pub use upstream::{Asked, ConnectionPolicy, Upstream};
