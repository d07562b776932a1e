//! Timed HTTP exchanges over HTTP/2 or HTTP/3, and HTTP/3's transport for both roles.
//!
//! For: requests on a connection opened and timed by the caller; a connection's permitted origins
//! beside its own name; separating DoQ from HTTP/3 on a connection with both. Not for: opening
//! connections (`resolab-transport`), the meaning of bodies (`resolab-dns`).

#[deny(clippy::disallowed_methods)] // pure
mod content_length;
#[deny(clippy::disallowed_methods)] // no clock
mod control_stream;
mod go_away;
mod h2_client;
mod h3_client;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
mod origins;
#[deny(clippy::disallowed_methods)] // no clock
mod priorities;
pub mod private_alpn;
pub mod quic_streams;
pub mod streaming;

pub use content_length::ContentLength;
pub use control_stream::{ControlFrames, ControlReader};
pub use h2_client::{H2Client, H2Windows, PAGE_WINDOWS};
pub use h3_client::{H3Client, ResponseTimes};
pub use origins::{Origins, https_origin, origin_frame};
pub use priorities::{PriorityUpdate, PriorityUpdates, RequestPriority};

/// The error code of an orderly end of an HTTP/3 connection (RFC 9114 section 8.1).
pub const H3_NO_ERROR: u32 = 0x0100;
/// The reason for a failed exchange on a connection closing in good order.
const GOAWAY_CAME: &str = "the server sent GOAWAY";

/// Largest accepted head, in bytes: of a response in the clients here, of a request in the gateway.
pub const HEAD_MAX_BYTES: u32 = 65_536;

/// An observer of each piece of a response's body, with the head, on arrival.
pub type PieceObserver<'a> = dyn FnMut(&http::Response<()>, &[u8]) + Send + 'a;
