//! The emulated access link: two hosts (network namespaces) joined by a modelled link, in one
//! process and without privileges where the kernel permits.
//!
//! For: making the hosts, moving packets between them by a pure virtual-time model, measuring the
//! lateness of each move, counting packets, and running programs inside. Not for: any protocol
//! above IP, except for the tap's recognition of QUIC long headers.
//!
//! The rooms, from the ground up:
//!
//! | room | content |
//! |---|---|
//! | [`elements`] | the elements on a packet's path, each a pure model: loss, policer, queue, rate, delay, jitter, far servers |
//! | [`profile`] | the parameters of a link: read from TOML, checked, completed |
//! | [`model`] | the elements in order: turns a profile into fates of packets |
//! | [`hosts`] | the two hosts: names and addresses, namespaces, TUN devices, anchor processes |
//! | [`netlink`] | the kernel's socket for interfaces, addresses and routes |
//! | [`devices`] | the sources and sinks of packets: TUN or packet socket, trains of segments |
//! | [`observation`] | the tap, captures, recognising QUIC packet types |
//! | [`datapath`] | the forwarder between the devices, the schedule of changes, the window of records |
//! | [`path`] | a whole path: hosts, devices and forwarder, made and taken down |
//! | [`star`] | a small internet: many hosts joined by a single hub |
//! | `netem` | the same hosts joined by the kernel's disciplines instead (feature `netem`) |
//! | [`enter`] | running programs in a host of a running path |
//! | [`relay`] | a host behind slirp4netns, for users without the right to bind port 53 |
//! | [`probe`] | measuring a path from outside the forwarder |

pub mod clock;
pub mod datapath;
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
#[cfg(feature = "netem")]
pub mod netem;
pub mod netlink;
pub mod observation;
pub mod path;
pub mod probe;
#[deny(clippy::disallowed_methods)] // pure: time is an argument
pub mod profile;
pub mod relay;
pub mod star;
