//! Connections of the browser to the gateway, of every HTTP version: each request is handed on in the
//! order in which it came.
//!
//! Not for: what becomes of requests; that is `exchange`.

mod arrived;
mod down;
mod h1;
mod h2;
mod h3;
mod held;
mod queue;
pub(crate) mod quic;
pub(crate) mod tcp;
mod up;

pub(crate) use arrived::Arrived;
pub(crate) use down::{Down, DownBody};
pub(crate) use held::Leg;
pub(crate) use up::Up;
