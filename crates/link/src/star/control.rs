//! The requests from another thread to the thread carrying the packets, and the answers. Not for:
//! carrying requests out (see `exchange`).

use crate::star::counts::Counts;
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
pub(super) enum Request {
    /// Begin this window; the answer is the ended window.
    Count(Box<Counts>),
    Change(usize, HostChange),
    Stop,
}

/// The answer to a request: the time of execution, and the ended window.
#[derive(Debug)]
pub(super) struct Reply {
    pub at_ns: u64,
    pub window: Option<Box<Counts>>,
}

/// The commanding thread's end.
#[derive(Debug)]
pub struct StarControl {
    requests: Sender<Request>,
    replies: Receiver<Reply>,
    wake: Arc<EventFd>,
}

/// The carrying thread's end.
#[derive(Debug)]
pub(super) struct ExchangeControl {
    pub requests: Receiver<Request>,
    pub replies: Sender<Reply>,
    /// Readable when there is a request.
    pub wake: Arc<EventFd>,
}

/// Makes both ends of the control.
pub(super) fn pair() -> Result<(StarControl, ExchangeControl), Errno> {
    let (request_sender, requests) = channel();
    let (replies, reply_receiver) = channel();
    let flags = EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK;
    let wake = Arc::new(EventFd::from_flags(flags)?);
    let control = StarControl {
        requests: request_sender,
        replies: reply_receiver,
        wake: Arc::clone(&wake),
    };
    let orders = ExchangeControl {
        requests,
        replies,
        wake,
    };
    Ok((control, orders))
}

impl StarControl {
    /// Closes the window and begins another. Returns the closed window and the time of closing.
    pub fn count(&self) -> Result<(Box<Counts>, u64), ThreadEnded> {
        let reply = self.ask(Request::Count(Box::default()))?;
        Ok((reply.window.ok_or(ThreadEnded)?, reply.at_ns))
    }

    /// Changes a host; the change is in force at the return.
    pub fn change(&self, host: usize, change: HostChange) -> Result<(), ThreadEnded> {
        self.ask(Request::Change(host, change)).map(drop)
    }

    /// Ends the carrying thread.
    pub fn stop(&self) {
        // If it has ended already, all is well.
        let _ = self.ask(Request::Stop);
    }

    fn ask(&self, request: Request) -> Result<Reply, ThreadEnded> {
        self.requests.send(request).map_err(|_| ThreadEnded)?;
        self.wake.write(1).map_err(|_| ThreadEnded)?;
        self.replies.recv().map_err(|_| ThreadEnded)
    }
}
