//! One query from its start to its record: asking on a connection, opening the connection first
//! when needed, and keeping the deadline. Not for: sharing connections among queries (`upstream`).

mod answer;
mod attempt;
mod pending;
mod priming;
mod record;

pub use answer::QueryAnswer;
pub(crate) use attempt::deadline_failure;
pub use attempt::{QueryOutcome, SessionSlot};
pub use pending::PendingQuery;
pub use priming::TICKET_SLACK;
