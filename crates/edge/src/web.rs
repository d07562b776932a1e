//! The web side: sites, and their answers.
//!
//! For: content and HTTP semantics. Not for: connections and streams (`serve`).

mod ahead;
pub mod body;
pub mod conditions;
mod content;
mod cors;
pub mod encoding;
mod folder;
mod generated;
pub mod names;
mod pages;
mod resource;
mod response;
pub mod server_time;
pub mod settings;
mod site;

pub use ahead::Ahead;
pub use body::Body;
pub use pages::reply_page;
pub use site::Site;
