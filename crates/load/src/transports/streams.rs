//! The engine of queries on byte streams, with or without TLS. Connections are opened before the
//! clock starts, and again after their end. Not for: the bytes on a stream, see [`StreamProtocol`];
//! UDP and QUIC.

use crate::counting::{LiveCounters, Tally};
use crate::error::LoadError;
use crate::loops;
use crate::loops::carrier::{ConnectionSet, DueQuery};
use crate::plan::{LoadPacing, WorkerPlan};
use crate::sockets::readiness::{Interest, Readiness};
use crate::sockets::stream::{ConnectStep, READ_BYTES, StreamPhase, TlsOrTcpStream};
use crate::transports::stream_protocol::StreamProtocol;
use resolab_record::Failure;
use resolab_transport::client::TlsClient;
use resolab_transport::clock::monotonic_ns;
use std::io;
use std::net::SocketAddr;

/// The shortest interval between checks of timeouts, closed connections and requeued queries.
const TEND_INTERVAL_NS: u64 = 1_000_000;
/// The pause before connecting again to a peer after a failed connection.
const RECONNECT_PAUSE_NS: u64 = 100_000_000;
const OPENING_WAIT_NS: u64 = 10_000_000;

struct StreamConnection<L> {
    /// The stream; `None` after its end.
    stream: Option<TlsOrTcpStream>,
    interest: Interest,
    conversation: L,
    /// The earliest time for opening again.
    reopen_ns: u64,
    is_reconnect: bool,
}

struct Streams<'a, P: StreamProtocol> {
    protocol: P,
    connections: Vec<StreamConnection<P::Conversation>>,
    readiness: Readiness,
    resolver: SocketAddr,
    tls: Option<&'a TlsClient>,
    timeout_ns: u64,
    tended_ns: u64,
    buffer: Vec<u8>,
    /// The failure of the last connection attempt.
    connect_failure: Option<Failure>,
}

/// Runs a worker's share of the load.
pub fn run<P: StreamProtocol>(
    worker: &WorkerPlan,
    tls: Option<&TlsClient>,
    protocol: P,
    live: &LiveCounters,
) -> Result<Tally, LoadError> {
    let mut tally = Tally::new(worker.plan.pace != LoadPacing::Closed, worker.timeout_ns());
    let mut carrier = Streams::new(worker, tls, protocol)?;
    carrier.open_all(live, &mut tally)?;
    let start_ns = worker.gate.arrive().ok_or(LoadError::CalledOff)?;
    loops::run(worker, start_ns, &mut carrier, live, &mut tally)?;
    Ok(tally)
}

fn closed(_: io::Error) -> Failure {
    Failure::QueryConnectionClosed
}

impl<'a, P: StreamProtocol> Streams<'a, P> {
    fn new(
        worker: &WorkerPlan,
        tls: Option<&'a TlsClient>,
        protocol: P,
    ) -> Result<Self, LoadError> {
        let closed = |slot_count| StreamConnection {
            stream: None,
            interest: Interest::ReadAndWrite,
            conversation: protocol.conversation(slot_count),
            reopen_ns: 0,
            is_reconnect: false,
        };
        Ok(Self {
            connections: worker.slot_counts().into_iter().map(closed).collect(),
            protocol,
            readiness: Readiness::new().map_err(LoadError::kernel("watch sockets"))?,
            resolver: worker.plan.resolver_address,
            tls,
            timeout_ns: worker.timeout_ns(),
            tended_ns: 0,
            buffer: vec![0; READ_BYTES],
            connect_failure: None,
        })
    }

