//! The elements on a packet's path, each a pure model in virtual time. Time is an argument; every
//! element draws from a separate seeded random stream. Not for: the elements' order (see `model`),
//! nor carrying packets.

pub mod burst_loss;
pub mod codel;
pub mod cross_traffic;
pub mod delay;
pub mod droptail;
pub mod far_servers;
pub mod jitter;
pub mod link_rate;
pub mod loss;
pub mod policer;
pub mod queue_limit;
pub mod random;
pub mod rate;
pub mod spread;
pub mod trace;
pub mod trace_rate;
