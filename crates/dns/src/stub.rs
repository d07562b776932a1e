//! The stub: takes plain DNS on a local address and forwards every question over any transport.
//! Programs without encrypted DNS can then be measured with it.
//!
//! For: one record per forwarded query, with the stub's side of the query. Not for: caching (the
//! measurement needs the upstream's answers), or choosing among resolvers.

mod client;
mod forward;
#[cfg(fuzzing)]
pub(crate) mod fuzzing;
mod gatherer;
mod limits;
mod listen;
mod options;
mod pushed;
mod reply;
mod reply_override;
mod stream;

pub use crate::upstream::ConnectionPolicy;
pub use limits::ClientLimits;
pub use options::StubOptions;
pub use reply_override::ReplyOverride;

use crate::client::{DnsClient, ForgetScope};
use crate::question::QuestionError;
use forward::StubState;
use resolab_http::H3Client;
use resolab_record::Record;
use resolab_transport::answering_socket::AnsweringSocket;
use std::io;
use std::net::SocketAddr;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Weak};
use tokio::net::{TcpListener, UdpSocket};

/// A listening stub, with its sockets.
pub struct Stub {
    udp: Arc<AnsweringSocket>,
    tcp: TcpListener,
    service: Arc<StubState>,
}

impl Stub {
    /// Listens on sockets already bound; needs the context of a tokio runtime. Records go to
    /// `records`, as with `bind`.
    pub fn from_sockets(
        udp: std::net::UdpSocket,
        tcp: std::net::TcpListener,
        client: DnsClient,
        options: StubOptions,
        records: Sender<Record>,
    ) -> io::Result<Self> {
        udp.set_nonblocking(true)?;
        tcp.set_nonblocking(true)?;
        Ok(Self {
            udp: Arc::new(AnsweringSocket::new(UdpSocket::from_std(udp)?)?),
            tcp: TcpListener::from_std(tcp)?,
            service: Arc::new(StubState::new(client, options, records)),
        })
    }

    /// Listens on UDP and TCP. Another task must write out `records`, because writing may block.
    pub async fn bind(
        listen: SocketAddr,
        client: DnsClient,
        options: StubOptions,
        records: Sender<Record>,
    ) -> io::Result<Self> {
        let (udp, tcp) = bind_both(listen).await?;
        let service = StubState::new(client, options, records);
        Ok(Self {
            udp: Arc::new(AnsweringSocket::new(udp)?),
            tcp,
            service: Arc::new(service),
        })
    }

    /// Listens on UDP and TCP, and lets `reply_override` replace the replies to clients.
    pub async fn bind_with_override(
        listen: SocketAddr,
        client: DnsClient,
        options: StubOptions,
        records: Sender<Record>,
        reply_override: Arc<dyn ReplyOverride>,
    ) -> io::Result<Self> {
        let (udp, tcp) = bind_both(listen).await?;
        let mut service = StubState::new(client, options, records);
        service.reply_override = Some(reply_override);
        Ok(Self {
            udp: Arc::new(AnsweringSocket::new(udp)?),
            tcp,
            service: Arc::new(service),
        })
    }

    /// Returns the address of the listening sockets.
    pub fn listen_address(&self) -> io::Result<SocketAddr> {
        self.udp.local_addr()
    }

    /// Waits until no query is pending and all records are sent; each query ends at its deadline at
    /// the latest.
    pub async fn queries_ended(&self) {
        self.service.queries_ended().await;
    }

    /// Returns access to the resolver's connection, for sending pages' requests on it.
    pub fn resolver_connection(&self) -> StubResolverConnection {
        StubResolverConnection(Arc::downgrade(&self.service))
    }

    /// Answers queries until dropped.
    pub async fn serve(&self) {
        let datagrams = listen::serve_datagrams(Arc::clone(&self.udp), Arc::clone(&self.service));
        let streams = listen::serve_streams(&self.tcp, &self.service);
        let idle = self.service.watch_idle();
        tokio::join!(datagrams, streams, idle);
    }

    /// Gives up the pending queries, writes this in their records, and closes the upstream
    /// connection.
    pub async fn end(&self) {
        self.service.end().await;
    }

    /// Asks for the addresses and HTTPS records of these names with the next query, and answers
    /// from the results until connections are closed.
    pub fn push_answers(&self, names: &[String]) -> Result<(), QuestionError> {
        self.service.push_answers(names)
    }

    /// Closes the kept upstream connection, drops pushed answers, and forgets everything learnt
    /// about the resolver. With `forget_tickets`, also forgets everything given by the resolver, so
    /// the next handshake is full.
    pub async fn close_connections(&self, forget_tickets: bool) {
        let forgetting = if forget_tickets {
            ForgetScope::All
        } else {
            ForgetScope::Learnt
        };
        self.service.close(forgetting).await;
    }
}

/// The stub's present connection to its resolver. Holding this value does not keep the stub alive;
/// after the stub's end there is no connection.
#[derive(Clone)]
pub struct StubResolverConnection(Weak<StubState>);

impl StubResolverConnection {
    /// Returns HTTP/3 on the connection; `None` without a connection, or when the connection
    /// carries queries only.
    pub fn http3(&self) -> Option<Arc<H3Client>> {
        self.0.upgrade()?.http3()
    }

    /// Waits for HTTP/3 on the connection, in time for the flight of the query opening it. Never
    /// returns when the connection carries queries only.
    pub async fn http3_opened(&self) -> Arc<H3Client> {
        match self.0.upgrade() {
            Some(service) => service.http3_opened().await,
            None => std::future::pending().await,
        }
    }
}

/// The number of tries for a free port: a port free over UDP may be taken over TCP.
const ANY_PORT_ATTEMPTS_COUNT: u32 = 16;

/// Binds the same port over UDP and TCP.
async fn bind_both(listen: SocketAddr) -> io::Result<(UdpSocket, TcpListener)> {
    let mut attempt = 0;
    loop {
        attempt += 1;
        let udp = UdpSocket::bind(listen).await?;
        match TcpListener::bind(udp.local_addr()?).await {
            Ok(tcp) => return Ok((udp, tcp)),
            Err(error)
                if listen.port() == 0
                    && error.kind() == io::ErrorKind::AddrInUse
                    && attempt < ANY_PORT_ATTEMPTS_COUNT => {}
            Err(error) => return Err(error),
        }
    }
}
