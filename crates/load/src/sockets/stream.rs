//! A non-blocking TCP connection, with or without TLS: connecting, handshake, bytes in and out. Not
//! for: the meaning of the bytes.

use resolab_record::{Failure, HelloFacts};
use resolab_transport::Hellos;
use resolab_transport::client::{
    AlpnMismatch, HelloWatch, TlsClient, handshake_failure, tcp_connect_failure,
};
use resolab_transport::clock::monotonic_ns;
use rustls::ClientConnection;
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, IoSlice, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

/// The most bytes per read.
pub const READ_BYTES: usize = 64 << 10;

/// The phase of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamPhase {
    /// The SYN was sent; the connection is not established yet.
    Connecting,
    /// The TLS handshake is in progress.
    Handshaking,
    /// The connection is ready for queries.
    Open,
}

impl StreamPhase {
    /// Returns the failure category of a connection ended by `error` in this phase.
    pub fn failure_of(self, error: &io::Error) -> Failure {
        let mismatch = error
            .get_ref()
            .and_then(|inner| inner.downcast_ref::<AlpnMismatch>());
        match self {
            Self::Connecting => tcp_connect_failure(error),
            Self::Handshaking => handshake_failure(error).failure,
            Self::Open if mismatch.is_some() => Failure::TlsAlpnMismatch,
            Self::Open => Failure::QueryConnectionClosed,
        }
    }

    /// Returns the failure category of a connection held in this phase past the timeout.
    pub fn failure_of_timeout(self) -> Failure {
        match self {
            Self::Connecting => Failure::TcpConnectTimeout,
            Self::Handshaking => Failure::TlsHandshakeTimeout,
            Self::Open => Failure::QueryTimeout,
        }
    }
}

/// The result of a step of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectStep {
    /// The connection waits for the peer.
    Waiting,
    /// The connection has just become ready; the value is the time since the beginning, in ns.
    Opened(u64),
}

/// The hello messages of a handshake in progress.
#[derive(Default)]
struct HelloCapture {
    watch: HelloWatch,
    hellos: Hellos,
}

/// A TCP connection with optional TLS.
pub struct TlsOrTcpStream {
    socket: TcpStream,
    tls: Option<Box<ClientConnection>>,
    /// The observed hellos, until the end of the TLS handshake; `None` without TLS.
    greeting: Option<Box<HelloCapture>>,
    phase: StreamPhase,
    began_ns: u64,
    /// The plain bytes waiting for room in the socket, without TLS.
    outbox: Vec<u8>,
}

impl TlsOrTcpStream {
    /// Begins a non-blocking connect.
    pub fn begin(resolver: SocketAddr, tls: Option<&TlsClient>) -> io::Result<Self> {
        let began_ns = monotonic_ns();
        let domain = Domain::for_address(resolver);
        let socket = Socket::new(domain, Type::STREAM, Some(Protocol::TCP))?;
        socket.set_nonblocking(true)?;
        socket.set_tcp_nodelay(true)?;
        match socket.connect(&resolver.into()) {
            Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => return Err(error),
            _ => {}
        }
        let tls = tls.map(|tls| {
            let name = tls.server_name().clone();
            ClientConnection::new(Arc::clone(tls.config()), name)
        });
        let mut tls = tls.transpose().map_err(io::Error::other)?.map(Box::new);
        if let Some(tls) = &mut tls {
            // All queries that are due fit; how many those are is bounded elsewhere.
            tls.set_buffer_limit(None);
        }
        Ok(Self {
            socket: socket.into(),
            greeting: tls.is_some().then(Box::default),
            tls,
            phase: StreamPhase::Connecting,
            began_ns,
            outbox: Vec::new(),
        })
    }

    /// Returns the descriptor, for watching.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Returns the start time of connecting.
    pub fn began_ns(&self) -> u64 {
        self.began_ns
    }

    /// Returns the phase of the connection.
    pub fn phase(&self) -> StreamPhase {
        self.phase
    }

    /// Returns the ALPN protocol chosen by the server; `None` before the choice or without TLS.
    pub fn alpn(&self) -> Option<&[u8]> {
        self.tls.as_ref()?.alpn_protocol()
    }

    /// Returns the facts of the hello messages after the handshake. Returns `None` on a second
    /// call, and without TLS.
    pub fn take_hello_facts(&mut self) -> Option<HelloFacts> {
        let (greeting, tls) = (self.greeting.take()?, self.tls.as_ref()?);
        if let Ok(bytes) = socket2::SockRef::from(&self.socket).tcp_mss() {
            greeting.hellos.set_segment_bytes(bytes);
        }
        greeting.watch.note_end(&greeting.hellos, tls, false);
        Some(greeting.hellos.facts())
    }

    /// Returns true when bytes wait for room in the socket.
    pub fn wants_write(&self) -> bool {
        let tls = self.tls.as_ref();
        self.phase == StreamPhase::Connecting
            || !self.outbox.is_empty()
            || tls.is_some_and(|tls| tls.wants_write())
    }

