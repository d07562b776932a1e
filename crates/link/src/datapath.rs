//! Moves packets between the two devices as the model decides, and measures the lateness of each
//! move. Not for: the model's decisions (see `model`).

pub(crate) mod alarm;
pub(crate) mod cache_warmer;
pub(crate) mod direction_queue;
pub mod forwarder;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub mod histogram;
pub mod keep_awake;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub(crate) mod link;
pub mod realtime_scheduling;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub mod schedule_run;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub(crate) mod wake_lead;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub mod window;
