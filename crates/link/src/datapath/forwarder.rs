//! The forwarder: a thread reading packets from the two hosts' devices, asking the model for each
//! packet's fate, and writing each packet to the other host when due. The forwarder sleeps on an
//! absolute timer, set some tens of microseconds before the end of long sleeps. Between packets the
//! forwarder takes requests from a controlling thread. Not for: any decision about a packet's fate,
//! nor for standard input or output.

use crate::clock::monotonic_ns;
use crate::datapath::alarm::Alarm;
use crate::datapath::link::Link;
use crate::datapath::schedule_run::ScheduleRun;
use crate::datapath::window::Window;
use crate::devices::device::Device;
use crate::elements::trace::TraceError;
use crate::hosts::{HOSTS, Host};
use crate::observation::capture::{Capture, CaptureError, CaptureReport};
use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use resolab_record::{FarNetwork, LinkProfile};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use thiserror::Error;

/// Packets read from a device before the other device gets a turn.
const BATCH_COUNT: usize = 64;

/// The instrument broke; messages read after "failed to".
#[derive(Debug, Error)]
pub enum ForwarderError {
    /// The set-up failed, or waiting for packets failed.
    #[error("wait for packets: {0}")]
    Wait(#[from] Errno),
    /// A trace can no longer be read, although present when the profile was checked.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// A device disappeared or went down after the set-up.
    #[error("read from the {host} host's device: {error}; did a program inside change it?")]
    Device {
        /// Name of the device's host.
        host: &'static str,
        /// Error number from the kernel.
        error: Errno,
    },
    /// The capture's file cannot be written.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// The other thread is gone.
    #[error("reach the ferry thread: it has ended")]
    Gone,
}

enum ForwarderRequest {
    Summary(Box<Window>),
    ProfileChange(Box<ProfileChange>),
    StartSchedule,
    /// Replaces the running capture, if any.
    Capture(Option<Box<Capture>>),
    Stop,
}

/// Another profile to put in force.
struct ProfileChange {
    schedule_run: ScheduleRun,
    far: Vec<FarNetwork>,
    seed: Option<u64>,
    start_schedule: bool,
}

/// The answer to a request: the time of execution, and the window or capture ended by the request.
struct ForwarderReply {
    at_ns: u64,
    ended: EndedCollection,
}

enum EndedCollection {
    Nothing,
    Window(Box<Window>),
    Capture(Box<Capture>),
}

/// The controlling thread's end.
#[derive(Debug)]
pub struct ForwarderControl {
    requests: Sender<ForwarderRequest>,
    replies: Receiver<ForwarderReply>,
    wake: Arc<EventFd>,
}

impl ForwarderControl {
    /// Closes the window and begins another. Returns the closed window and the time of closing.
    pub fn close_window(&self) -> Result<(Box<Window>, u64), ForwarderError> {
        let reply = self.ask(ForwarderRequest::Summary(Box::default()))?;
        match reply.ended {
            EndedCollection::Window(window) => Ok((window, reply.at_ns)),
            EndedCollection::Nothing | EndedCollection::Capture(_) => Err(ForwarderError::Gone),
        }
    }

    /// Starts a capture into a new file. Stops the running capture, if any, and returns the stopped
    /// capture's report.
    pub fn start_capture(&self, file: &Path) -> Result<Option<CaptureReport>, ForwarderError> {
        let capture = Capture::start(file)?;
        self.change_capture(Some(Box::new(capture)))
    }

    /// Stops the capture, if any. The capture's file is complete at the return.
    pub fn stop_capture(&self) -> Result<Option<CaptureReport>, ForwarderError> {
        self.change_capture(None)
    }

    fn change_capture(
        &self,
        capture: Option<Box<Capture>>,
    ) -> Result<Option<CaptureReport>, ForwarderError> {
        match self.ask(ForwarderRequest::Capture(capture))?.ended {
            // Here, because it waits for the file.
            EndedCollection::Capture(capture) => Ok(Some(capture.stop()?)),
            EndedCollection::Nothing | EndedCollection::Window(_) => Ok(None),
        }
    }

    /// Puts another profile (checked and complete) in force, with the schedule started or held.
    /// Returns the time of the change.
    pub fn change_profile(
        &self,
        profile: &LinkProfile,
        seed: Option<u64>,
        start_schedule: bool,
    ) -> Result<u64, ForwarderError> {
        let change = ProfileChange {
            schedule_run: ScheduleRun::load(profile)?,
            far: profile.far.clone().unwrap_or_default(),
            seed,
            start_schedule,
        };
        Ok(self
            .ask(ForwarderRequest::ProfileChange(Box::new(change)))?
            .at_ns)
    }

