//! The exchange: a thread reading packets from all hosts' devices, asking the model for each
//! packet's fate, and writing each packet to the receiving host when due. Not for: any decision
//! about a packet's fate (see `model`), nor for standard input or output.

use crate::carrying::alarm::Alarm;
use crate::carrying::ferry::ending_signals;
use crate::clock::monotonic_ns;
use crate::devices::device::Device;
use crate::seeing::capture::{Capture, CaptureError, CaptureReport};
use crate::star::control::{self, ExchangeControl, Reply, Request, StarControl};
use crate::star::model::StarModel;
use crate::star::traffic::Traffic;
use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use thiserror::Error;

/// Packets read from a device before the other devices get a turn.
const BATCH_COUNT: usize = 64;
const EVENTS_COUNT: usize = 64;

/// The instrument broke; messages read after "failed to".
#[derive(Debug, Error)]
pub enum ExchangeError {
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

/// The exchange, to be run on the thread made punctual before.
#[derive(Debug)]
pub struct Exchange {
    devices: Vec<Device>,
    traffic: Traffic,
    epoll: Epoll,
    alarm: Alarm,
    signals: SignalFd,
    orders: ExchangeControl,
}

impl Exchange {
    /// Makes an exchange between the hosts' devices, in the model's order.
    pub fn new(devices: Vec<Device>, model: StarModel) -> Result<(Self, StarControl), Errno> {
        let (control, orders) = control::pair()?;
        let signal_flags = SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK;
        let exchange = Self {
            devices,
            traffic: Traffic::new(model, monotonic_ns()),
            epoll: Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?,
            alarm: Alarm::new()?,
            signals: SignalFd::with_flags(&ending_signals(), signal_flags)?,
            orders,
        };
        exchange.watch()?;
        Ok((exchange, control))
    }

    fn watch(&self) -> Result<(), Errno> {
        let readable = |source| EpollEvent::new(EpollFlags::EPOLLIN, source);
        for (host, device) in self.devices.iter().enumerate() {
            self.epoll.add(device, readable(host as u64))?;
        }
        let expiry = EpollEvent::new(EpollFlags::EPOLLIN | EpollFlags::EPOLLET, TIMER);
        self.epoll.add(&self.alarm, expiry)?;
        self.epoll.add(&*self.orders.wake, readable(REQUEST))?;
        self.epoll.add(&self.signals, readable(SIGNAL))
    }

    /// Starts a capture with the first packet, among the hosts in the model's order.
    pub fn capture(&mut self, capture: Capture) {
        self.traffic.seen.capture(capture);
    }

    /// Carries packets until a stop request or an ending signal; returns the report of a capture.
    pub fn run(mut self) -> Result<Option<CaptureReport>, ExchangeError> {
        let carried = self.carry();
        let captured = self.traffic.seen.stop_capture();
        carried?;
        Ok(captured?)
    }

    fn carry(&mut self) -> Result<(), ExchangeError> {
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
    fn drain(&mut self, host: usize) -> Result<(), ExchangeError> {
        for _ in 0..BATCH_COUNT {
            let received = self.devices[host].receive();
            let received = received.map_err(|error| ExchangeError::Device { host, error })?;
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
        let _ = self.orders.wake.read();
        while let Ok(request) = self.orders.requests.try_recv() {
            let at_ns = monotonic_ns();
            let mut window = None;
            let stops = matches!(request, Request::Stop);
            match request {
                Request::Count(fresh) => {
                    window = Some(self.traffic.seen.begin_window(fresh, at_ns));
                }
                Request::Change(host, change) => self.traffic.change(host, change),
                Request::Stop => {}
            }
            // If nobody listens any more, the answer is not needed.
            let _ = self.orders.replies.send(Reply { at_ns, window });
            if stops {
                return true;
            }
        }
        false
    }
}
