//! What packets come out of and go into: a TUN device or a packet socket per host, with what the
//! kernel left undone on a packet. Not for: when a packet goes on (that is `carrying`).

pub mod arrival;
pub mod device;
pub mod offload;
pub(crate) mod packet;
pub mod packet_device;
pub mod parcel;
