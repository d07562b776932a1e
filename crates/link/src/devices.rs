//! The sources and sinks of packets: a TUN device or a packet socket per host. With each packet
//! goes the work left undone by the kernel. Not for: the packet's departure time (see `datapath`).

#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub mod arrival;
pub mod device;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub mod offload;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub(crate) mod packet;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub mod packet_buffer;
pub mod packet_device;
