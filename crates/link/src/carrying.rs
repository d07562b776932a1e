//! Moving packets between the two devices as the model says, and proving how late the moving was.
//! Not for: what the model says (that is `model`).

pub mod ferry;
pub mod histogram;
pub mod keep_awake;
pub(crate) mod lane;
pub(crate) mod link;
pub mod punctual;
pub(crate) mod rehearsal;
pub mod timetable;
pub(crate) mod wake_lead;
pub mod window;
