//! The sockets of each name's address: one for TCP, one for UDP. Not for: what comes on them.

use crate::leg;
use crate::world::World;
use resolab_record::{HttpVersion, RetryMode};
use resolab_transport::server::{AuthorityError, QuicControl, QuicListener, QuicSettings};
use socket2::{Domain, Socket, Type};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use thiserror::Error;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// Requests under way at once on a leg, and unidirectional streams of HTTP/3.
pub(crate) const STREAMS_MAX_COUNT: u32 = 100;
const UNI_STREAMS_MAX_COUNT: u32 = 16;
/// Connections over TCP that wait to be accepted.
const TCP_WAITING_COUNT: i32 = 1_024;
/// Silence after which a leg over QUIC is forgotten.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// What a browser may send before it is read, of one request and of all of a leg.
pub(crate) const STREAM_WINDOW_BYTES: u32 = 1 << 20;
pub(crate) const CONNECTION_WINDOW_BYTES: u32 = 4 << 20;

/// Why nothing is served for a name.
#[derive(Debug, Error)]
pub enum ServingError {
    /// All addresses are given.
    #[error("give the name an address: all are taken; give a larger --range or --names")]
    NoAddress,
    /// No certificate.
    #[error(transparent)]
    Authority(#[from] AuthorityError),
    /// No socket.
    #[error("listen on {address}: {source}; is the range routed to this host?")]
    Listen {
        /// Address and port.
        address: SocketAddr,
        /// What was wrong.
        source: io::Error,
    },
}

/// All of them.
#[derive(Default)]
pub(crate) struct Sockets(Mutex<Vec<JoinHandle<()>>>);

impl Sockets {
    /// Serve a name at its address; needs the context of a tokio runtime.
    pub fn open(
        &self,
        world: &Arc<World>,
        name: &str,
        address: Ipv4Addr,
    ) -> Result<(), ServingError> {
        let address = SocketAddr::from((address, world.options.port));
        let opened = self.try_open(world, name, address);
        opened.map_err(|source| ServingError::Listen { address, source })
    }

    fn try_open(&self, world: &Arc<World>, name: &str, address: SocketAddr) -> io::Result<()> {
        let versions = &world.options.leg_versions;
        let name: Arc<str> = name.into();
        let alpn = tcp_alpn(versions);
        // Both before either is served: where one fails the address is given to the next name.
        let tcp = (!alpn.is_empty())
            .then(|| listen_tcp(address))
            .transpose()?;
        let has_h3 = versions.contains(&HttpVersion::H3);
        let quic = has_h3.then(|| listen_quic(world, address)).transpose()?;
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(listener) = tcp {
            let serving = leg::tcp::serve(Arc::clone(world), Arc::clone(&name), listener, alpn);
            tasks.push(tokio::spawn(serving));
        }
        if let Some(listener) = quic {
            let serving = leg::quic::serve(Arc::clone(world), name, listener);
            tasks.push(tokio::spawn(serving));
        }
        Ok(())
    }

    /// Accept no more.
    pub fn close(&self) {
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.drain(..).for_each(|task| task.abort());
    }
}

fn listen_tcp(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    bind_here(&socket, address)?;
    socket.listen(TCP_WAITING_COUNT)?;
    socket.set_nonblocking(true)?;
    TcpListener::from_std(socket.into())
}

/// Only for this host's own connections, which come over its loopback device. A host takes packets for its
/// addresses from any device (RFC 1122 section 3.3.4.2, the weak model), and the whole range is its own.
fn bind_here(socket: &Socket, address: SocketAddr) -> io::Result<()> {
    match socket.bind_device(Some(b"lo")) {
        // Linux before 5.7 lets root alone do so; then the range is as any address of the host.
        Err(error) if error.kind() != io::ErrorKind::PermissionDenied => return Err(error),
        Ok(()) | Err(_) => (),
    }
    socket.bind(&address.into())
}

fn listen_quic(world: &World, address: SocketAddr) -> io::Result<QuicListener> {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, None)?;
    bind_here(&socket, address)?;
    QuicListener::over_small(
        socket.into(),
        vec![b"h3".to_vec()],
        Arc::clone(&world.policies),
        &quic_settings(),
        Arc::new(QuicControl::new(RetryMode::Off)),
    )
}

fn quic_settings() -> QuicSettings {
    QuicSettings {
        stream_window_bytes: STREAM_WINDOW_BYTES,
        connection_window_bytes: CONNECTION_WINDOW_BYTES,
        ..QuicSettings::of_streams(STREAMS_MAX_COUNT, UNI_STREAMS_MAX_COUNT, IDLE_TIMEOUT)
    }
}

/// The favourite first.
fn tcp_alpn(versions: &[HttpVersion]) -> Vec<Vec<u8>> {
    let ids = [(HttpVersion::H2, "h2"), (HttpVersion::H1, "http/1.1")];
    let offered = ids.iter().filter(|(version, _)| versions.contains(version));
    offered.map(|(_, id)| id.as_bytes().to_vec()).collect()
}
