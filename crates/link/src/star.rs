//! A small internet: many hosts, each joined by an access link to a single hub. Made for
//! repeating measurements of the real internet at known distances. IPv4 only. Not for: a single
//! access link in every detail (see `path` and `model`).
//!
//! A packet from host a to an address of host b meets a's loss, queue and rate. The delay follows:
//! a's one-way delay, the extra delays of both addresses' prefixes, and b's one-way delay. At last
//! the packet meets b's loss, queue and rate.

pub mod config;
pub mod control;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub mod counts;
pub mod hosts;
pub mod hub;
mod hub_observer;
mod hub_traffic;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub mod model;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub mod prefix;
mod transit_queue;

pub use hosts::{Star, StarError};
