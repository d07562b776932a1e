//! Partial responses (Hounsel et al., WWW 2020, section 5): several questions in one message, whose
//! answers leave as they are known, in as many messages as that takes (docs/formats/partial-responses.md).
//! Both ends of it, pure. RFC 9619 allows one question in a message: only who says that it takes
//! partial responses is answered like this, and only by whom knows them.
//! Not for: sending and receiving; that is for the transports and the edge.

mod combining;
mod entries;
mod gathering;
#[cfg(test)]
mod tests;

pub use combining::{Combined, Room, Several};
pub use gathering::{Gathering, NoPart, Part};

/// EDNS(0) option of both directions: from the range for local use (RFC 6891 section 9).
pub const OPTION: u16 = 65_421;
/// Version of what the option says.
pub const VERSION: u8 = 1;
/// Questions a message can have at most.
pub const QUESTIONS_MAX_COUNT: usize = 64;
/// Media type of several messages in an HTTP body, each behind its length as over TCP.
pub const MEDIA_TYPE: &str = "application/vnd.resolab.dns-messages";