    /// Opens all connections in parallel; the first failure ends the run.
    fn open_all(&mut self, live: &LiveCounters, tally: &mut Tally) -> Result<(), LoadError> {
        let resolver = self.resolver;
        let ended = |phase: StreamPhase, error: io::Error| {
            LoadError::from_connect_failure(resolver, phase.failure_of(&error), error)
        };
        for connection in 0..self.connections.len() {
            self.open(connection)
                .map_err(|error| ended(StreamPhase::Connecting, error))?;
        }
        let deadline_ns = monotonic_ns() + self.timeout_ns;
        while let Some(late) = self
            .connections
            .iter()
            .find(|connection| !connection.is_open())
        {
            if monotonic_ns() > deadline_ns {
                return Err(LoadError::Connect {
                    resolver,
                    failure: late.phase().failure_of_timeout(),
                    reason: "no connection in time".to_owned(),
                });
            }
            if live.is_stopped() {
                return Err(LoadError::CalledOff);
            }
            self.wait(OPENING_WAIT_NS)?;
            for position in 0..self.readiness.ready_count() {
                let connection = self.readiness.ready(position);
                let proceeded = self.proceed(connection, tally);
                let phase = self.connections[connection].phase();
                proceeded.map_err(|error| ended(phase, error))?;
            }
        }
        Ok(())
    }

    fn open(&mut self, connection: usize) -> io::Result<()> {
        let stream = TlsOrTcpStream::begin(self.resolver, self.tls)?;
        let interest = Interest::ReadAndWrite;
        self.readiness.watch(stream.fd(), connection, interest)?;
        let connection = &mut self.connections[connection];
        connection.stream = Some(stream);
        connection.interest = interest;
        Ok(())
    }

    /// Advances a connection not open yet. The protocol begins when TLS is done.
    fn proceed(&mut self, connection: usize, tally: &mut Tally) -> io::Result<()> {
        let StreamConnection {
            stream: Some(stream),
            conversation,
            is_reconnect,
            ..
        } = &mut self.connections[connection]
        else {
            return Ok(());
        };
        if stream.phase() != StreamPhase::Open
            && let ConnectStep::Opened(duration_ns) = stream.proceed()?
        {
            self.protocol.begin(conversation, stream)?;
            tally.note_connection(duration_ns);
            if let Some(hello_facts) = stream.take_hello_facts() {
                tally.note_hello(hello_facts);
            }
            tally.reconnect_count += u64::from(*is_reconnect);
        }
        self.watch_as_needed(connection)
    }

    /// Adjusts the watched events: writability is watched only while bytes wait for room.
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

