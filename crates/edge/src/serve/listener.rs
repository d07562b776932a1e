//! The sockets required by a configuration, and their tasks.

use super::{quic, tcp, udp};
use crate::config::limits::Limits;
use crate::config::{CoalescingConfig, ResolverConfig};
use crate::state::EdgeState;
use crate::web::settings::WebConfig;
use resolab_http::private_alpn;
use resolab_record::RetryMode;
use resolab_transport::server::{QuicControl, QuicListener, QuicSettings, listen_tcp};
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use tokio::net::UdpSocket;
use tokio::task::JoinHandle;

/// The use of a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ListenerKind {
    /// A UDP socket for DoUDP.
    Udp,
    /// A TCP socket for DoTCP.
    Tcp,
    /// A TCP socket for TLS.
    Tls,
    /// A UDP socket for QUIC.
    Quic,
}

/// A socket with its offered protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListenerSpec {
    /// The listening address and port.
    pub address: SocketAddr,
    /// The use of the socket.
    pub kind: ListenerKind,
    /// The offered ALPN identifier.
    pub alpn: Option<&'static str>,
    /// The address validation, for QUIC.
    pub retry: RetryMode,
}

impl ListenerSpec {
    /// Returns the sockets of the resolver.
    pub fn resolver_specs(config: &ResolverConfig, coalescing: &CoalescingConfig) -> Vec<Self> {
        let ports = &config.ports;
        let private = ports.doh3.filter(|_| coalescing.private_alpn);
        let offers = [
            (ports.do53, ListenerKind::Udp, None),
            (ports.do53, ListenerKind::Tcp, None),
            (ports.dot, ListenerKind::Tls, Some("dot")),
            (ports.doh, ListenerKind::Tls, Some("h2")),
            (ports.doh, ListenerKind::Tls, Some("http/1.1")),
            (ports.doh3, ListenerKind::Quic, Some("h3")),
            (private, ListenerKind::Quic, Some(private_alpn::ALPN)),
            (ports.doq, ListenerKind::Quic, Some("doq")),
        ];
        let mut specs = Vec::new();
        for &address in &config.addresses {
            for (port, kind, alpn) in offers {
                let port = port.map(|port| SocketAddr::new(address, port));
                specs.extend(port.map(|address| Self {
                    address,
                    kind,
                    alpn,
                    retry: config.retry,
                }));
            }
        }
        specs
    }

    /// Returns the sockets of a site on `address`.
    pub fn site_specs(address: IpAddr, web: &WebConfig) -> Vec<Self> {
        let over_tcp = web.tcp_alpn.iter().map(|alpn| Self {
            address: SocketAddr::new(address, web.h2_port),
            kind: ListenerKind::Tls,
            alpn: Some(alpn.id()),
            retry: web.retry,
        });
        let h3 = Self {
            address: SocketAddr::new(address, web.h3_port),
            kind: ListenerKind::Quic,
            alpn: Some("h3"),
            retry: web.retry,
        };
        over_tcp.chain([h3]).collect()
    }
}

/// A socket cannot be opened.
#[derive(Debug, thiserror::Error)]
#[error("listen on {address} ({kind:?}): {source}")]
pub struct ListenError {
    /// The requested address and port.
    pub address: SocketAddr,
    /// The use of the socket.
    pub kind: ListenerKind,
    /// The error of the operating system.
    pub source: io::Error,
}

impl ListenError {
    /// Returns the remedy, as text.
    pub fn remedy(&self) -> &'static str {
        match self.source.raw_os_error() {
            Some(libc::EMFILE) => "raise the limit of open files (ulimit -n)",
            Some(libc::ENFILE) => "raise the system's limit of open files (fs.file-max)",
            _ => "is the address in this host, and the port free?",
        }
    }
}

type SocketKey = (SocketAddr, ListenerKind);

/// The protocols served on a socket.
#[derive(Default)]
struct OfferedProtocols {
    alpn: Vec<Vec<u8>>,
    /// The strictest address validation of all sites sharing the socket.
    retry: RetryMode,
}

struct OpenListener {
    alpn: Vec<Vec<u8>>,
    /// The serving task; `None` while a command keeps the socket closed.
    task: Option<JoinHandle<()>>,
    /// The control of a QUIC listener. The QUIC socket stays open, because its connections need the
    /// socket.
    control: Option<Arc<QuicControl>>,
}

/// The open sockets, with a task each.
#[derive(Default)]
pub struct Listeners {
    all: BTreeMap<SocketKey, OpenListener>,
}

impl Listeners {
    /// Binds the sockets not yet bound. Protocols on the same address share a socket.
    pub async fn add(
        &mut self,
        state: &Arc<EdgeState>,
        specs: &[ListenerSpec],
    ) -> Result<(), ListenError> {
        let mut wanted: BTreeMap<SocketKey, OfferedProtocols> = BTreeMap::new();
        for spec in specs {
            let offer = wanted.entry((spec.address, spec.kind)).or_default();
            let id = spec.alpn.map(|id| id.as_bytes().to_vec());
            offer.alpn.extend(id.filter(|id| !offer.alpn.contains(id)));
            offer.retry = offer.retry.max(spec.retry);
        }
        wanted.retain(|socket, _| !self.all.contains_key(socket));
        for (socket, OfferedProtocols { alpn, retry }) in wanted {
            let control =
                (socket.1 == ListenerKind::Quic).then(|| Arc::new(QuicControl::new(retry)));
            let mut listener = OpenListener {
                alpn,
                task: None,
                control,
            };
            open(state, socket, &mut listener).await?;
            self.all.insert(socket, listener);
        }
        Ok(())
    }

