//! The engine of DNS in HTTP/2 (RFC 8484): requests on connections that are opened before the clock
//! starts and again when the peer ends them. As with DoT a query is a TLS record of its own, and
//! those that are due together leave in one system call. Not for: HTTP/2 itself (`http2`).

use crate::carrier::{Carrier, Wanted};
use crate::doh_link::{Link, Requests};
use crate::engine::{LiveCounters, LoadError};
use crate::plan::{Pace, WorkerPlan};
use crate::readiness::{Interest, Readiness};
use crate::slots::Waiting;
use crate::stream::{Phase, Progress, READ_BYTES, Stream};
use crate::tally::Tally;
use crate::{closed_loop, open_loop};
use resolab_record::Failure;
use resolab_transport::client::TlsClient;
use resolab_transport::clock::monotonic_ns;
use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

/// Timeouts, closed connections and refused queries need not be looked at more often.
const TEND_INTERVAL_NS: u64 = 1_000_000;
/// A peer that refuses a connection is asked again after so long.
const RECONNECT_PAUSE_NS: u64 = 100_000_000;
const OPENING_WAIT_NS: u64 = 10_000_000;
const ALPN: &[u8] = b"h2";

struct Connection {
    /// `None` when it has ended.
    stream: Option<Stream>,
    interest: Interest,
    link: Link,
    /// Not to be opened again before.
    reopen_ns: u64,
    is_reconnect: bool,
}

struct Doh<'a> {
    connections: Vec<Connection>,
    readiness: Readiness,
    resolver: SocketAddr,
    tls: &'a TlsClient,
    requests: Arc<Requests>,
    /// Queries a server left unprocessed, to be sent again.
    again: VecDeque<Waiting>,
    timeout_ns: u64,
    tended_ns: u64,
    buffer: Vec<u8>,
    inbox: Vec<u8>,
}

/// Carry out a worker's share.
pub fn run(worker: &WorkerPlan, live: &LiveCounters) -> Result<Tally, LoadError> {
    let tls = worker.plan.tls.as_ref();
    let tls = tls.ok_or(LoadError::Unsupported("load DoH without TLS"))?;
    let mut tally = Tally::new(worker.plan.pace != Pace::Closed);
    let mut carrier = Doh::new(worker, tls)?;
    carrier.open_all(live, &mut tally)?;
    let start_ns = worker.gate.arrive().ok_or(LoadError::CalledOff)?;
    match worker.plan.pace {
        Pace::Closed => closed_loop::run(worker, start_ns, &mut carrier, live, &mut tally)?,
        Pace::Open { .. } => open_loop::run(worker, start_ns, &mut carrier, live, &mut tally)?,
    }
    Ok(tally)
}

impl<'a> Doh<'a> {
    fn new(worker: &WorkerPlan, tls: &'a TlsClient) -> Result<Self, LoadError> {
        let requests = Arc::new(Requests::new(&worker.plan));
        let closed = |slot_count| Connection {
            stream: None,
            interest: Interest::ReadAndWrite,
            link: Link::new(&requests, slot_count),
            reopen_ns: 0,
            is_reconnect: false,
        };
        Ok(Self {
            connections: worker.slot_counts().into_iter().map(closed).collect(),
            readiness: Readiness::new().map_err(LoadError::kernel("watch sockets"))?,
            resolver: worker.plan.resolver_address,
            tls,
            requests,
            again: VecDeque::new(),
            timeout_ns: worker.timeout_ns(),
            tended_ns: 0,
            buffer: vec![0; READ_BYTES],
            inbox: Vec::with_capacity(READ_BYTES),
        })
    }

    /// Open all connections, side by side; one that cannot be is the end.
    fn open_all(&mut self, live: &LiveCounters, tally: &mut Tally) -> Result<(), LoadError> {
        let resolver = self.resolver;
        let refused = |reason: String| LoadError::Connect { resolver, reason };
        for connection in 0..self.connections.len() {
            self.open(connection)
                .map_err(|error| refused(error.to_string()))?;
        }
        let deadline_ns = monotonic_ns() + self.timeout_ns;
        while !self.connections.iter().all(Connection::is_open) {
            if monotonic_ns() > deadline_ns {
                return Err(refused("no connection in time".to_owned()));
            }
            if live.is_stopped() {
                return Err(LoadError::CalledOff);
            }
            self.wait(OPENING_WAIT_NS)?;
            for position in 0..self.readiness.ready_count() {
                let connection = self.readiness.ready(position);
                self.proceed(connection, tally)
                    .map_err(|error| refused(error.to_string()))?;
            }
        }
        Ok(())
    }