    /// Starts the schedule anew; returns the time of the start.
    pub fn start_schedule(&self) -> Result<u64, ForwarderError> {
        Ok(self.ask(ForwarderRequest::StartSchedule)?.at_ns)
    }

    /// Ends the forwarder's thread, if still running.
    pub fn stop(&self) {
        // If it has ended already, all is well.
        let _ = self.ask(ForwarderRequest::Stop);
    }

    fn ask(&self, request: ForwarderRequest) -> Result<ForwarderReply, ForwarderError> {
        self.requests
            .send(request)
            .map_err(|_| ForwarderError::Gone)?;
        self.wake.write(1)?;
        self.replies.recv().map_err(|_| ForwarderError::Gone)
    }
}

/// Sources of events, as epoll's user data.
const CLIENT_DEVICE: u64 = 0;
const SERVER_DEVICE: u64 = 1;
const TIMER: u64 = 2;
const REQUEST: u64 = 3;
const SIGNAL: u64 = 4;

/// The forwarder, to be run on the thread with real-time scheduling.
#[derive(Debug)]
pub struct PacketForwarder {
    client: Device,
    server: Device,
    link: Link,
    epoll: Epoll,
    alarm: Alarm,
    signals: SignalFd,
    wake: Arc<EventFd>,
    requests: Receiver<ForwarderRequest>,
    replies: Sender<ForwarderReply>,
}

/// Returns the signals ending a path in good order. Block these signals before making any thread or
/// child.
pub fn ending_signals() -> SigSet {
    [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP]
        .into_iter()
        .collect()
}

impl PacketForwarder {
    /// Makes a forwarder between two devices by a complete profile, with the schedule not started.
    pub fn new(
        client: Device,
        server: Device,
        profile: &LinkProfile,
        seed: u64,
    ) -> Result<(Self, ForwarderControl), ForwarderError> {
        let schedule_run = ScheduleRun::load(profile)?;
        let far = profile.far.as_deref().unwrap_or_default();
        let (request_sender, requests) = channel();
        let (replies, reply_receiver) = channel();
        let wake_flags = EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK;
        let wake = Arc::new(EventFd::from_flags(wake_flags)?);
        let signal_flags = SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK;
        let forwarder = Self {
            client,
            server,
            link: Link::new(schedule_run, far, seed, monotonic_ns()),
            epoll: Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?,
            alarm: Alarm::new()?,
            signals: SignalFd::with_flags(&ending_signals(), signal_flags)?,
            wake: Arc::clone(&wake),
            requests,
            replies,
        };
        forwarder.watch()?;
        Ok((
            forwarder,
            ForwarderControl {
                requests: request_sender,
                replies: reply_receiver,
                wake,
            },
        ))
    }

    fn watch(&self) -> Result<(), Errno> {
        let readable = |source| EpollEvent::new(EpollFlags::EPOLLIN, source);
        self.epoll.add(&self.client, readable(CLIENT_DEVICE))?;
        self.epoll.add(&self.server, readable(SERVER_DEVICE))?;
        let expiry = EpollEvent::new(EpollFlags::EPOLLIN | EpollFlags::EPOLLET, TIMER);
        self.epoll.add(&self.alarm, expiry)?;
        self.epoll.add(&*self.wake, readable(REQUEST))?;
        self.epoll.add(&self.signals, readable(SIGNAL))
    }

    /// Starts a capture with the first packet.
    pub fn capture(&mut self, capture: Capture) {
        self.link.observer.set_capture(Some(Box::new(capture)));
    }

    /// Carries packets until a stop request or an ending signal. Returns the report of the capture
    /// running at the end.
    pub fn run(mut self) -> Result<Option<CaptureReport>, ForwarderError> {
        let carried = self.carry();
        let captured = self.link.observer.stop_capture();
        carried?;
        Ok(captured?)
    }

    fn carry(&mut self) -> Result<(), ForwarderError> {
        let mut events = [EpollEvent::empty(); 8];
        loop {
            self.deliver_due(monotonic_ns())?;
            let patience = self.alarm.arm(self.link.next_due_ns(), monotonic_ns())?;
            let count = match self.epoll.wait(&mut events, patience) {
                Ok(count) => count,
                Err(Errno::EINTR) => continue,
                Err(error) => return Err(error.into()),
            };
            for event in &events[..count] {
                match event.data() {
                    CLIENT_DEVICE => self.drain(Host::Client)?,
                    SERVER_DEVICE => self.drain(Host::Server)?,
                    TIMER => self.alarm.note_wakeup(monotonic_ns()),
                    REQUEST if self.serve_requests()? => return Ok(()),
                    SIGNAL => return Ok(()),
                    _ => {}
                }
            }
        }
    }

