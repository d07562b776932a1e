//! Load over QUIC: connections kept open, and slots with one query in flight each. The form of a
//! query on a stream belongs to the protocols `doq` and `doh3`.

mod connection_slot;
mod connector;
mod outgoing_query;
mod pacer;
mod protocol;
mod run;
mod slot;
mod worker;

pub use protocol::{LoadExchangeError, QuicProtocol};
pub use run::run;
