//! One client for each transport, and what an open connection of any of them is: a session.
//! Not for: which transport a resolver speaks, and preparing TLS; that is `client`.

pub(crate) mod course;
pub(crate) mod doh;
pub(crate) mod doh3;
pub(crate) mod doq;
pub(crate) mod dot;
pub(crate) mod dotcp;
pub(crate) mod doudp;
pub(crate) mod framed;
pub(crate) mod http_message;
pub(crate) mod retry;
pub mod session;
