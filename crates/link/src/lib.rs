//! The emulated access link: two hosts (network namespaces) joined by a modelled link, in one
//! process and without privileges where the kernel allows it.
//!
//! For: making the hosts, moving packets between them by a pure virtual-time model, proving how
//! late the moving was, counting what passed, and running programs inside.
//! Not for: any protocol above IP, except that the tap recognises QUIC long headers.
//!
//! How it fits together, from the ground up:
//!
//! | room | what it holds |
//! |---|---|
//! | [`elements`] | what a packet meets, each a pure model: loss, policer, queue, rate, delay, jitter, far servers |
//! | [`profile`] | what a link is like: read from TOML, checked, completed |
//! | [`model`] | the elements in their order: turns a profile into fates of packets |
//! | [`hosts`] | the two hosts: names and addresses, namespaces, TUN devices, what keeps them standing |
//! | [`netlink`] | the kernel's socket for interfaces, addresses and routes |
//! | [`devices`] | what packets come out of and go into: TUN or packet socket, trains of segments |
//! | [`seeing`] | the tap, captures, recognising QUIC packet types |
//! | [`carrying`] | the ferry between the devices, its timetable of changes, its window of records |
//! | [`path`] | a whole path: hosts, devices and ferry, made and taken down |
//! | [`star`] | an internet in small: many hosts that meet at one exchange |
//! | [`netem`] | the same hosts joined by the kernel's disciplines instead |
//! | [`enter`] | running programs in a host of a path that stands |
//! | [`relay`] | a host behind slirp4netns, for users who may not bind port 53 |
//! | [`probe`] | measuring a path from outside its ferry |

pub mod carrying;
pub mod clock;
pub mod devices;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub mod elements;
pub mod enter;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing;
pub mod hosts;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub mod model;
pub mod netem;
pub mod netlink;
pub mod path;
pub mod probe;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub mod profile;
pub mod relay;
pub mod seeing;
pub mod star;
