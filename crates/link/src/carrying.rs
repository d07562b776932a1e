//! Moves packets between the two devices as the model decides, and measures the lateness of each
//! move. Not for: the model's decisions (see `model`).

pub(crate) mod alarm;
pub mod ferry;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub mod histogram;
pub mod keep_awake;
pub(crate) mod lane;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub(crate) mod link;
pub mod punctual;
pub(crate) mod rehearsal;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub mod timetable;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub(crate) mod wake_lead;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub mod window;
