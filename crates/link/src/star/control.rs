//! The requests from another thread to the thread carrying the packets, and the answers. Not for:
//! carrying requests out (see `hub`).

use crate::star::counts::WindowCounts;
use crate::star::model::HostChange;
use nix::errno::Errno;
use nix::sys::eventfd::{EfdFlags, EventFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use thiserror::Error;

/// The carrying thread has ended; the message reads after "failed to".
#[derive(Debug, Error)]
#[error("reach the thread that carries the packets: it has ended")]
pub struct ThreadEnded;

/// A request to the carrying thread.
#[derive(Debug)]
pub(super) enum HubRequest {
    /// Begin this window; the answer is the ended window.
    Count(Box<WindowCounts>),
    Change(usize, HostChange),
    Stop,
}

/// The answer to a request: the time of execution, and the ended window.
#[derive(Debug)]
pub(super) struct HubReply {
    pub at_ns: u64,
    pub window: Option<Box<WindowCounts>>,
}

/// The commanding thread's end.
#[derive(Debug)]
pub struct StarControl {
    requests: Sender<HubRequest>,
    replies: Receiver<HubReply>,
    wake: Arc<EventFd>,
}

/// The carrying thread's end.
#[derive(Debug)]
pub(super) struct HubControl {
    pub requests: Receiver<HubRequest>,
    pub replies: Sender<HubReply>,
    /// Readable when there is a request.
    pub wake: Arc<EventFd>,
}

/// Makes both ends of the control.
pub(super) fn pair() -> Result<(StarControl, HubControl), Errno> {
    let (request_sender, requests) = channel();
    let (replies, reply_receiver) = channel();
    let flags = EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK;
    let wake = Arc::new(EventFd::from_flags(flags)?);
    let control = StarControl {
        requests: request_sender,
        replies: reply_receiver,
        wake: Arc::clone(&wake),
    };
    let control_end = HubControl {
        requests,
        replies,
        wake,
    };
    Ok((control, control_end))
}

impl StarControl {
    /// Closes the window and begins another. Returns the closed window and the time of closing.
    pub fn count(&self) -> Result<(Box<WindowCounts>, u64), ThreadEnded> {
        let reply = self.ask(HubRequest::Count(Box::default()))?;
        Ok((reply.window.ok_or(ThreadEnded)?, reply.at_ns))
    }

    /// Changes a host; the change is in force at the return.
    pub fn change(&self, host: usize, change: HostChange) -> Result<(), ThreadEnded> {
        self.ask(HubRequest::Change(host, change)).map(drop)
    }

    /// Ends the carrying thread.
    pub fn stop(&self) {
        // If it has ended already, all is well.
        let _ = self.ask(HubRequest::Stop);
    }

    fn ask(&self, request: HubRequest) -> Result<HubReply, ThreadEnded> {
        self.requests.send(request).map_err(|_| ThreadEnded)?;
        self.wake.write(1).map_err(|_| ThreadEnded)?;
        self.replies.recv().map_err(|_| ThreadEnded)
    }
}
