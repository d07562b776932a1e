//! A host's device as the kernel keeps it: brought up, given addresses and routes, asked what it
//! dropped. Not for: what it reads and writes (that is `devices`).

use crate::hosts::DEVICE_NAME;
use crate::netlink::{Netlink, RouteKind};
use nix::errno::Errno;
use nix::net::if_::if_nametoindex;
use std::net::IpAddr;

/// Transmit queue of the devices, in packets. The default of 500 drops packets before we read them
/// when TCP sends a burst (mahimahi issue 132).
const QUEUE_PACKETS: u32 = 10_000;

/// The device that leads away from a host.
#[derive(Debug)]
pub struct HostDevice {
    netlink: Netlink,
    index: u32,
    loopback: u32,
    reported_drops_count: u64,
}

/// A step the kernel refused.
#[derive(Debug, Clone, Copy)]
pub struct Refused {
    /// What was tried.
    pub step: &'static str,
    /// Why not.
    pub error: Errno,
}

impl HostDevice {
    /// Of the network namespace this thread is in, which has the device: bring it and loopback up.
    pub fn bring_up(mtu_bytes: u32) -> Result<Self, Refused> {
        let step = |step| move |error| Refused { step, error };
        let mut netlink = Netlink::open().map_err(step("rtnetlink"))?;
        let loopback = if_nametoindex("lo").map_err(step("loopback"))?;
        let index = if_nametoindex(DEVICE_NAME).map_err(step("device"))?;
        netlink.set_up(loopback).map_err(step("loopback up"))?;
        netlink
            .clear_multicast(index)
            .map_err(step("no multicast"))?;
        netlink
            .set_sizes(index, mtu_bytes, QUEUE_PACKETS)
            .map_err(step("MTU and queue"))?;
        netlink.set_up(index).map_err(step("device up"))?;
        Ok(Self {
            netlink,
            index,
            loopback,
            reported_drops_count: 0,
        })
    }

    /// Give it an address.
    pub fn add_address(&mut self, address: IpAddr, prefix: u8) -> Result<(), Errno> {
        self.netlink.add_address(self.index, address, prefix)
    }

    /// Send what is for this network, or for everything beyond the others (length 0), through it.
    pub fn lead_to(&mut self, network: IpAddr, prefix: u8) -> Result<(), Errno> {
        self.netlink
            .add_route(self.index, RouteKind::Unicast, network, prefix)
    }

    /// Deliver what is for this network here, as if each of its addresses were the host's.
    pub fn keep_here(&mut self, network: IpAddr, prefix: u8) -> Result<(), Errno> {
        self.netlink
            .add_route(self.loopback, RouteKind::Local, network, prefix)
    }

    /// Change its MTU.
    pub fn set_mtu(&mut self, mtu_bytes: u32) -> Result<(), Errno> {
        self.netlink.set_sizes(self.index, mtu_bytes, QUEUE_PACKETS)
    }

    /// Packets the host sent that it dropped before they were read, since this was last asked.
    pub fn new_drops_count(&mut self) -> Result<u64, Errno> {
        let total = self.netlink.tx_dropped_count(self.index)?;
        let new = total.saturating_sub(self.reported_drops_count);
        self.reported_drops_count = total;
        Ok(new)
    }
}
