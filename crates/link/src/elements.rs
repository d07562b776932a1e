//! What a packet meets on its way, each a pure model in virtual time: time comes in as an
//! argument, randomness from a seeded stream of its own. Not for: their order (that is `model`), nor
//! carrying packets.

pub mod burst_loss;
pub mod codel;
pub mod cross_traffic;
pub mod delay;
pub mod droptail;
pub mod far;
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
