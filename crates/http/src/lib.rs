//! Timed HTTP exchanges over HTTP/2 or HTTP/3, and HTTP/3's transport for both roles.
//!
//! For: requests on a connection somebody else opened and timed; what a connection may be used for
//! beside its own name; telling DoQ from HTTP/3 on a connection that has both.
//! Not for: opening connections (`resolab-transport`), what the bodies mean (`resolab-dns`).

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
/// Why an exchange failed that a connection closing in good order did not take.
const GOAWAY_CAME: &str = "the server sent GOAWAY";

/// Largest head that is taken: of a response by the clients here, of a request by those who pass
/// requests on.
pub const HEAD_MAX_BYTES: u32 = 65_536;

/// Is handed each piece of a response's body as it comes, with the head.
pub type PieceObserver<'a> = dyn FnMut(&http::Response<()>, &[u8]) + Send + 'a;
