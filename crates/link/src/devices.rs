//! What packets come out of and go into: a TUN device or a packet socket per host, with what the
//! kernel left undone on a packet. Not for: when a packet goes on (that is `carrying`).

#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub mod arrival;
pub mod device;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub mod offload;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub(crate) mod packet;
pub mod packet_device;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub mod parcel;