    /// Continues connecting after the socket became ready.
    pub fn proceed(&mut self) -> io::Result<ConnectStep> {
        if self.phase == StreamPhase::Connecting {
            if let Some(error) = self.socket.take_error()? {
                return Err(error);
            }
            match self.socket.peer_addr() {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotConnected => {
                    return Ok(ConnectStep::Waiting);
                }
                Err(error) => return Err(error),
            }
            self.phase = StreamPhase::Handshaking;
        }
        if self.phase == StreamPhase::Handshaking && self.handshake()? {
            self.phase = StreamPhase::Open;
            return Ok(ConnectStep::Opened(monotonic_ns() - self.began_ns));
        }
        Ok(ConnectStep::Waiting)
    }

    /// Advances the TLS handshake; returns true when done. Without TLS, the handshake is done at
    /// once.
    fn handshake(&mut self) -> io::Result<bool> {
        loop {
            self.flush()?;
            let Some(tls) = &mut self.tls else {
                return Ok(true);
            };
            if !tls.is_handshaking() {
                return Ok(!tls.wants_write());
            }
            let mut socket = ObservedSocket {
                socket: &mut self.socket,
                greeting: &mut self.greeting,
            };
            match tls.read_tls(&mut socket) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
            if let Err(error) = tls.process_new_packets() {
                // Tell the peer why.
                let _ = tls.write_tls(&mut self.socket);
                return Err(io::Error::other(error));
            }
        }
    }

    /// Queues bytes for sending; with TLS, the bytes form a record.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(tls) = &mut self.tls {
            return tls.writer().write_all(bytes);
        }
        self.outbox.extend_from_slice(bytes);
        Ok(())
    }

    /// Sends the queued bytes with one system call, as far as the socket has room.
    pub fn flush(&mut self) -> io::Result<()> {
        let result = match &mut self.tls {
            Some(tls) => {
                let greeting = &mut self.greeting;
                let socket = &mut self.socket;
                flush_tls(tls, &mut ObservedSocket { socket, greeting })
            }
            None => flush_plain(&mut self.outbox, &mut self.socket),
        };
        match result {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            result => result,
        }
    }

    /// Reads all available bytes into `inbox`; returns `false` at the end of the stream. `buffer`
    /// is scratch space.
    pub fn read(&mut self, buffer: &mut [u8], inbox: &mut Vec<u8>) -> io::Result<bool> {
        loop {
            let count = match self.socket.read(buffer) {
                Ok(0) => return Ok(false),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(true),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            match &mut self.tls {
                Some(tls) => {
                    if !decrypt(tls, &buffer[..count], inbox)? {
                        return Ok(false);
                    }
                }
                None => inbox.extend_from_slice(&buffer[..count]),
            }
            if count < buffer.len() {
                return Ok(true);
            }
        }
    }
}

fn flush_tls(tls: &mut ClientConnection, socket: &mut ObservedSocket<'_>) -> io::Result<()> {
    while tls.wants_write() {
        tls.write_tls(socket)?;
    }
    Ok(())
}

/// The socket, with a copy of all handshake bytes for the observer of hellos.
struct ObservedSocket<'a> {
    socket: &'a mut TcpStream,
    greeting: &'a mut Option<Box<HelloCapture>>,
}

impl Read for ObservedSocket<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.socket.read(buffer)?;
        if let Some(greeting) = self.greeting {
            let HelloCapture { watch, hellos } = &mut **greeting;
            watch.note_received(hellos, &buffer[..count]);
        }
        Ok(count)
    }
}

impl Write for ObservedSocket<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        let count = self.socket.write_vectored(slices)?;
        if let Some(greeting) = self.greeting {
            let HelloCapture { watch, hellos } = &mut **greeting;
            let mut left = count;
            for slice in slices {
                let taken = left.min(slice.len());
                watch.note_sent(hellos, &slice[..taken]);
                left -= taken;
            }
        }
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.flush()
    }
}

fn flush_plain(outbox: &mut Vec<u8>, socket: &mut TcpStream) -> io::Result<()> {
    while !outbox.is_empty() {
        let count = socket.write(outbox)?;
        outbox.drain(..count);
    }
    Ok(())
}

/// Appends the plain text of `bytes` to `inbox`; returns `false` when the peer has closed.
fn decrypt(tls: &mut ClientConnection, mut bytes: &[u8], inbox: &mut Vec<u8>) -> io::Result<bool> {
    while !bytes.is_empty() {
        tls.read_tls(&mut bytes)?;
        let state = tls.process_new_packets().map_err(io::Error::other)?;
        let start = inbox.len();
        inbox.resize(start + state.plaintext_bytes_to_read(), 0);
        tls.reader().read_exact(&mut inbox[start..])?;
        if state.peer_has_closed() {
            return Ok(false);
        }
    }
    Ok(true)
}
