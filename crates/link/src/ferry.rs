//! The ferry: one thread that reads packets from the two hosts' devices, asks the model what
//! becomes of them, and writes them to the other host when they are due. It sleeps on an absolute
//! timer (no busy waiting) and takes requests from a controlling thread between packets.
//! Not for: any decision about a packet's fate, nor for standard input or output.

use crate::clock::monotonic_ns;
use crate::device::Device;
use crate::far::FarServers;
use crate::hosts::{HOSTS, Host};
use crate::lane::Lane;
use crate::model::DirectionModel;
use crate::trace::{TraceError, Traces};
use crate::window::Window;
use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use resolab_record::LinkProfile;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use thiserror::Error;

/// Packets read from one device before the other gets its turn.
const BATCH_COUNT: usize = 64;

/// The instrument broke; messages read after "failed to".
#[derive(Debug, Error)]
pub enum FerryError {
    /// Set-up or waiting.
    #[error("wait for packets: {0}")]
    Wait(#[from] Errno),
    /// A trace that was there when the profile was checked.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// A device that stood is gone or down.
    #[error("read from the {host} host's device: {error}; did a program inside change it?")]
    Device {
        /// Whose.
        host: &'static str,
        /// Why.
        error: Errno,
    },
    /// The other thread is gone.
    #[error("reach the ferry thread: it has ended")]
    Gone,
}

enum Request {
    Summary(Box<Window>),
    Change(Box<LinkProfile>, Traces, Option<u64>),
    Stop,
}

/// The answer to a request: when it was carried out, and the window closed if one was.
struct Reply {
    at_ns: u64,
    closed: Option<Box<Window>>,
}

/// The controlling thread's end.
#[derive(Debug)]
pub struct FerryControl {
    requests: Sender<Request>,
    replies: Receiver<Reply>,
    wake: Arc<EventFd>,
}

impl FerryControl {
    /// Close the window and begin another; returns the closed one and when that was.
    pub fn close_window(&self) -> Result<(Box<Window>, u64), FerryError> {
        let reply = self.ask(Request::Summary(Box::default()))?;
        Ok((reply.closed.unwrap_or_default(), reply.at_ns))
    }

    /// Put another profile (checked and complete) in force; returns when that was.
    pub fn change_profile(
        &self,
        profile: LinkProfile,
        seed: Option<u64>,
    ) -> Result<u64, FerryError> {
        let traces = Traces::load(&profile)?;
        let request = Request::Change(Box::new(profile), traces, seed);
        Ok(self.ask(request)?.at_ns)
    }

    /// End the ferry.
    pub fn stop(&self) {
        // If it has ended already, all is well.
        let _ = self.ask(Request::Stop);
    }

    fn ask(&self, request: Request) -> Result<Reply, FerryError> {
        self.requests.send(request).map_err(|_| FerryError::Gone)?;
        self.wake.write(1)?;
        self.replies.recv().map_err(|_| FerryError::Gone)
    }
}

/// Where an event came from, as epoll's user data.
const CLIENT_DEVICE: u64 = 0;
const SERVER_DEVICE: u64 = 1;
const TIMER: u64 = 2;
const REQUEST: u64 = 3;
const SIGNAL: u64 = 4;

/// The ferry, to be run on the thread that was made punctual.
#[derive(Debug)]
pub struct Ferry {
    client_device: Device,
    server_device: Device,
    up: Lane,
    down: Lane,
    window: Box<Window>,
    epoll: Epoll,
    timer: TimerFd,
    armed_for_ns: Option<u64>,
    signals: SignalFd,
    wake: Arc<EventFd>,
    requests: Receiver<Request>,
    replies: Sender<Reply>,
}

/// The signals that end a path in good order; to be blocked before any thread or child is made.
pub fn ending_signals() -> SigSet {
    [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP]
        .into_iter()
        .collect()
}

impl Ferry {
    /// Between two devices, by a complete profile.
    pub fn new(
        client_device: Device,
        server_device: Device,
        profile: &LinkProfile,
        seed: u64,
    ) -> Result<(Self, FerryControl), FerryError> {
        let traces = Traces::load(profile)?;
        let mut up = DirectionModel::with_trace(&profile.up, traces.up, "up", seed);
        let mut down = DirectionModel::with_trace(&profile.down, traces.down, "down", seed);
        for model in [&mut up, &mut down] {
            model.far = FarServers::new(profile.far.as_deref().unwrap_or_default());
        }
        let (request_sender, requests) = channel();
        let (replies, reply_receiver) = channel();
        let wake_flags = EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK;
        let wake = Arc::new(EventFd::from_flags(wake_flags)?);
        let signal_flags = SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK;
        let timer_flags = TimerFlags::TFD_CLOEXEC | TimerFlags::TFD_NONBLOCK;
        let ferry = Self {
            client_device,
            server_device,
            up: Lane::new(up),
            down: Lane::new(down),
            window: Box::new(Window {
                started_ns: monotonic_ns(),
                ..Window::default()
            }),
            epoll: Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?,
            timer: TimerFd::new(ClockId::CLOCK_MONOTONIC, timer_flags)?,
            armed_for_ns: None,
            signals: SignalFd::with_flags(&ending_signals(), signal_flags)?,
            wake: Arc::clone(&wake),
            requests,
            replies,
        };
        ferry.watch()?;
        Ok((
            ferry,
            FerryControl {
                requests: request_sender,
                replies: reply_receiver,
                wake,
            },
        ))
    }

