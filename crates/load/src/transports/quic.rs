//! Load over QUIC: connections that are kept, and slots that each have one query under way. What a
//! query is on a stream is the protocol's: `doq`, `doh3`.

mod connector;
mod lane;
mod pacer;
mod protocol;
mod run;
mod sending;
mod slot;
mod worker;

pub use protocol::{QuicProtocol, Trouble};
pub use run::run;
