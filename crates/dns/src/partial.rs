//! Partial responses (Hounsel et al., WWW 2020, section 5): several questions in one message. The
//! answers leave as soon as they are known, in as many messages as needed
//! (docs/formats/partial-responses.md).
//!
//! Contains the client's and the server's end, both without I/O. RFC 9619 allows one question in a
//! message. Therefore a server sends partial responses only to clients announcing support, and only
//! servers with support send them. Not for: sending and receiving (the transports and the edge).

mod client;
mod entries;
mod server;
#[cfg(test)]
mod tests;

pub use client::{AnswerCollection, QuestionAnswer, UnmatchedResponse};
pub use server::{CombinedResponse, LengthLimits, MultiQuestionMessage};

/// EDNS(0) option of both directions: from the range for local use (RFC 6891 section 9).
pub const OPTION: u16 = 65_421;
/// The version of the option's contents.
pub const VERSION: u8 = 1;
/// The maximum number of questions in a message.
pub const QUESTIONS_MAX_COUNT: usize = 64;
/// The media type of several messages in an HTTP body. A length precedes each message, as over TCP.
pub const MEDIA_TYPE: &str = "application/vnd.resolab.dns-messages";
