//! The stub: takes plain DNS on a local address and forwards every question over any transport, so
//! that programs without encrypted DNS can be measured with it.
//!
//! For: one record per forwarded query, with the stub's side of it.
//! Not for: caching (the upstream's answers are what is measured), or choosing among resolvers.

mod answering;
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
mod stream;

pub use crate::upstream::ConnectionPolicy;
pub use answering::Answering;
pub use limits::ClientLimits;
pub use options::StubOptions;

use crate::client::{DnsClient, Forgetting};
use crate::question::QuestionError;
use forward::Service;
use resolab_http::H3Client;
use resolab_record::Record;
use resolab_transport::answering_socket::AnsweringSocket;
use std::io;
use std::net::SocketAddr;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Weak};
use tokio::net::{TcpListener, UdpSocket};

/// A stub that is listening.
pub struct Stub {
    udp: Arc<AnsweringSocket>,
    tcp: TcpListener,
    service: Arc<Service>,
}

impl Stub {
    /// Listen on sockets that are bound already; needs the context of a tokio runtime. Records as
    /// with `bind`.
    pub fn over(
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
            service: Arc::new(Service::new(client, options, records)),
        })
    }

    /// Listen on UDP and TCP. Records go to `records`, which is written out elsewhere: writing may
    /// block.
    pub async fn bind(
        listen: SocketAddr,
        client: DnsClient,
        options: StubOptions,
        records: Sender<Record>,
    ) -> io::Result<Self> {
        let (udp, tcp) = bind_both(listen).await?;
        let service = Service::new(client, options, records);
        Ok(Self {
            udp: Arc::new(AnsweringSocket::new(udp)?),
            tcp,
            service: Arc::new(service),
        })
    }

    /// The same, whose clients are told what `answering` says.
    pub async fn bind_answering(
        listen: SocketAddr,
        client: DnsClient,
        options: StubOptions,
        records: Sender<Record>,
        answering: Arc<dyn Answering>,
    ) -> io::Result<Self> {
        let (udp, tcp) = bind_both(listen).await?;
        let mut service = Service::new(client, options, records);
        service.answering = Some(answering);
        Ok(Self {
            udp: Arc::new(AnsweringSocket::new(udp)?),
            tcp,
            service: Arc::new(service),
        })
    }

    /// Where it listens.
    pub fn listen_address(&self) -> io::Result<SocketAddr> {
        self.udp.local_addr()
    }

    /// Resolves when no query is under way and all records are handed over; each takes its deadline at
    /// most.
    pub async fn queries_ended(&self) {
        self.service.queries_ended().await;
    }

    /// Shows the connection to the resolver to those who send pages' requests on it.
    pub fn resolver_connection(&self) -> ResolverConnection {
        ResolverConnection(Arc::downgrade(&self.service))
    }

    /// Answer queries until dropped.
    pub async fn serve(&self) {
        let datagrams = listen::serve_datagrams(Arc::clone(&self.udp), Arc::clone(&self.service));
        let streams = listen::serve_streams(&self.tcp, &self.service);
        let idle = self.service.watch_idle();
        tokio::join!(datagrams, streams, idle);
    }

    /// Give up the queries under way, whose records say so, and close the upstream connection.
    pub async fn end(&self) {
        self.service.end().await;
    }

    /// Ask for the addresses and HTTPS records of these names with the next query, and answer from what
    /// comes until connections are closed.
    pub fn push_answers(&self, names: &[String]) -> Result<(), QuestionError> {
        self.service.push_answers(names)
    }

    /// Close the upstream connection that is kept, drop answers that were pushed and forget what was
    /// learnt of the resolver; with `forget_tickets` also what it gave, so that the next handshake is a
    /// full one.
    pub async fn close_connections(&self, forget_tickets: bool) {
        let forgetting = if forget_tickets {
            Forgetting::All
        } else {
            Forgetting::Learnt
        };
        self.service.close(forgetting).await;
    }
}

/// The stub's connection to its resolver, whichever it is at the moment; none once the stub is gone,
/// which whoever holds this does not keep.
#[derive(Clone)]
pub struct ResolverConnection(Weak<Service>);

impl ResolverConnection {
    /// HTTP/3 on it; `None` while there is none, and where it carries queries alone.
    pub fn http3(&self) -> Option<Arc<H3Client>> {
        self.0.upgrade()?.http3()
    }

    /// The same, as soon as there is one, in time for the flight of the query it is opened for; never
    /// where it carries queries alone.
    pub async fn http3_opened(&self) -> Arc<H3Client> {
        match self.0.upgrade() {
            Some(service) => service.http3_opened().await,
            None => std::future::pending().await,
        }
    }
}

/// Ports tried where any will do: one that is free over UDP may be taken over TCP.
const ANY_PORT_ATTEMPTS_COUNT: u32 = 16;

/// The same port over both.
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
