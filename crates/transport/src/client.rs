//! Client side of TCP, TLS over TCP and QUIC. Connections log the instants of their set-up and the
//! negotiated parameters.
//!
//! For: opening a connection to a resolver or server with the requested handshake mode.
//! Not for: the data on the connection, nor for pooling connections.

mod address_tokens;
mod certificate_check;
mod certificate_names;
mod failure;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing;
mod handshake_failure;
mod hello_watch;
mod key_log;
mod observed_session;
mod path_facts;
mod pinning;
#[cfg_attr(not(feature = "qlog"), path = "client/qlog_missing.rs")]
mod qlog;
mod quic;
mod rejected_streams;
mod server_hello;
mod setup;
mod tcp;
mod tcp_end;
mod tcp_options;
mod tickets;
mod tls;
mod tls_config;
mod trust;
mod verified_chain;
mod watched_tcp;

pub use address_tokens::ClientAddressTokens;
pub use certificate_names::{certificate_covers, leaf_covers};
pub use failure::{MeasuredFailure, one_line};
pub use handshake_failure::{AlpnMismatch, handshake_failure};
pub use hello_watch::HelloWatch;
pub use observed_session::observed;
pub use path_facts::PathFacts;
pub use pinning::{PinError, Sha256};
pub use qlog::{QlogFolder, QlogFolderError};
pub use quic::{QuicClient, QuicConnection, QuicEndpoint, has_no_common_protocol, quic_failure};
pub use rejected_streams::StreamGuard;
pub(crate) use server_hello::{ServerHello, ServerHelloReader};
pub use setup::{Handshake, SetupLog, TimedPhase};
pub use tcp::{ClientTcpStream, connect as connect_tcp, is_unreachable, tcp_connect_failure};
pub use tcp_end::TcpEnd;
pub use tcp_options::TcpOptions;
pub use tickets::ClientTicketStore;
pub use tls::{
    ClientTlsStream, connect as connect_tls, connect_for_bodies as connect_tls_for_bodies,
    connect_for_messages as connect_tls_for_messages, stream_failure,
};
pub(crate) use tls_config::iana_name;
pub use tls_config::{TlsClient, TlsConfigError};
pub use trust::{Trust, TrustError};
