//! The engine of DNS over byte streams: messages behind their length (RFC 1035 section 4.2.2) on
//! connections that are opened before the clock starts and again when the peer closes them. Not
//! for: HTTP and QUIC.

use crate::carrier::{Carrier, Wanted};
use crate::engine::{LiveCounters, LoadError};
use crate::matching::book;
use crate::names::Names;
use crate::plan::{Pace, WorkerPlan};
use crate::readiness::{Interest, Readiness};
use crate::slots::{Slots, Waiting};
use crate::stream::{Phase, Progress, READ_BYTES, Stream};
use crate::tally::Tally;
use crate::{closed_loop, open_loop};
use resolab_record::Failure;
use resolab_transport::client::TlsClient;
use resolab_transport::clock::monotonic_ns;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

const LENGTH_BYTES: usize = 2;
/// Timeouts and closed connections need not be looked at more often.
const TEND_INTERVAL_NS: u64 = 1_000_000;
/// A peer that refuses a connection is asked again after so long.
const RECONNECT_PAUSE_NS: u64 = 100_000_000;
const OPENING_WAIT_NS: u64 = 10_000_000;

struct Connection {
    /// `None` when it has ended.
    stream: Option<Stream>,
    interest: Interest,
    slots: Slots,
    /// What has come, up to the beginning of a message that is not whole.
    inbox: Vec<u8>,
    /// Not to be opened again before.
    reopen_ns: u64,
    is_reconnect: bool,
}

struct Framed<'a> {
    connections: Vec<Connection>,
    readiness: Readiness,
    resolver: SocketAddr,
    tls: Option<&'a TlsClient>,
    names: Arc<Names>,
    timeout_ns: u64,
    tended_ns: u64,
    buffer: Vec<u8>,
    /// A query behind its length, being put together.
    frame: Vec<u8>,
}

/// Carry out a worker's share.
pub fn run(
    worker: &WorkerPlan,
    tls: Option<&TlsClient>,
    live: &LiveCounters,
) -> Result<Tally, LoadError> {
    let mut tally = Tally::new(worker.plan.pace != Pace::Closed);
    let mut carrier = Framed::new(worker, tls)?;
    carrier.open_all(live, &mut tally)?;
    let start_ns = worker.gate.arrive().ok_or(LoadError::CalledOff)?;
    match worker.plan.pace {
        Pace::Closed => closed_loop::run(worker, start_ns, &mut carrier, live, &mut tally)?,
        Pace::Open { .. } => open_loop::run(worker, start_ns, &mut carrier, live, &mut tally)?,
    }
    Ok(tally)
}

