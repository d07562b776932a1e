//! Listening sockets made inside a host for a program outside. The program answers traffic arriving
//! in the host, while the program's own connections use the machine's network. Not for: running
//! programs inside.

use super::EnterError;
use super::join::join_host;
use nix::cmsg_space;
use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, ControlMessage, ControlMessageOwned, MsgFlags, SockFlag, SockType, recvmsg,
    sendmsg, socketpair,
};
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, Pid, fork};
use std::io::{self, IoSlice, IoSliceMut};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// Longer than any message of an error.
const MESSAGE_BYTES: usize = 1024;
/// First byte of the message: `MADE` comes with sockets, `REFUSED` with the reason as text.
const MADE: u8 = b'm';
const REFUSED: u8 = b'r';

/// A UDP and a TCP socket bound to the same address.
#[derive(Debug)]
pub struct ListeningSockets {
    /// The bound UDP socket.
    pub udp: UdpSocket,
    /// The TCP socket, bound and listening.
    pub tcp: TcpListener,
}

/// Makes sockets at `address` in the host called `host` of the path (or relay) with process id
/// `path`. The calling process must have a single thread, and stays in its own namespaces.
pub fn open_host_sockets(
    path: i32,
    host: &str,
    address: SocketAddr,
) -> Result<ListeningSockets, EnterError> {
    let view = |error: Errno| EnterError::View(format!("pass sockets out of the host: {error}"));
    let (ours, theirs) = socketpair(
        AddressFamily::Unix,
        SockType::SeqPacket,
        None,
        SockFlag::SOCK_CLOEXEC,
    )
    .map_err(view)?;
    // SAFETY: one thread only, so no lock can be held across the fork.
    match unsafe { fork() }.map_err(view)? {
        ForkResult::Child => {
            drop(ours);
            hand_out(&theirs, path, host, address);
            // SAFETY: ends the process without running anything of the caller's copied here.
            unsafe { libc::_exit(0) }
        }
        ForkResult::Parent { child } => {
            drop(theirs);
            let received = receive(&ours);
            let _ = waitpid(child, None);
            received.map_err(view)?.map_err(EnterError::View)
        }
    }
}

/// Joins, binds and sends, in the child. A failure to send goes unreported: no receiver is left.
fn hand_out(to: &OwnedFd, path: i32, host: &str, address: SocketAddr) {
    let made = join_host(Pid::from_raw(path), host)
        .map_err(|error| error.to_string())
        .and_then(|_| bind(address).map_err(|error| format!("listen on {address} there: {error}")));
    let _ = match made {
        Ok(ListeningSockets { udp, tcp }) => {
            let sockets = [udp.as_raw_fd(), tcp.as_raw_fd()];
            send(to, &[MADE], &[ControlMessage::ScmRights(&sockets)])
        }
        Err(text) => send(to, &[&[REFUSED], text.as_bytes()].concat(), &[]),
    };
}

fn bind(address: SocketAddr) -> io::Result<ListeningSockets> {
    let udp = UdpSocket::bind(address)?;
    let tcp = TcpListener::bind(udp.local_addr()?)?;
    Ok(ListeningSockets { udp, tcp })
}

fn send(to: &OwnedFd, bytes: &[u8], along: &[ControlMessage<'_>]) -> Result<usize, Errno> {
    let bytes = &bytes[..bytes.len().min(MESSAGE_BYTES)];
    let parts = [IoSlice::new(bytes)];
    sendmsg::<()>(to.as_raw_fd(), &parts, along, MsgFlags::empty(), None)
}

fn receive(from: &OwnedFd) -> Result<Result<ListeningSockets, String>, Errno> {
    let mut bytes = [0; MESSAGE_BYTES];
    let mut space = cmsg_space!([RawFd; 2]);
    let mut parts = [IoSliceMut::new(&mut bytes)];
    let flags = MsgFlags::MSG_CMSG_CLOEXEC;
    let message = recvmsg::<()>(from.as_raw_fd(), &mut parts, Some(&mut space), flags)?;
    let sockets = message.cmsgs()?.find_map(|part| {
        let ControlMessageOwned::ScmRights(sockets) = part else {
            return None;
        };
        Some(sockets)
    });
    let length = message.bytes;
    Ok(match sockets.as_deref() {
        Some(&[udp, tcp]) => Ok(own(udp, tcp)),
        _ => Err(refusal(&bytes[..length])),
    })
}

fn own(udp: RawFd, tcp: RawFd) -> ListeningSockets {
    // SAFETY: the kernel has just made these descriptors for us alone.
    let [udp, tcp] = [udp, tcp].map(|socket| unsafe { OwnedFd::from_raw_fd(socket) });
    ListeningSockets {
        udp: udp.into(),
        tcp: tcp.into(),
    }
}

fn refusal(message: &[u8]) -> String {
    match message.split_first() {
        Some((&REFUSED, text)) => String::from_utf8_lossy(text).into_owned(),
        _ => "make sockets in the host: the process that makes them was killed".to_owned(),
    }
}