    fn open(&mut self, connection: usize) -> io::Result<()> {
        let stream = Stream::begin(self.resolver, Some(self.tls))?;
        let interest = Interest::ReadAndWrite;
        self.readiness.watch(stream.fd(), connection, interest)?;
        let connection = &mut self.connections[connection];
        connection.stream = Some(stream);
        connection.interest = interest;
        Ok(())
    }

    /// Go on with a connection that is not open yet. HTTP/2 begins where TLS is done.
    fn proceed(&mut self, connection: usize, tally: &mut Tally) -> io::Result<()> {
        let Connection {
            stream: Some(stream),
            link,
            is_reconnect,
            ..
        } = &mut self.connections[connection]
        else {
            return Ok(());
        };
        if stream.phase() != Phase::Open
            && let Progress::Opened(duration_ns) = stream.proceed()?
        {
            if stream.alpn() != Some(ALPN) {
                return Err(io::Error::other("the server does not speak HTTP/2"));
            }
            stream.write(link.begin())?;
            stream.flush()?;
            tally.connected(duration_ns);
            tally.reconnect_count += u64::from(*is_reconnect);
        }
        self.watch_as_needed(connection)
    }

    /// Writability is watched only while something waits for it.
    fn watch_as_needed(&mut self, token: usize) -> io::Result<()> {
        let connection = &mut self.connections[token];
        let Some(stream) = &connection.stream else {
            return Ok(());
        };
        let interest = if stream.wants_write() {
            Interest::ReadAndWrite
        } else {
            Interest::Read
        };
        if interest != connection.interest {
            self.readiness.change(stream.fd(), token, interest)?;
            connection.interest = interest;
        }
        Ok(())
    }

    /// The connection has ended; whatever waited on it will not be answered.
    fn close(&mut self, connection: usize, failure: Failure, tally: &mut Tally) {
        let now_ns = monotonic_ns();
        let connection = &mut self.connections[connection];
        let was_open = connection.is_open();
        connection.stream = None;
        connection.is_reconnect = true;
        connection.reopen_ns = if was_open {
            now_ns
        } else {
            tally.handshake_failure_count += 1;
            now_ns + RECONNECT_PAUSE_NS
        };
        for _ in 0..connection.link.give_up_all() {
            tally.interrupted(failure);
        }
    }

    /// Read a connection and book the responses that are whole. Why it does not go on, if so.
    fn read(&mut self, connection: usize, tally: &mut Tally) -> Result<(), Failure> {
        let Connection {
            stream: Some(stream),
            link,
            ..
        } = &mut self.connections[connection]
        else {
            return Ok(());
        };
        let closed = |_: io::Error| Failure::QueryConnectionClosed;
        if stream.wants_write() {
            stream.flush().map_err(closed)?;
        }
        self.inbox.clear();
        let goes_on = stream.read(&mut self.buffer, &mut self.inbox);
        let received_ns = monotonic_ns();
        let reply = link.receive(&self.inbox, received_ns, &mut self.again, tally);
        let reply = reply.map_err(|_| Failure::HttpProtocol)?;
        if !reply.is_empty() {
            stream.write(reply).map_err(closed)?;
            stream.flush().map_err(closed)?;
        }
        let is_done = link.is_done();
        if goes_on.map_err(closed)? && !is_done {
            Ok(())
        } else {
            Err(Failure::QueryConnectionClosed)
        }
    }

    fn attend(&mut self, connection: usize, tally: &mut Tally) -> Result<(), Failure> {
        let closed = |_: io::Error| Failure::QueryConnectionClosed;
        if !self.connections[connection].is_open() {
            return self.proceed(connection, tally).map_err(closed);
        }
        self.read(connection, tally)?;
        self.watch_as_needed(connection).map_err(closed)
    }

    /// Send queries that were not sent before, or, with `again`, those left unprocessed.
    fn write(
        &mut self,
        connection: usize,
        queries: &[Wanted],
        tally: &mut Tally,
    ) -> io::Result<()> {
        let room = self.room(connection);
        let Connection {
            stream: Some(stream),
            link,
            ..
        } = &mut self.connections[connection]
        else {
            return Ok(());
        };
        let sent_ns = monotonic_ns();
        for query in queries {
            let wanted_ns = query.wanted_ns.unwrap_or(sent_ns);
            let waiting = Waiting {
                name: query.name,
                wanted_ns,
                sent_ns,
            };
            tally.sent(wanted_ns, sent_ns, self.requests.query_bytes(query.name));
            stream.write(link.open(waiting))?;
        }
        for _ in queries.len()..room {
            let Some(waiting) = self.again.pop_front() else {
                break;
            };
            stream.write(link.open(Waiting { sent_ns, ..waiting }))?;
        }
        stream.flush()?;
        self.watch_as_needed(connection)
    }