    /// Changes the Retry mode of the QUIC listeners of an address, or of all. Returns the number of
    /// these listeners.
    pub fn set_retry(&self, address: Option<IpAddr>, retry: RetryMode) -> usize {
        let chosen = self.all.iter().filter(|(socket, _)| is_at(socket, address));
        let controls = chosen.filter_map(|(_, listener)| listener.control.as_ref());
        controls.map(|control| control.set_retry(retry)).count()
    }

    /// Accepts or refuses new connections on the listeners of an address, or on all. Returns the
    /// number of these listeners. TCP and Do53 sockets are closed, and opened again; QUIC refuses.
    pub async fn set_accepting(
        &mut self,
        state: &Arc<EdgeState>,
        address: Option<IpAddr>,
        accepting: bool,
    ) -> Result<usize, ListenError> {
        let mut count = 0;
        for (socket, listener) in &mut self.all {
            if !is_at(socket, address) {
                continue;
            }
            count += 1;
            if let Some(control) = &listener.control {
                control.set_accepting(accepting);
            } else if !accepting {
                close(listener).await;
            } else if listener.task.is_none() {
                open(state, *socket, listener).await?;
            }
        }
        Ok(count)
    }

    /// Returns the numbers of Retry packets sent, and of QUIC connections refused by command.
    pub fn quic_counts(&self) -> (u64, u64) {
        let controls = self.all.values().filter_map(|each| each.control.as_ref());
        controls.fold((0, 0), |(retries, refused), control| {
            (
                retries + control.retries_count(),
                refused + control.refused_count(),
            )
        })
    }

    /// Returns `udp://a:p` or `tcp://a:p` of each socket.
    pub fn urls(&self) -> Vec<String> {
        let url = |(address, kind): &SocketKey| match kind {
            ListenerKind::Udp | ListenerKind::Quic => format!("udp://{address}"),
            ListenerKind::Tcp | ListenerKind::Tls => format!("tcp://{address}"),
        };
        self.all.keys().map(url).collect()
    }

    /// Stops accepting on all sockets.
    pub fn stop(&mut self) {
        for listener in std::mem::take(&mut self.all).into_values() {
            if let Some(task) = listener.task {
                task.abort();
            }
        }
    }
}

fn is_at(socket: &SocketKey, address: Option<IpAddr>) -> bool {
    address.is_none_or(|address| socket.0.ip() == address)
}

/// Closes a socket before returning.
async fn close(listener: &mut OpenListener) {
    if let Some(task) = listener.task.take() {
        task.abort();
        let _ = task.await;
    }
}

async fn open(
    state: &Arc<EdgeState>,
    socket: SocketKey,
    listener: &mut OpenListener,
) -> Result<(), ListenError> {
    let (address, kind) = socket;
    let alpn = listener.alpn.clone();
    let task = start(state, address, kind, alpn, listener.control.as_ref()).await;
    listener.task = Some(task.map_err(|source| ListenError {
        address,
        kind,
        source,
    })?);
    Ok(())
}

/// The maximum of a client's unidirectional streams: control, QPACK encoder and decoder, and
/// additions by a browser. DoQ has no unidirectional streams: opening such a stream is the client's
/// protocol error (RFC 9250 section 4.3.3).
const HTTP3_UNI_STREAMS_COUNT: u32 = 16;

async fn start(
    state: &Arc<EdgeState>,
    address: SocketAddr,
    kind: ListenerKind,
    alpn: Vec<Vec<u8>>,
    control: Option<&Arc<QuicControl>>,
) -> io::Result<JoinHandle<()>> {
    let state = Arc::clone(state);
    Ok(match kind {
        ListenerKind::Udp => {
            let socket = UdpSocket::bind(address).await?;
            tokio::spawn(udp::serve(state, socket))
        }
        ListenerKind::Tcp => {
            let listener = listen_tcp(address).await?;
            tokio::spawn(tcp::serve_plain(state, listener))
        }
        ListenerKind::Tls => {
            let listener = listen_tcp(address).await?;
            tokio::spawn(tcp::serve_tls(state, listener, alpn))
        }
        ListenerKind::Quic => {
            let settings = quic_settings(state.connections.limits(), &alpn);
            let policies = Arc::clone(&state.policies);
            let control = control.cloned().unwrap_or_default();
            let listener = QuicListener::bind(address, alpn, policies, &settings, control)?;
            tokio::spawn(quic::serve(state, listener, address))
        }
    })
}

fn quic_settings(limits: &Limits, alpn: &[Vec<u8>]) -> QuicSettings {
    let http3 = alpn.iter().any(|id| id == b"h3");
    QuicSettings {
        max_bidi_streams_count: limits.streams_count,
        max_uni_streams_count: if http3 { HTTP3_UNI_STREAMS_COUNT } else { 0 },
        idle_timeout: limits.idle_timeout,
        stream_window_bytes: limits.stream_window_bytes,
        connection_window_bytes: limits.connection_window_bytes,
        initial_window_bytes: limits.quic_initial_window_bytes,
        waiting_count: limits.waiting_count,
        waiting_bytes: limits.waiting_bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_of_open_files_is_told_from_an_address_in_use() {
        let text = |number: i32| {
            let error = ListenError {
                address: "127.0.0.1:53".parse().unwrap(),
                kind: ListenerKind::Udp,
                source: io::Error::from_raw_os_error(number),
            };
            crate::edge::EdgeError::from(error).to_string()
        };
        assert!(text(libc::EMFILE).ends_with("(ulimit -n)"));
        assert!(text(libc::ENFILE).ends_with("(fs.file-max)"));
        for number in [libc::EADDRINUSE, libc::EADDRNOTAVAIL] {
            assert!(text(number).ends_with("the port free?"));
        }
    }
}
