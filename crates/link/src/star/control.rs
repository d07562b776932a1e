//! Talking to the thread that carries the packets from another: what it is asked for, and its answers.
//! Not for: carrying anything out (that is `exchange`).

use crate::star::counts::Counts;
use crate::star::model::HostChange;
use nix::errno::Errno;
use nix::sys::eventfd::{EfdFlags, EventFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use thiserror::Error;

/// The other thread is gone; the message reads after "failed to".
#[derive(Debug, Error)]
#[error("reach the thread that carries the packets: it has ended")]
pub struct Ended;

/// What it is asked for.
#[derive(Debug)]
pub(super) enum Request {
    /// Begin this window; the answer is the one that ends.
    Count(Box<Counts>),
    Change(usize, HostChange),
    Stop,
}

/// What it answers: when it was carried out, and the window that ended.
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
pub(super) struct Orders {
    pub requests: Receiver<Request>,
    pub replies: Sender<Reply>,
    /// Readable when there is a request.
    pub wake: Arc<EventFd>,
}

/// Both ends.
pub(super) fn pair() -> Result<(StarControl, Orders), Errno> {
    let (request_sender, requests) = channel();
    let (replies, reply_receiver) = channel();
    let flags = EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK;
    let wake = Arc::new(EventFd::from_flags(flags)?);
    let control = StarControl {
        requests: request_sender,
        replies: reply_receiver,
        wake: Arc::clone(&wake),
    };
    let orders = Orders {
        requests,
        replies,
        wake,
    };
    Ok((control, orders))
}

impl StarControl {
    /// Close the window and begin another; returns the closed one and when that was.
    pub fn count(&self) -> Result<(Box<Counts>, u64), Ended> {
        let reply = self.ask(Request::Count(Box::default()))?;
        Ok((reply.window.ok_or(Ended)?, reply.at_ns))
    }

    /// Change a host; in force when this returns.
    pub fn change(&self, host: usize, change: HostChange) -> Result<(), Ended> {
        self.ask(Request::Change(host, change)).map(drop)
    }

    /// End the carrying.
    pub fn stop(&self) {
        // If it has ended already, all is well.
        let _ = self.ask(Request::Stop);
    }

    fn ask(&self, request: Request) -> Result<Reply, Ended> {
        self.requests.send(request).map_err(|_| Ended)?;
        self.wake.write(1).map_err(|_| Ended)?;
        self.replies.recv().map_err(|_| Ended)
    }
}