    fn deliver_due(&mut self, now_ns: u64) -> Result<(), ForwarderError> {
        self.apply_changes(now_ns)?;
        self.link
            .deliver_due(now_ns, &mut self.client, &mut self.server);
        Ok(())
    }

    /// Puts the schedule's changes up to `now_ns` in force. Takes the packets from before a change
    /// first.
    fn apply_changes(&mut self, now_ns: u64) -> Result<(), ForwarderError> {
        while let Some(at_ns) = self.link.next_change_ns().filter(|at_ns| *at_ns <= now_ns) {
            self.take_before(at_ns)?;
            self.link.carry_out_changes(at_ns);
        }
        Ok(())
    }

    /// Takes the packets from before a change: a device may hold unread packets with earlier
    /// arrival times.
    fn take_before(&mut self, at_ns: u64) -> Result<(), ForwarderError> {
        for host in HOSTS {
            while self.take_one_before(host, at_ns)?.is_some() {}
        }
        Ok(())
    }

    /// Takes the next packet sent by `host`, if the packet came before `limit_ns`. Returns the time
    /// of reading.
    fn take_one_before(
        &mut self,
        host: Host,
        limit_ns: u64,
    ) -> Result<Option<u64>, ForwarderError> {
        let device = match host {
            Host::Client => &mut self.client,
            Host::Server => &mut self.server,
        };
        let received = device.receive_before(limit_ns);
        let received = received.map_err(|error| ForwarderError::Device {
            host: host.name(),
            error,
        })?;
        Ok(received.map(|arrival| {
            self.link.take(host, &arrival);
            arrival.read_ns
        }))
    }

    /// Reads packets sent by `host`, up to a batch, and delivers due packets in between.
    fn drain(&mut self, host: Host) -> Result<(), ForwarderError> {
        for _ in 0..BATCH_COUNT {
            // What came after a change waits for it, and so for what the other host sent before it.
            let limit_ns = self.link.next_change_ns().unwrap_or(u64::MAX);
            let Some(now_ns) = self.take_one_before(host, limit_ns)? else {
                break;
            };
            if self
                .link
                .next_due_ns()
                .is_some_and(|due_ns| due_ns <= now_ns)
            {
                self.deliver_due(now_ns)?;
            }
        }
        Ok(())
    }

    /// Carries out the controlling thread's requests; returns true after a stop request.
    fn serve_requests(&mut self) -> Result<bool, ForwarderError> {
        let _ = self.wake.read();
        while let Ok(request) = self.requests.try_recv() {
            let at_ns = monotonic_ns();
            let (ended, stop) = match request {
                ForwarderRequest::Summary(fresh) => {
                    self.count_device_drops();
                    let closed = self.link.observer.begin_window(fresh, at_ns);
                    (EndedCollection::Window(closed), false)
                }
                ForwarderRequest::ProfileChange(change) => {
                    self.catch_up(at_ns)?;
                    self.change(*change, at_ns);
                    (EndedCollection::Nothing, false)
                }
                ForwarderRequest::StartSchedule => {
                    self.catch_up(at_ns)?;
                    self.link.start_schedule(at_ns);
                    (EndedCollection::Nothing, false)
                }
                ForwarderRequest::Capture(capture) => {
                    let before = self.link.observer.set_capture(capture);
                    (
                        before.map_or(EndedCollection::Nothing, EndedCollection::Capture),
                        false,
                    )
                }
                ForwarderRequest::Stop => (EndedCollection::Nothing, true),
            };
            // If nobody listens any more, the answer is not needed.
            let _ = self.replies.send(ForwarderReply { at_ns, ended });
            if stop {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Takes all packets and carries out all scheduled changes from before a change at `at_ns`.
    fn catch_up(&mut self, at_ns: u64) -> Result<(), ForwarderError> {
        self.apply_changes(at_ns)?;
        self.take_before(at_ns)
    }

    /// Counts the losses at the devices in the window about to be closed.
    fn count_device_drops(&mut self) {
        for (host, device) in [
            (Host::Client, &mut self.client),
            (Host::Server, &mut self.server),
        ] {
            // A device that cannot be asked is found out by the next read.
            let count = device.new_drops_count().unwrap_or(0);
            self.link.observer.note_device_drops(host, count);
        }
    }

    fn change(&mut self, change: ProfileChange, at_ns: u64) {
        let ProfileChange {
            schedule_run,
            far,
            seed,
            start_schedule,
        } = change;
        self.link.change(schedule_run, &far, seed, at_ns);
        if start_schedule {
            self.link.start_schedule(at_ns);
        }
    }
}

#[cfg(test)]
mod tests;
