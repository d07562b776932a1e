//! A host's device in the kernel: bringing the device up, adding addresses and routes, reading drop
//! counters. Not for: the packets read and written (see `devices`).

use crate::hosts::DEVICE_NAME;
use crate::netlink::{Netlink, RouteKind};
use nix::errno::Errno;
use nix::net::if_::if_nametoindex;
use std::net::IpAddr;

/// Transmit queue of the devices, in packets. With the default of 500, TCP bursts lose packets
/// before the forwarder reads them (mahimahi issue 132).
const QUEUE_PACKETS: u32 = 10_000;

/// The device leading away from a host.
#[derive(Debug)]
pub struct HostDevice {
    netlink: Netlink,
    index: u32,
    loopback: u32,
    reported_drops_count: u64,
}

/// A step refused by the kernel.
#[derive(Debug, Clone, Copy)]
pub struct RefusedStep {
    /// Name of the refused step.
    pub step: &'static str,
    /// Error number from the kernel.
    pub error: Errno,
}

impl HostDevice {
    /// Brings up the device and loopback in this thread's network namespace.
    pub fn bring_up(mtu_bytes: u32) -> Result<Self, RefusedStep> {
        let step = |step| move |error| RefusedStep { step, error };
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

    /// Adds an address to the device.
    pub fn add_address(&mut self, address: IpAddr, prefix: u8) -> Result<(), Errno> {
        self.netlink.add_address(self.index, address, prefix)
    }

    /// Routes packets for this network through the device. Length 0 is the default route.
    pub fn add_route(&mut self, network: IpAddr, prefix: u8) -> Result<(), Errno> {
        self.netlink
            .add_route(self.index, RouteKind::Unicast, network, prefix)
    }

    /// Delivers packets for this network here, as for the host's own addresses.
    pub fn add_local_route(&mut self, network: IpAddr, prefix: u8) -> Result<(), Errno> {
        self.netlink
            .add_route(self.loopback, RouteKind::Local, network, prefix)
    }

    /// Changes the device's MTU.
    pub fn set_mtu(&mut self, mtu_bytes: u32) -> Result<(), Errno> {
        self.netlink.set_sizes(self.index, mtu_bytes, QUEUE_PACKETS)
    }

    /// Returns the number of the host's packets dropped by the device before reading, since the
    /// last call.
    pub fn new_drops_count(&mut self) -> Result<u64, Errno> {
        let total = self.netlink.tx_dropped_count(self.index)?;
        let new = total.saturating_sub(self.reported_drops_count);
        self.reported_drops_count = total;
        Ok(new)
    }
}
