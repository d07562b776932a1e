//! One TCP connection, with TLS or without, that never blocks: connecting, handshake, bytes in and
//! out. Not for: what the bytes are.

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

/// Bytes a read may take.
pub const READ_BYTES: usize = 64 << 10;

/// How far a connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// SYN sent.
    Connecting,
    /// TLS handshake.
    Handshaking,
    /// Ready for queries.
    Open,
}

impl Phase {
    /// What a connection that `error` ended in this phase counts as.
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

    /// What a connection that stays in this phase for too long counts as.
    pub fn failure_of_timeout(self) -> Failure {
        match self {
            Self::Connecting => Failure::TcpConnectTimeout,
            Self::Handshaking => Failure::TlsHandshakeTimeout,
            Self::Open => Failure::QueryTimeout,
        }
    }
}

/// What came of looking after a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// It waits for the peer.
    Waiting,
    /// It has just become ready; the time since its beginning, in nanoseconds.
    Opened(u64),
}

/// The hellos of a handshake under way.
#[derive(Default)]
struct Greeting {
    watch: HelloWatch,
    hellos: Hellos,
}

/// The connection.
pub struct Stream {
    socket: TcpStream,
    tls: Option<Box<ClientConnection>>,
    /// With TLS, until the handshake is over.
    greeting: Option<Box<Greeting>>,
    phase: Phase,
    began_ns: u64,
    /// Without TLS: what was written and has not left yet.
    outbox: Vec<u8>,
}

impl Stream {
    /// Begin connecting.
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
            phase: Phase::Connecting,
            began_ns,
            outbox: Vec::new(),
        })
    }

    /// For watching it.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// When connecting began.
    pub fn began_ns(&self) -> u64 {
        self.began_ns
    }

    /// How far it is.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// What the server chose of the protocols that were offered, once it has.
    pub fn alpn(&self) -> Option<&[u8]> {
        self.tls.as_ref()?.alpn_protocol()
    }

    /// What the hellos of a handshake that has just ended were; once, and `None` without TLS.
    pub fn take_hello_facts(&mut self) -> Option<HelloFacts> {
        let (greeting, tls) = (self.greeting.take()?, self.tls.as_ref()?);
        if let Ok(bytes) = socket2::SockRef::from(&self.socket).tcp_mss() {
            greeting.hellos.set_segment_bytes(bytes);
        }
        greeting.watch.note_end(&greeting.hellos, tls, false);
        Some(greeting.hellos.facts())
    }

    /// Whether something waits for room in the socket.
    pub fn wants_write(&self) -> bool {
        let tls = self.tls.as_ref();
        self.phase == Phase::Connecting
            || !self.outbox.is_empty()
            || tls.is_some_and(|tls| tls.wants_write())
    }

    /// Go on connecting, after the socket became ready.
    pub fn proceed(&mut self) -> io::Result<Progress> {
        if self.phase == Phase::Connecting {
            if let Some(error) = self.socket.take_error()? {
                return Err(error);
            }
            match self.socket.peer_addr() {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotConnected => {
                    return Ok(Progress::Waiting);
                }
                Err(error) => return Err(error),
            }
            self.phase = Phase::Handshaking;
        }
        if self.phase == Phase::Handshaking && self.handshake()? {
            self.phase = Phase::Open;
            return Ok(Progress::Opened(monotonic_ns() - self.began_ns));
        }
        Ok(Progress::Waiting)
    }

    /// Whether it is done, which it is at once without TLS.
    fn handshake(&mut self) -> io::Result<bool> {
        loop {
            self.flush()?;
            let Some(tls) = &mut self.tls else {
                return Ok(true);
            };
            if !tls.is_handshaking() {
                return Ok(!tls.wants_write());
            }
            let mut socket = Watched {
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

    /// Add bytes to what is to be sent; with TLS they are a record.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(tls) = &mut self.tls {
            return tls.writer().write_all(bytes);
        }
        self.outbox.extend_from_slice(bytes);
        Ok(())
    }

    /// Send what was added, as far as there is room: one system call for all of it.
    pub fn flush(&mut self) -> io::Result<()> {
        let result = match &mut self.tls {
            Some(tls) => {
                let greeting = &mut self.greeting;
                let socket = &mut self.socket;
                flush_tls(tls, &mut Watched { socket, greeting })
            }
            None => flush_plain(&mut self.outbox, &mut self.socket),
        };
        match result {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            result => result,
        }
    }

    /// Read what there is and add it to `inbox`; `false` at the end of the stream. `buffer` is for
    /// passing use.
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

fn flush_tls(tls: &mut ClientConnection, socket: &mut Watched<'_>) -> io::Result<()> {
    while tls.wants_write() {
        tls.write_tls(socket)?;
    }
    Ok(())
}

/// The socket, its bytes read along while the handshake goes on.
struct Watched<'a> {
    socket: &'a mut TcpStream,
    greeting: &'a mut Option<Box<Greeting>>,
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.socket.read(buffer)?;
        if let Some(greeting) = self.greeting {
            let Greeting { watch, hellos } = &mut **greeting;
            watch.note_received(hellos, &buffer[..count]);
        }
        Ok(count)
    }
}

impl Write for Watched<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        let count = self.socket.write_vectored(slices)?;
        if let Some(greeting) = self.greeting {
            let Greeting { watch, hellos } = &mut **greeting;
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

/// Add the plain text of `bytes` to `inbox`; `false` when the peer has closed.
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
