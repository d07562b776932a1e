//! Packets that came before a change of the link and are read after it, on real devices: only those
//! know when a packet came. Nothing here waits for a time to pass.

use super::*;
use crate::devices::packet_device::far_side::FarNamespace;
use crate::hosts::namespace;
use crate::path;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CloneFlags, unshare};
use resolab_record::{DirectionProfile, ScheduledChange};
use std::net::UdpSocket;
use std::os::fd::AsFd;

const MTU_BYTES: u32 = 1_500;
const PORT: u16 = 9;

/// Two hosts and a forwarder that does only what it is told.
struct Hosts {
    forwarder: PacketForwarder,
    control: ForwarderControl,
    client: UdpSocket,
    server: UdpSocket,
}

impl Hosts {
    /// Moves this thread into the last one's namespace; `None` without the right to make them.
    fn new(profile: &LinkProfile) -> Option<Self> {
        let far_side = FarNamespace::enter(MTU_BYTES as usize);
        if far_side.is_err() && !nix::unistd::geteuid().is_root() {
            eprintln!("skipped: no right to make a network namespace");
            return None;
        }
        let mut far_side = far_side.unwrap();
        let [(client_end, client), (server_end, server)] = HOSTS.map(|host| {
            unshare(CloneFlags::CLONE_NEWNET).unwrap();
            namespace::configure_network(false);
            let end = Device::Packet(far_side.make_device(host).unwrap());
            path::make_device(host, MTU_BYTES, false).unwrap();
            (end, UdpSocket::bind((host.address(), PORT)).unwrap())
        });
        let (forwarder, control) =
            PacketForwarder::new(client_end, server_end, profile, 1).unwrap();
        Some(Self {
            forwarder,
            control,
            client,
            server,
        })
    }

    /// A packet of `host` comes, and is not read.
    fn send(&self, host: Host) {
        let (socket, peer, device) = match host {
            Host::Client => (&self.client, Host::Server, &self.forwarder.client),
            Host::Server => (&self.server, Host::Client, &self.forwarder.server),
        };
        socket.send_to(b"x", (peer.address(), PORT)).unwrap();
        let mut readable = [PollFd::new(device.as_fd(), PollFlags::POLLIN)];
        assert_eq!(poll(&mut readable, PollTimeout::from(5_000_u16)), Ok(1));
    }

    fn send_both(&self) {
        for host in HOSTS {
            self.send(host);
        }
    }

    /// What the forwarder does when it is woken, the server's packets last.
    fn carry(&mut self) {
        for host in HOSTS {
            self.forwarder.drain(host).unwrap();
            self.forwarder.deliver_due(monotonic_ns()).unwrap();
        }
    }

    fn start_schedule(&mut self) {
        let now_ns = monotonic_ns();
        self.forwarder.link.start_schedule(now_ns);
        while self.forwarder.link.next_change_ns() > Some(monotonic_ns()) {}
    }

    /// Packets that came from each host, and those of them that the link dropped.
    fn counts(&self) -> [(u64, u64); 2] {
        let window = self.forwarder.link.observer.window();
        [&window.up, &window.down].map(|direction| {
            let summary = direction.summary();
            let dropped_count = summary.dropped_loss_count + summary.dropped_outage_count;
            (summary.packets_in_count, dropped_count)
        })
    }
}

/// Namespaces are a thread's.
fn on_a_thread(test: fn()) {
    std::thread::spawn(test).join().unwrap();
}

fn losing(loss_ratio: f64) -> DirectionProfile {
    DirectionProfile {
        loss_ratio,
        ..DirectionProfile::default()
    }
}

fn profile(loss_ratio: f64, schedule: Option<Vec<ScheduledChange>>) -> LinkProfile {
    LinkProfile {
        name: "x".to_owned(),
        source: "test".to_owned(),
        mtu_bytes: None,
        up: losing(loss_ratio),
        down: losing(loss_ratio),
        far: None,
        schedule,
    }
}

/// A link that loses nothing for a microsecond, then everything.
fn breaking() -> LinkProfile {
    let broken = ScheduledChange {
        after_ms: 0.001,
        up: Some(losing(1.0)),
        down: Some(losing(1.0)),
        ..ScheduledChange::default()
    };
    profile(0.0, Some(vec![broken]))
}

#[test]
fn what_came_before_a_command_meets_what_was_in_force() {
    on_a_thread(|| {
        let Some(mut hosts) = Hosts::new(&profile(0.0, None)) else {
            return;
        };
        hosts.send_both();
        let change = ProfileChange {
            schedule_run: ScheduleRun::load(&profile(1.0, None)).unwrap(),
            far: Vec::new(),
            seed: None,
            start_schedule: false,
        };
        let request = ForwarderRequest::ProfileChange(Box::new(change));
        hosts.control.requests.send(request).unwrap();
        assert!(!hosts.forwarder.serve_requests().unwrap());
        hosts.carry();
        assert_eq!(hosts.counts(), [(1, 0), (1, 0)]);
        hosts.send_both();
        hosts.carry();
        assert_eq!(hosts.counts(), [(2, 1), (2, 1)]);
    });
}

#[test]
fn what_came_before_the_schedule_starts_again_meets_what_was_in_force() {
    on_a_thread(|| {
        let Some(mut hosts) = Hosts::new(&breaking()) else {
            return;
        };
        hosts.start_schedule();
        hosts.send_both();
        hosts
            .control
            .requests
            .send(ForwarderRequest::StartSchedule)
            .unwrap();
        assert!(!hosts.forwarder.serve_requests().unwrap());
        hosts.carry();
        assert_eq!(hosts.counts(), [(1, 1), (1, 1)]);
    });
}

#[test]
fn what_came_before_a_scheduled_change_meets_what_was_in_force() {
    on_a_thread(|| {
        let Some(mut hosts) = Hosts::new(&breaking()) else {
            return;
        };
        hosts.send_both();
        hosts.start_schedule();
        hosts.forwarder.deliver_due(monotonic_ns()).unwrap();
        hosts.carry();
        assert_eq!(hosts.counts(), [(1, 0), (1, 0)]);
        hosts.send_both();
        hosts.carry();
        assert_eq!(hosts.counts(), [(2, 1), (2, 1)]);
    });
}

#[test]
fn what_one_host_sent_before_a_change_is_not_overtaken_by_what_the_other_sent_after_it() {
    on_a_thread(|| {
        let Some(mut hosts) = Hosts::new(&breaking()) else {
            return;
        };
        hosts.send(Host::Server);
        hosts.start_schedule();
        hosts.send(Host::Client);
        hosts.forwarder.drain(Host::Client).unwrap();
        assert_eq!(hosts.counts(), [(0, 0), (0, 0)], "it waits for the change");
        hosts.carry();
        hosts.carry();
        assert_eq!(hosts.counts(), [(1, 1), (1, 0)]);
    });
}