    fn watch(&self) -> Result<(), Errno> {
        let readable = |source| EpollEvent::new(EpollFlags::EPOLLIN, source);
        self.epoll
            .add(&self.client_device, readable(CLIENT_DEVICE))?;
        self.epoll
            .add(&self.server_device, readable(SERVER_DEVICE))?;
        self.epoll.add(&self.timer, readable(TIMER))?;
        self.epoll.add(&*self.wake, readable(REQUEST))?;
        self.epoll.add(&self.signals, readable(SIGNAL))
    }

    /// Carry packets until told to stop or signalled to end.
    pub fn run(mut self) -> Result<(), FerryError> {
        let mut events = [EpollEvent::empty(); 8];
        loop {
            self.deliver_due(monotonic_ns());
            self.arm_timer()?;
            let count = match self.epoll.wait(&mut events, EpollTimeout::NONE) {
                Ok(count) => count,
                Err(Errno::EINTR) => continue,
                Err(error) => return Err(error.into()),
            };
            for event in &events[..count] {
                match event.data() {
                    CLIENT_DEVICE => self.drain(Host::Client)?,
                    SERVER_DEVICE => self.drain(Host::Server)?,
                    TIMER => self.timer_rang(),
                    REQUEST if self.serve_requests() => return Ok(()),
                    SIGNAL => return Ok(()),
                    _ => {}
                }
            }
        }
    }

    fn deliver_due(&mut self, now_ns: u64) {
        let now_ns = self
            .up
            .deliver_due(now_ns, &mut self.server_device, &mut self.window.up);
        self.down
            .deliver_due(now_ns, &mut self.client_device, &mut self.window.down);
    }

    fn next_due_ns(&self) -> Option<u64> {
        [self.up.next_due_ns(), self.down.next_due_ns()]
            .into_iter()
            .flatten()
            .min()
    }

    fn arm_timer(&mut self) -> Result<(), Errno> {
        let wanted = self.next_due_ns();
        if wanted == self.armed_for_ns {
            return Ok(());
        }
        self.armed_for_ns = wanted;
        let Some(due_ns) = wanted else {
            return self.timer.unset();
        };
        let due = TimeSpec::new(
            (due_ns / 1_000_000_000) as i64,
            (due_ns % 1_000_000_000) as i64,
        );
        self.timer.set(
            Expiration::OneShot(due),
            TimerSetTimeFlags::TFD_TIMER_ABSTIME,
        )
    }

    fn timer_rang(&mut self) {
        self.armed_for_ns = None;
        // Reading makes it quiet; setting it anew may have done so already.
        let _ = self.timer.wait();
    }

    /// Read what `host` sent, up to a batch, delivering in between whatever falls due.
    fn drain(&mut self, host: Host) -> Result<(), FerryError> {
        for _ in 0..BATCH_COUNT {
            let device = match host {
                Host::Client => &mut self.client_device,
                Host::Server => &mut self.server_device,
            };
            let received = device.receive().map_err(|error| FerryError::Device {
                host: host.name(),
                error,
            })?;
            let Some(arrival) = received else {
                break;
            };
            let (now_ns, packet) = (arrival.at_ns, arrival.packet);
            self.window.tap.count(host, now_ns, packet);
            let lane = match host {
                Host::Client => &mut self.up,
                Host::Server => &mut self.down,
            };
            lane.take(now_ns, host, packet, self.window.counts_mut(host));
            if self.next_due_ns().is_some_and(|due_ns| due_ns <= now_ns) {
                self.deliver_due(now_ns);
            }
        }
        Ok(())
    }

    /// Carry out what the controlling thread asked for; returns whether that was to stop.
    fn serve_requests(&mut self) -> bool {
        let _ = self.wake.read();
        while let Ok(request) = self.requests.try_recv() {
            let at_ns = monotonic_ns();
            let (closed, stop) = match request {
                Request::Summary(fresh) => (Some(self.begin_window(fresh, at_ns)), false),
                Request::Change(profile, traces, seed) => {
                    self.up.model.change_over(&profile.up, traces.up, seed);
                    let down = &mut self.down.model;
                    down.change_over(&profile.down, traces.down, seed);
                    let far = profile.far.as_deref().unwrap_or_default();
                    self.up.model.far.change(far);
                    self.down.model.far.change(far);
                    (None, false)
                }
                Request::Stop => (None, true),
            };
            // If nobody listens any more, the answer is not needed.
            let _ = self.replies.send(Reply { at_ns, closed });
            if stop {
                return true;
            }
        }
        false
    }

    fn begin_window(&mut self, mut fresh: Box<Window>, at_ns: u64) -> Box<Window> {
        fresh.started_ns = at_ns;
        for host in HOSTS {
            let device = match host {
                Host::Client => &mut self.client_device,
                Host::Server => &mut self.server_device,
            };
            // A socket that cannot be asked has an error that ends the ferry when it is read.
            let drops_count = device.new_drops_count().unwrap_or(0);
            self.window.counts_mut(host).dropped_by_device(drops_count);
        }
        std::mem::replace(&mut self.window, fresh)
    }
}
