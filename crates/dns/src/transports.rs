//! One client for each transport, and sessions: the open connections of all transports. Not for:
//! choosing a resolver's transport and preparing TLS (`client`).

pub(crate) mod batch;
pub(crate) mod doh;
pub(crate) mod doh3;
pub(crate) mod doq;
pub mod doq_beside_h3;
pub(crate) mod dot;
pub(crate) mod dotcp;
pub(crate) mod doudp;
pub(crate) mod framed;
pub(crate) mod http_message;
pub(crate) mod retry;
pub mod session;
