//! One query from the moment it is wanted to its record: asked on a connection, opened first where
//! needed, within its deadline. Not for: sharing connections among queries; that is `upstream`.

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
