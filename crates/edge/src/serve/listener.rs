//! Sockets: which there must be for a configuration, and their tasks.

use super::{IDLE_TIMEOUT, quic, tcp, udp};
use crate::coalescing::CoalescingConfig;
use crate::config::ResolverConfig;
use crate::web::settings::WebConfig;
use crate::world::World;
use resolab_http::private_alpn;
use resolab_transport::server::{QuicListener, QuicSettings, listen_tcp};
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use tokio::net::UdpSocket;
use tokio::task::JoinHandle;

/// What a socket is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ListenerKind {
    /// DoUDP.
    Udp,
    /// DoTCP.
    Tcp,
    /// TLS over TCP.
    Tls,
    /// QUIC.
    Quic,
}

/// A socket and the protocols offered on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListenerSpec {
    /// Where.
    pub address: SocketAddr,
    /// What for.
    pub kind: ListenerKind,
    /// ALPN offered.
    pub alpn: Option<&'static str>,
}

impl ListenerSpec {
    /// What the resolver needs.
    pub fn of_resolver(config: &ResolverConfig, coalescing: &CoalescingConfig) -> Vec<Self> {
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
                }));
            }
        }
        specs
    }

    /// What a site on `address` needs.
    pub fn of_site(address: IpAddr, web: &WebConfig) -> Vec<Self> {
        let over_tcp = web.tcp_alpn.iter().map(|alpn| Self {
            address: SocketAddr::new(address, web.h2_port),
            kind: ListenerKind::Tls,
            alpn: Some(alpn.id()),
        });
        let h3 = Self {
            address: SocketAddr::new(address, web.h3_port),
            kind: ListenerKind::Quic,
            alpn: Some("h3"),
        };
        over_tcp.chain([h3]).collect()
    }
}

/// A socket that could not be had.
#[derive(Debug, thiserror::Error)]
#[error("listen on {address} ({kind:?}): {source}")]
pub struct ListenError {
    /// Where.
    pub address: SocketAddr,
    /// What for.
    pub kind: ListenerKind,
    /// Why.
    pub source: io::Error,
}

/// Bound sockets with a task each.
#[derive(Default)]
pub struct Listeners {
    open: BTreeMap<(SocketAddr, ListenerKind), JoinHandle<()>>,
}

impl Listeners {
    /// Bind what is not bound yet. Protocols wanted on one socket share it.
    pub async fn add(
        &mut self,
        world: &Arc<World>,
        specs: &[ListenerSpec],
    ) -> Result<(), ListenError> {
        let mut wanted: BTreeMap<(SocketAddr, ListenerKind), Vec<Vec<u8>>> = BTreeMap::new();
        for spec in specs {
            let alpn = wanted.entry((spec.address, spec.kind)).or_default();
            let id = spec.alpn.map(|id| id.as_bytes().to_vec());
            alpn.extend(id.filter(|id| !alpn.contains(id)));
        }
        wanted.retain(|socket, _| !self.open.contains_key(socket));
        for ((address, kind), alpn) in wanted {
            let task = start(world, address, kind, alpn)
                .await
                .map_err(|source| ListenError {
                    address,
                    kind,
                    source,
                })?;
            self.open.insert((address, kind), task);
        }
        Ok(())
    }

    /// `udp://a:p` or `tcp://a:p` of each.
    pub fn urls(&self) -> Vec<String> {
        let url = |(address, kind): &(SocketAddr, ListenerKind)| match kind {
            ListenerKind::Udp | ListenerKind::Quic => format!("udp://{address}"),
            ListenerKind::Tcp | ListenerKind::Tls => format!("tcp://{address}"),
        };
        self.open.keys().map(url).collect()
    }

    /// Accept no more.
    pub fn stop(&mut self) {
        for task in std::mem::take(&mut self.open).into_values() {
            task.abort();
        }
    }
}

/// Requests under way at once on a QUIC connection, as on HTTP/2.
const BIDI_STREAMS_COUNT: u32 = 100;
/// Control, QPACK encoder and decoder, and some a browser may add. DoQ has none: opening one is
/// the client's protocol error (RFC 9250 section 4.3.3).
const HTTP3_UNI_STREAMS_COUNT: u32 = 16;

async fn start(
    world: &Arc<World>,
    address: SocketAddr,
    kind: ListenerKind,
    alpn: Vec<Vec<u8>>,
) -> io::Result<JoinHandle<()>> {
    let world = Arc::clone(world);
    Ok(match kind {
        ListenerKind::Udp => {
            let socket = UdpSocket::bind(address).await?;
            tokio::spawn(udp::serve(world, socket))
        }
        ListenerKind::Tcp => {
            let listener = listen_tcp(address).await?;
            tokio::spawn(tcp::serve_plain(world, listener))
        }
        ListenerKind::Tls => {
            let listener = listen_tcp(address).await?;
            tokio::spawn(tcp::serve_tls(world, listener, alpn))
        }
        ListenerKind::Quic => {
            let http3 = alpn.iter().any(|id| id == b"h3");
            let settings = QuicSettings {
                max_bidi_streams_count: BIDI_STREAMS_COUNT,
                max_uni_streams_count: if http3 { HTTP3_UNI_STREAMS_COUNT } else { 0 },
                idle_timeout: IDLE_TIMEOUT,
            };
            let policies = Arc::clone(&world.policies);
            let listener = QuicListener::bind(address, alpn, policies, &settings)?;
            tokio::spawn(quic::serve(world, listener, address))
        }
    })
}