impl<'a> Framed<'a> {
    fn new(worker: &WorkerPlan, tls: Option<&'a TlsClient>) -> Result<Self, LoadError> {
        let closed = |slot_count| Connection {
            stream: None,
            interest: Interest::ReadAndWrite,
            slots: Slots::new(slot_count),
            inbox: Vec::with_capacity(READ_BYTES),
            reopen_ns: 0,
            is_reconnect: false,
        };
        Ok(Self {
            connections: worker.slot_counts().into_iter().map(closed).collect(),
            readiness: Readiness::new().map_err(LoadError::kernel("watch sockets"))?,
            resolver: worker.plan.resolver_address,
            tls,
            names: Arc::clone(&worker.plan.names),
            timeout_ns: worker.timeout_ns(),
            tended_ns: 0,
            buffer: vec![0; READ_BYTES],
            frame: Vec::new(),
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
        let stream = Stream::begin(self.resolver, self.tls)?;
        let interest = Interest::ReadAndWrite;
        self.readiness.watch(stream.fd(), connection, interest)?;
        let connection = &mut self.connections[connection];
        connection.stream = Some(stream);
        connection.interest = interest;
        connection.inbox.clear();
        Ok(())
    }

    /// Go on with a connection that is not open yet.
    fn proceed(&mut self, connection: usize, tally: &mut Tally) -> io::Result<()> {
        let Connection {
            stream: Some(stream),
            is_reconnect,
            ..
        } = &mut self.connections[connection]
        else {
            return Ok(());
        };
        if stream.phase() != Phase::Open
            && let Progress::Opened(duration_ns) = stream.proceed()?
        {
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
    fn close(&mut self, connection: usize, now_ns: u64, tally: &mut Tally) {
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
        for _ in 0..connection.slots.give_up_all() {
            tally.interrupted(Failure::QueryConnectionClosed);
        }
    }

    /// Read a connection and book the messages that are whole. Whether it goes on.
    fn read(&mut self, connection: usize, tally: &mut Tally) -> io::Result<bool> {
        let Connection {
            stream: Some(stream),
            slots,
            inbox,
            ..
        } = &mut self.connections[connection]
        else {
            return Ok(true);
        };
        if stream.wants_write() {
            stream.flush()?;
        }
        let goes_on = stream.read(&mut self.buffer, inbox)?;
        let received_ns = monotonic_ns();
        let mut start = 0;
        while let Some(message) = message_at(inbox, start) {
            book(slots, &self.names, message, received_ns, tally);
            start += LENGTH_BYTES + message.len();
        }
        inbox.drain(..start);
        Ok(goes_on)
    }

    fn attend(&mut self, connection: usize, tally: &mut Tally) -> io::Result<bool> {
        if !self.connections[connection].is_open() {
            self.proceed(connection, tally)?;
            return Ok(true);
        }
        let goes_on = self.read(connection, tally)?;
        self.watch_as_needed(connection)?;
        Ok(goes_on)
    }

    fn write(
        &mut self,
        connection: usize,
        queries: &[Wanted],
        tally: &mut Tally,
    ) -> io::Result<()> {
        let Connection {
            stream: Some(stream),
            slots,
            ..
        } = &mut self.connections[connection]
        else {
            return Ok(());
        };
        let sent_ns = monotonic_ns();
        for query in queries {
            let message = self.names.get(query.name).message;
            let wanted_ns = query.wanted_ns.unwrap_or(sent_ns);
            let waiting = Waiting {
                name: query.name,
                wanted_ns,
                sent_ns,
            };
            let Some(id) = slots.take(waiting) else {
                break;
            };
            tally.sent(wanted_ns, sent_ns, message.len());
            self.frame.clear();
            self.frame
                .extend_from_slice(&(message.len() as u16).to_be_bytes());
            self.frame.extend_from_slice(&id.to_be_bytes());
            self.frame.extend_from_slice(&message[2..]);
            stream.write(&self.frame)?;
        }
        stream.flush()?;
        self.watch_as_needed(connection)
    }
}

impl Connection {
    fn is_open(&self) -> bool {
        let stream = self.stream.as_ref();
        stream.is_some_and(|stream| stream.phase() == Phase::Open)
    }
}

/// The message whose length is at `start`, if it is whole.
fn message_at(inbox: &[u8], start: usize) -> Option<&[u8]> {
    let rest = inbox.get(start..)?;
    let (length, rest) = rest.split_at_checked(LENGTH_BYTES)?;
    rest.get(..usize::from(u16::from_be_bytes([length[0], length[1]])))
}

impl Carrier for Framed<'_> {
    const HAS_RECEIVE_STAMPS: bool = false;

    fn connection_count(&self) -> usize {
        self.connections.len()
    }

    fn room(&self, connection: usize) -> usize {
        let connection = &self.connections[connection];
        let is_free = |stream: &Stream| stream.phase() == Phase::Open && !stream.wants_write();
        if connection.stream.as_ref().is_some_and(is_free) {
            connection.slots.room()
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
            self.close(connection, monotonic_ns(), tally);
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
            if !matches!(self.attend(connection, tally), Ok(true)) {
                self.close(connection, monotonic_ns(), tally);
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
            let connection = &mut self.connections[index];
            let too_old_ns = now_ns.saturating_sub(self.timeout_ns);
            tally.lost_count += connection.slots.give_up_before(too_old_ns);
            let is_hopeless = match &connection.stream {
                Some(stream) => stream.phase() != Phase::Open && stream.began_ns() < too_old_ns,
                None => connection.reopen_ns <= now_ns && self.open(index).is_err(),
            };
            if is_hopeless {
                self.close(index, now_ns, tally);
            }
        }
        Ok(())
    }

    fn outstanding(&self) -> usize {
        let connections = self.connections.iter();
        connections
            .map(|connection| connection.slots.waiting_count())
            .sum()
    }

    fn cut_off(&mut self, tally: &mut Tally) {
        for connection in &mut self.connections {
            tally.cut_off(connection.slots.give_up_all());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_there_when_it_is_whole() {
        let inbox = [0, 2, 7, 8, 0, 1, 9, 0, 3, 1, 2];
        assert_eq!(message_at(&inbox, 0), Some(&[7, 8][..]));
        assert_eq!(message_at(&inbox, 4), Some(&[9][..]));
        assert_eq!(message_at(&inbox, 7), None);
        assert_eq!(message_at(&inbox, 11), None);
        assert_eq!(message_at(&inbox[..1], 0), None);
    }
}
