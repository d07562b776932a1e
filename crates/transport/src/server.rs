//! Server role: certificate authority, ticket policies, and handshakes over TCP and QUIC. The
//! handshakes record facts (`HandshakeFacts`), including early data.
//!
//! For: accepting encrypted connections for names of the lab.
//! Not for: the protocols on the connections, and not for listening: callers own the accept loops.

mod address_tokens;
mod authority;
mod black_hole;
mod byte_counts;
mod client_hello;
mod facts;
mod flight_table;
mod hello_watch;
mod plain_stream;
mod policies;
mod quic;
mod quic_control;
mod quic_session;
mod quic_socket;
mod resumption_detector;
mod tcp_listener;
mod tickets;
mod tls_stream;

pub use authority::{AuthorityError, CertificateAuthority, covers};
pub use black_hole::BlackHole;
pub use byte_counts::ByteCounts;
pub use client_hello::{ClientHello, HelloProgress, RecordReader};
pub use facts::HandshakeFacts;
pub use plain_stream::PlainStream;
pub use policies::{ServerPolicies, TicketTerms};
pub use quic::{INITIAL_WINDOW_BYTES, QuicArrival, QuicListener, QuicSettings};
pub use quic_control::QuicControl;
pub use tcp_listener::listen_tcp;
pub use tls_stream::TlsStream;
