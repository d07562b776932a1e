//! Server role: certificate authority, ticket policies, and handshakes over TCP and QUIC that leave
//! behind what happened (`HandshakeFacts`), early data included.
//!
//! For: anything that accepts encrypted connections for names of the lab.
//! Not for: what is spoken on them, and not for listening: callers own the accept loops.

mod authority;
mod client_hello;
mod facts;
mod policies;
mod quic;
mod quic_session;
mod tcp_listener;
mod tickets;
mod tls_stream;
mod witness;

pub use authority::{AuthorityError, CertificateAuthority};
pub use client_hello::{ClientHello, Progress};
pub use facts::HandshakeFacts;
pub use policies::ServerPolicies;
pub use quic::{QuicArrival, QuicListener, QuicSettings};
pub use tcp_listener::listen_tcp;
pub use tls_stream::TlsStream;
