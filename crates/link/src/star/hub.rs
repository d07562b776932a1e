//! The hub: a thread reading packets from all hosts' devices, asking the model for each
//! packet's fate, and writing each packet to the receiving host when due. Not for: any decision
//! about a packet's fate (see `model`), nor for standard input or output.

use crate::clock::monotonic_ns;
use crate::datapath::alarm::Alarm;
use crate::datapath::forwarder::ending_signals;
use crate::devices::device::Device;
use crate::observation::capture::{Capture, CaptureError, CaptureReport};
use crate::star::control::{self, HubControl, HubReply, HubRequest, StarControl};
use crate::star::hub_traffic::HubTraffic;
use crate::star::model::StarModel;
use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use thiserror::Error;

/// Packets read from a device before the other devices get a turn.
const BATCH_COUNT: usize = 64;
const EVENTS_COUNT: usize = 64;

/// The instrument broke; messages read after "failed to".
#[derive(Debug, Error)]
pub enum HubError {
    /// The set-up failed, or waiting for packets failed.
    #[error("wait for packets: {0}")]
    Wait(#[from] Errno),
    /// A device disappeared or went down after the set-up.
    #[error("read from the device of host {host}: {error}; did a program inside change it?")]
    Device {
        /// Number of the host.
        host: usize,
        /// Error number from the kernel.
        error: Errno,
    },
    /// The capture's file cannot be written.
    #[error(transparent)]
    Capture(#[from] CaptureError),
}

/// Sources of events, as epoll's user data; smaller numbers are hosts' devices.
const TIMER: u64 = u64::MAX;
const REQUEST: u64 = u64::MAX - 1;
const SIGNAL: u64 = u64::MAX - 2;

/// The hub, to be run on the thread with real-time scheduling.
#[derive(Debug)]
pub struct Hub {
    devices: Vec<Device>,
    traffic: HubTraffic,
    epoll: Epoll,
    alarm: Alarm,
    signals: SignalFd,
    control_end: HubControl,
}

impl Hub {
    /// Makes a hub between the hosts' devices, in the model's order.
    pub fn new(devices: Vec<Device>, model: StarModel) -> Result<(Self, StarControl), Errno> {
        let (control, control_end) = control::pair()?;
        let signal_flags = SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK;
        let hub = Self {
            devices,
            traffic: HubTraffic::new(model, monotonic_ns()),
            epoll: Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?,
            alarm: Alarm::new()?,
            signals: SignalFd::with_flags(&ending_signals(), signal_flags)?,
            control_end,
        };
        hub.watch()?;
        Ok((hub, control))
    }

    fn watch(&self) -> Result<(), Errno> {
        let readable = |source| EpollEvent::new(EpollFlags::EPOLLIN, source);
        for (host, device) in self.devices.iter().enumerate() {
            self.epoll.add(device, readable(host as u64))?;
        }
        let expiry = EpollEvent::new(EpollFlags::EPOLLIN | EpollFlags::EPOLLET, TIMER);
        self.epoll.add(&self.alarm, expiry)?;
        self.epoll.add(&*self.control_end.wake, readable(REQUEST))?;
        self.epoll.add(&self.signals, readable(SIGNAL))
    }

    /// Starts a capture with the first packet, among the hosts in the model's order.
    pub fn capture(&mut self, capture: Capture) {
        self.traffic.observer.capture(capture);
    }

    /// Carries packets until a stop request or an ending signal; returns the report of a capture.
    pub fn run(mut self) -> Result<Option<CaptureReport>, HubError> {
        let carried = self.carry();
        let captured = self.traffic.observer.stop_capture();
        carried?;
        Ok(captured?)
    }

    fn carry(&mut self) -> Result<(), HubError> {
        let mut events = [EpollEvent::empty(); EVENTS_COUNT];
        loop {
            self.deliver_due(monotonic_ns());
            let due_ns = self.traffic.next_due_ns();
            let patience = self.alarm.arm(due_ns, monotonic_ns())?;
            let count = match self.epoll.wait(&mut events, patience) {
                Ok(count) => count,
                Err(Errno::EINTR) => continue,
                Err(error) => return Err(error.into()),
            };
            for event in &events[..count] {
                match event.data() {
                    TIMER => self.alarm.note_wakeup(monotonic_ns()),
                    REQUEST if self.serve_requests() => return Ok(()),
                    REQUEST => {}
                    SIGNAL => return Ok(()),
                    host => self.drain(host as usize)?,
                }
            }
        }
    }

    fn deliver_due(&mut self, now_ns: u64) {
        self.traffic.deliver_due(now_ns, &mut self.devices);
    }

    /// Reads packets sent by a host, up to a batch, and delivers due packets in between.
    fn drain(&mut self, host: usize) -> Result<(), HubError> {
        for _ in 0..BATCH_COUNT {
            let received = self.devices[host].receive();
            let received = received.map_err(|error| HubError::Device { host, error })?;
            let Some(arrival) = received else {
                break;
            };
            let now_ns = arrival.read_ns;
            self.traffic.take(host, &arrival);
            if self
                .traffic
                .next_due_ns()
                .is_some_and(|due_ns| due_ns <= now_ns)
            {
                self.deliver_due(now_ns);
            }
        }
        Ok(())
    }

    /// Carries out the commanding thread's requests; returns true after a stop request.
    fn serve_requests(&mut self) -> bool {
        let _ = self.control_end.wake.read();
        while let Ok(request) = self.control_end.requests.try_recv() {
            let at_ns = monotonic_ns();
            let mut window = None;
            let stops = matches!(request, HubRequest::Stop);
            match request {
                HubRequest::Count(fresh) => {
                    window = Some(self.traffic.observer.begin_window(fresh, at_ns));
                }
                HubRequest::Change(host, change) => self.traffic.change(host, change),
                HubRequest::Stop => {}
            }
            // If nobody listens any more, the answer is not needed.
            let _ = self.control_end.replies.send(HubReply { at_ns, window });
            if stops {
                return true;
            }
        }
        false
    }
}
