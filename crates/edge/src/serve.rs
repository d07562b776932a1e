//! The edge's listeners, and a module for each protocol to read, answer and record.
//!
//! Not for: the content of the answers (`answer`, `http`, `site`).

mod datagrams;
mod deadlines;
mod doq;
mod early_messages;
mod exchange;
mod framed;
mod h1;
mod h1_body;
mod h1_stream;
mod h2;
mod h3;
mod http_record;
mod listener;
mod private_alpn;
mod quic;
mod request_body;
mod service_end;
mod tcp;
mod udp;

pub use listener::{ListenError, ListenerSpec, Listeners};
