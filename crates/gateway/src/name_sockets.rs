//! The sockets of each name's address: for TCP and for UDP. Not for: the connections on these
//! sockets (`downstream`).

use crate::downstream;
use crate::gateway_state::GatewayState;
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

/// The maximum number of pending requests on a downstream connection; below, of HTTP/3's
/// unidirectional streams.
pub(crate) const STREAMS_MAX_COUNT: u32 = 100;
const UNI_STREAMS_MAX_COUNT: u32 = 16;
/// The maximum number of TCP connections waiting to be accepted.
const TCP_WAITING_COUNT: i32 = 1_024;
/// The silence after which a QUIC connection of the browser is dropped.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// The browser's send windows: of one request, and of a whole downstream connection.
pub(crate) const STREAM_WINDOW_BYTES: u32 = 1 << 20;
pub(crate) const CONNECTION_WINDOW_BYTES: u32 = 4 << 20;

/// The reason for a name that cannot be served.
#[derive(Debug, Error)]
pub enum ServingError {
    /// All addresses of the range are taken.
    #[error("give the name an address: all are taken; give a larger --range or --names")]
    NoAddress,
    /// The certificate cannot be issued.
    #[error(transparent)]
    Authority(#[from] AuthorityError),
    /// The sockets cannot be opened.
    #[error("listen on {address}: {source}; is the range routed to this host?")]
    Listen {
        /// The address and port of the sockets.
        address: SocketAddr,
        /// The error of the operating system.
        source: io::Error,
    },
}

/// The tasks serving all names' sockets.
#[derive(Default)]
pub(crate) struct NameSockets(Mutex<Vec<JoinHandle<()>>>);

impl NameSockets {
    /// Serves a name at its address; needs the context of a tokio runtime.
    pub fn open(
        &self,
        gateway_state: &Arc<GatewayState>,
        name: &str,
        address: Ipv4Addr,
    ) -> Result<(), ServingError> {
        let address = SocketAddr::from((address, gateway_state.options.port));
        let opened = self.try_open(gateway_state, name, address);
        opened.map_err(|source| ServingError::Listen { address, source })
    }

    fn try_open(
        &self,
        gateway_state: &Arc<GatewayState>,
        name: &str,
        address: SocketAddr,
    ) -> io::Result<()> {
        let versions = &gateway_state.options.leg_versions;
        let name: Arc<str> = name.into();
        let alpn = tcp_alpn(versions);
        // Both before either is served: where one fails the address is given to the next name.
        let tcp = (!alpn.is_empty())
            .then(|| listen_tcp(address))
            .transpose()?;
        let has_h3 = versions.contains(&HttpVersion::H3);
        let quic = has_h3
            .then(|| listen_quic(gateway_state, address))
            .transpose()?;
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(listener) = tcp {
            let serving = downstream::tcp::serve(
                Arc::clone(gateway_state),
                Arc::clone(&name),
                listener,
                alpn,
            );
            tasks.push(tokio::spawn(serving));
        }
        if let Some(listener) = quic {
            let serving = downstream::quic::serve(Arc::clone(gateway_state), name, listener);
            tasks.push(tokio::spawn(serving));
        }
        Ok(())
    }

    /// Stops accepting connections for all names.
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

/// Binds to the loopback device, so only this host can connect. Otherwise a host takes packets for
/// its addresses from any device (RFC 1122 section 3.3.4.2, the weak model), and the whole range
/// belongs to this host.
fn bind_here(socket: &Socket, address: SocketAddr) -> io::Result<()> {
    match socket.bind_device(Some(b"lo")) {
        // Linux before 5.7 lets root alone do so; then the range is as any address of the host.
        Err(error) if error.kind() != io::ErrorKind::PermissionDenied => return Err(error),
        Ok(()) | Err(_) => (),
    }
    socket.bind(&address.into())
}

fn listen_quic(gateway_state: &GatewayState, address: SocketAddr) -> io::Result<QuicListener> {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, None)?;
    bind_here(&socket, address)?;
    QuicListener::listen_with_small_datagrams(
        socket.into(),
        vec![b"h3".to_vec()],
        Arc::clone(&gateway_state.policies),
        &quic_settings(),
        Arc::new(QuicControl::new(RetryMode::Off)),
    )
}

fn quic_settings() -> QuicSettings {
    QuicSettings {
        stream_window_bytes: STREAM_WINDOW_BYTES,
        connection_window_bytes: CONNECTION_WINDOW_BYTES,
        ..QuicSettings::with_stream_limits(STREAMS_MAX_COUNT, UNI_STREAMS_MAX_COUNT, IDLE_TIMEOUT)
    }
}

/// Returns the ALPN identifiers over TCP, the preferred identifier first.
fn tcp_alpn(versions: &[HttpVersion]) -> Vec<Vec<u8>> {
    let ids = [(HttpVersion::H2, "h2"), (HttpVersion::H1, "http/1.1")];
    let offered = ids.iter().filter(|(version, _)| versions.contains(version));
    offered.map(|(_, id)| id.as_bytes().to_vec()).collect()
}
