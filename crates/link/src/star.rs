//! An internet in small: many hosts, each with a way of its own to one exchange where all meet. Made
//! for measuring what is measured on the real one, at known distances. IPv4 only.
//! Not for: one access link in every detail (that is `path` and `model`).
//!
//! A packet from host a to an address of host b meets a's loss, queue and rate, then takes a's one way
//! delay, what the prefixes of both its addresses have beyond it, and b's, then meets b's loss, queue
//! and rate.

mod cargo;
pub mod config;
pub mod control;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub mod counts;
pub mod exchange;
pub mod hosts;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub mod model;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub mod prefix;
mod seen;
mod traffic;

pub use hosts::{Star, StarError};
