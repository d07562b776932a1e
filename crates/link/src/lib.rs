//! The emulated access link: two hosts (network namespaces) joined by a modelled link, in one
//! process and without privileges where the kernel allows it.
//!
//! For: making the hosts, moving packets between them by a pure virtual-time model, proving how
//! late the moving was, counting what passed, and running programs inside.
//! Not for: any protocol above IP, except that the tap recognises QUIC long headers.
//!
//! How it fits together: [`profile`] says what the link is like; [`model`] (made of [`loss`],
//! [`burst_loss`], [`droptail`], [`codel`], [`cross_traffic`], [`link_rate`], [`delay`], [`jitter`], [`far`]) turns that into fates of packets; [`path`] makes the hosts
//! ([`namespace`], [`tun`], [`netlink`], [`anchor`]); [`ferry`] carries packets between
//! two [`device`]s by the model, changed by a [`timetable`], and writes down in a [`window`] what it did ([`histogram`], [`tap`]); [`enter`] runs programs in a
//! host of a path that stands. [`netem`] makes the link of the kernel's disciplines instead.
//! [`burst_loss`], [`droptail`], [`codel`], [`cross_traffic`], [`link_rate`], [`delay`], [`jitter`],
//! [`far`]) turns that into fates of packets; [`path`] makes the hosts ([`namespace`], [`tun`],
//! [`netlink`], [`anchor`]); [`ferry`] carries packets between two [`device`]s by the model, changed
//! by a [`timetable`], and writes down in a [`window`] what it did ([`histogram`], [`tap`],
//! [`capture`]); [`enter`] runs programs in a host of a path that stands; [`probe`] measures one from
//! outside its ferry.

pub mod anchor;
pub mod burst_loss;
pub mod capture;
pub mod clock;
pub mod codel;
pub mod cross_traffic;
pub mod delay;
pub mod device;
pub mod droptail;
pub mod enter;
pub mod far;
pub mod ferry;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing;
pub mod histogram;
pub mod hosts;
mod interface;
pub mod jitter;
pub mod keep_awake;
mod lane;
mod link;
pub mod link_rate;
pub mod loss;
pub mod model;
pub mod namespace;
pub mod netem;
pub mod netlink;
pub mod offload;
mod packet;
pub mod packet_device;
pub mod parcel;
pub mod path;
mod pcapng;
pub mod probe;
pub mod profile;
mod profile_check;
pub mod queue_limit;
mod quic;
pub mod random;
pub mod rate;
mod rehearsal;
pub mod schedule;
pub mod spread;
pub mod tap;
pub mod timetable;
pub mod trace;
pub mod trace_rate;
pub mod tun;
mod wake_lead;
pub mod window;