    /// Closes an ended connection; queries waiting for answers are interrupted.
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
            self.connect_failure = Some(failure);
            now_ns + RECONNECT_PAUSE_NS
        };
        for _ in 0..self.protocol.give_up_all(&mut connection.conversation) {
            tally.note_interruption(failure);
        }
    }

    fn read(&mut self, connection: usize, tally: &mut Tally) -> Result<(), Failure> {
        let StreamConnection {
            stream: Some(stream),
            conversation,
            ..
        } = &mut self.connections[connection]
        else {
            return Ok(());
        };
        if stream.wants_write() {
            stream.flush().map_err(closed)?;
        }
        self.protocol
            .read(conversation, stream, &mut self.buffer, tally)
    }

    fn attend(&mut self, connection: usize, tally: &mut Tally) -> Result<(), Failure> {
        if !self.connections[connection].is_open() {
            let proceeded = self.proceed(connection, tally);
            let phase = self.connections[connection].phase();
            return proceeded.map_err(|error| phase.failure_of(&error));
        }
        self.read(connection, tally)?;
        self.watch_as_needed(connection).map_err(closed)
    }

    fn write(
        &mut self,
        connection: usize,
        queries: &[DueQuery],
        tally: &mut Tally,
    ) -> io::Result<()> {
        let room = self.room(connection);
        let StreamConnection {
            stream: Some(stream),
            conversation,
            ..
        } = &mut self.connections[connection]
        else {
            return Ok(());
        };
        self.protocol
            .write(conversation, stream, queries, room, tally)?;
        stream.flush()?;
        self.watch_as_needed(connection)
    }

    /// Gives up overdue queries on a connection, and reopens a closed connection.
    fn tend_connection(&mut self, index: usize, too_old_ns: u64, tally: &mut Tally) {
        let StreamConnection {
            stream,
            conversation,
            reopen_ns,
            ..
        } = &mut self.connections[index];
        let open = stream
            .as_mut()
            .filter(|connection| connection.phase() == StreamPhase::Open);
        let is_of_use = self
            .protocol
            .give_up_before(conversation, open, too_old_ns, tally);
        let hopeless = match stream {
            Some(stream) if stream.phase() == StreamPhase::Open => {
                (!is_of_use).then_some(Failure::QueryConnectionClosed)
            }
            Some(stream) => {
                (stream.began_ns() < too_old_ns).then(|| stream.phase().failure_of_timeout())
            }
            None if *reopen_ns > monotonic_ns() => None,
            None => {
                let opened = self.open(index);
                opened
                    .err()
                    .map(|error| StreamPhase::Connecting.failure_of(&error))
            }
        };
        if let Some(failure) = hopeless {
            self.close(index, failure, tally);
        }
    }

    /// Sends the requeued queries on any connection with room, or gives up overdue queries.
    fn resend_requeued(&mut self, too_old_ns: u64, tally: &mut Tally) {
        tally.lost_count += self.protocol.give_up_requeued_before(too_old_ns);
        for connection in 0..self.connections.len() {
            if self.protocol.requeued_count() == 0 {
                return;
            }
            if self.room(connection) > 0 && self.write(connection, &[], tally).is_err() {
                self.close(connection, Failure::QueryConnectionClosed, tally);
            }
        }
    }
}

impl<L> StreamConnection<L> {
    fn is_open(&self) -> bool {
        self.stream.is_some() && self.phase() == StreamPhase::Open
    }

    fn phase(&self) -> StreamPhase {
        let stream = self.stream.as_ref();
        stream.map_or(StreamPhase::Connecting, TlsOrTcpStream::phase)
    }
}

impl<P: StreamProtocol> ConnectionSet for Streams<'_, P> {
    const HAS_RECEIVE_STAMPS: bool = false;

    fn connection_count(&self) -> usize {
        self.connections.len()
    }

    fn room(&self, connection: usize) -> usize {
        let connection = &self.connections[connection];
        let is_free =
            |stream: &TlsOrTcpStream| stream.phase() == StreamPhase::Open && !stream.wants_write();
        if connection.stream.as_ref().is_some_and(is_free) {
            self.protocol.room(&connection.conversation)
        } else {
            0
        }
    }

    fn send(
        &mut self,
        connection: usize,
        queries: &[DueQuery],
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
        let too_old_ns = now_ns.saturating_sub(self.timeout_ns);
        for index in 0..self.connections.len() {
            self.tend_connection(index, too_old_ns, tally);
        }
        if self.protocol.requeued_count() > 0 {
            self.resend_requeued(too_old_ns, tally);
        }
        Ok(())
    }

    fn outstanding(&self) -> usize {
        let connections = self.connections.iter();
        let waiting =
            connections.map(|connection| self.protocol.waiting_count(&connection.conversation));
        waiting.sum::<usize>() + self.protocol.requeued_count()
    }

    /// Returns the failure of the last connection attempt; a timeout when open connections take no
    /// queries.
    fn obstacle(&self) -> Failure {
        if self.connections.iter().any(StreamConnection::is_open) {
            return Failure::QueryTimeout;
        }
        self.connect_failure.unwrap_or(Failure::TcpConnectTimeout)
    }

    fn cut_off(&mut self, tally: &mut Tally) {
        for connection in &mut self.connections {
            tally.cut_off(self.protocol.give_up_all(&mut connection.conversation));
        }
        tally.cut_off(self.protocol.give_up_requeued_before(u64::MAX));
    }
}