    /// Send again what was refused, or give it up.
    fn ask_again(&mut self, now_ns: u64, tally: &mut Tally) {
        let too_old_ns = now_ns.saturating_sub(self.timeout_ns);
        let before = self.again.len();
        self.again.retain(|query| query.wanted_ns >= too_old_ns);
        tally.lost_count += (before - self.again.len()) as u64;
        for connection in 0..self.connections.len() {
            if self.again.is_empty() {
                return;
            }
            if self.room(connection) > 0 && self.write(connection, &[], tally).is_err() {
                self.close(connection, Failure::QueryConnectionClosed, tally);
            }
        }
    }

    /// Give up what waits too long on a connection, and open it again when it has closed.
    fn tend_connection(&mut self, index: usize, now_ns: u64, tally: &mut Tally) {
        let connection = &mut self.connections[index];
        let too_old_ns = now_ns.saturating_sub(self.timeout_ns);
        let (given_up, cancellation) = connection.link.give_up_before(too_old_ns);
        tally.lost_count += given_up;
        let is_hopeless = match &mut connection.stream {
            Some(stream) if stream.phase() == Phase::Open => {
                given_up > 0 && (stream.write(cancellation).is_err() || stream.flush().is_err())
                    || connection.link.is_done()
            }
            Some(stream) => stream.began_ns() < too_old_ns,
            None => connection.reopen_ns <= now_ns && self.open(index).is_err(),
        };
        if is_hopeless {
            self.close(index, Failure::QueryConnectionClosed, tally);
        }
    }
}

impl Connection {
    fn is_open(&self) -> bool {
        let stream = self.stream.as_ref();
        stream.is_some_and(|stream| stream.phase() == Phase::Open)
    }
}

impl Carrier for Doh<'_> {
    const HAS_RECEIVE_STAMPS: bool = false;

    fn connection_count(&self) -> usize {
        self.connections.len()
    }

    fn room(&self, connection: usize) -> usize {
        let connection = &self.connections[connection];
        let is_free = |stream: &Stream| stream.phase() == Phase::Open && !stream.wants_write();
        if connection.stream.as_ref().is_some_and(is_free) {
            connection.link.room()
        } else {
            0
        }
    }

    fn send(
        &mut self,
        connection: usize,
        queries: &[Wanted],
        tally: &mut Tally,
    ) -> Result<(), LoadError> {
        if !queries.is_empty() && self.write(connection, queries, tally).is_err() {
            self.close(connection, Failure::QueryConnectionClosed, tally);
        }
        Ok(())
    }

    fn wait(&mut self, at_most_ns: u64) -> Result<bool, LoadError> {
        let waited = self.readiness.wait(at_most_ns);
        waited.map_err(LoadError::kernel("wait for answers"))
    }

    fn receive(&mut self, tally: &mut Tally) -> Result<(), LoadError> {
        for position in 0..self.readiness.ready_count() {
            let connection = self.readiness.ready(position);
            if let Err(failure) = self.attend(connection, tally) {
                self.close(connection, failure, tally);
            }
        }
        Ok(())
    }

    fn tend(&mut self, now_ns: u64, tally: &mut Tally) -> Result<(), LoadError> {
        if now_ns < self.tended_ns + TEND_INTERVAL_NS {
            return Ok(());
        }
        self.tended_ns = now_ns;
        for index in 0..self.connections.len() {
            self.tend_connection(index, now_ns, tally);
        }
        if !self.again.is_empty() {
            self.ask_again(now_ns, tally);
        }
        Ok(())
    }

    fn outstanding(&self) -> usize {
        let connections = self.connections.iter();
        let waiting = connections.map(|connection| connection.link.waiting_count());
        waiting.sum::<usize>() + self.again.len()
    }

    fn cut_off(&mut self, tally: &mut Tally) {
        for connection in &mut self.connections {
            tally.cut_off(connection.link.give_up_all());
        }
        tally.cut_off(self.again.len() as u64);
        self.again.clear();
    }
}
