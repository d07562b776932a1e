//! One query from its start to its record: asking on a connection, opening the connection first
//! when needed, and keeping the deadline. Not for: sharing connections among queries (`upstream`).

mod answer;
mod attempt;
mod priming;
mod recording;
mod wanted;

pub use answer::Answer;
pub(crate) use attempt::cut_off;
pub use attempt::{Outcome, Slot};
pub(crate) use priming::TICKET_SLACK;
pub use wanted::Asking;
