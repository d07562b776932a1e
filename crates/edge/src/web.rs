//! The web side: sites, and their answers.
//!
//! For: content and HTTP semantics. Not for: connections and streams (`serve`).

pub mod body;
pub mod conditions;
mod cors;
mod early_messages;
pub mod encoding;
mod folder;
mod generated;
mod media_types;
pub mod names;
mod pages;
mod resource;
mod response;
pub mod server_time;
pub mod settings;
mod site;

pub use body::Body;
pub use early_messages::EarlyMessages;
pub use pages::reply_page;
pub use site::Site;
