//! The engine of DNS over UDP: connected sockets, many datagrams per system call, the kernel's
//! receive stamps. Not for: retries or TCP after truncation. A load shows the fate of the first
//! datagram.

use crate::counting::matching::book;
use crate::counting::slots::{Slots, WaitingQuery};
use crate::counting::{LiveCounters, Tally};
use crate::error::LoadError;
use crate::gathering::GatheringRule;
use crate::loops;
use crate::loops::carrier::{BATCH_MAX, ConnectionSet, DueQuery};
use crate::names::QueryTemplates;
use crate::plan::{LoadPacing, WorkerPlan};
use crate::sockets::datagrams::{ClockOffset, ReceiveBatch, SendBatch, UnsentReason, want_stamps};
use crate::sockets::readiness::{Interest, Readiness};
use resolab_record::Failure;
use resolab_transport::clock::monotonic_ns;
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

/// The requested size of socket buffers; the kernel grants at most `net.core.rmem_max`.
const SOCKET_BUFFER_BYTES: usize = 4 << 20;
/// The shortest interval between checks of timeouts.
const TEND_INTERVAL_NS: u64 = 1_000_000;

struct UdpPeer {
    socket: UdpSocket,
    slots: Slots,
}

struct Datagrams {
    peers: Vec<UdpPeer>,
    readiness: Readiness,
    receive: ReceiveBatch,
    send: SendBatch,
    ids: Vec<u16>,
    unsent: Vec<UnsentReason>,
    names: Arc<QueryTemplates>,
    timeout_ns: u64,
    tended_ns: u64,
    segmentation_offload: bool,
    has_stamps: bool,
}

/// Runs a worker's share of the load.
pub fn run(worker: &WorkerPlan, live: &LiveCounters) -> Result<Tally, LoadError> {
    let mut carrier = Datagrams::open(worker)?;
    let mut tally = Tally::new(worker.plan.pace != LoadPacing::Closed, worker.timeout_ns());
    tally.kernel_receive_stamps = carrier.has_stamps;
    let start_ns = worker.gate.arrive().ok_or(LoadError::CalledOff)?;
    loops::run(worker, start_ns, &mut carrier, live, &mut tally)?;
    Ok(tally)
}

impl Datagrams {
    fn open(worker: &WorkerPlan) -> Result<Self, LoadError> {
        let plan = &worker.plan;
        let takes_at_once = plan.gathering == GatheringRule::Fixed(Duration::ZERO);
        let has_stamps = plan.pace != LoadPacing::Closed || !takes_at_once;
        let readiness = Readiness::new().map_err(LoadError::kernel("watch sockets"))?;
        let mut peers = Vec::new();
        for (token, slot_count) in worker.slot_counts().into_iter().enumerate() {
            let socket = open_connected(plan.resolver_address, has_stamps).map_err(|error| {
                LoadError::from_connect_failure(plan.resolver_address, Failure::Other, error)
            })?;
            readiness
                .watch(socket.as_fd(), token, Interest::Read)
                .map_err(LoadError::kernel("watch a socket"))?;
            let slots = Slots::new(slot_count);
            peers.push(UdpPeer { socket, slots });
        }
        Ok(Self {
            peers,
            readiness,
            receive: ReceiveBatch::new(BATCH_MAX),
            send: SendBatch::new(BATCH_MAX, plan.names.longest_bytes()),
            ids: Vec::with_capacity(BATCH_MAX),
            unsent: Vec::new(),
            names: Arc::clone(&plan.names),
            timeout_ns: worker.timeout_ns(),
            tended_ns: 0,
            segmentation_offload: plan.segmentation_offload,
            has_stamps,
        })
    }

    /// Books the messages refused by the kernel.
    fn book_unsent(&mut self, connection: usize, tally: &mut Tally) {
        let slots = &mut self.peers[connection].slots;
        for unsent in self.unsent.drain(..) {
            match unsent {
                UnsentReason::Message(position, _) => {
                    // It never left, so nothing can answer it.
                    slots.note_answer(self.ids[position]);
                    tally.note_failure(Failure::Other);
                }
                UnsentReason::RefusedBefore => refuse_oldest(slots, tally),
            }
        }
    }

    fn receive_from(
        &mut self,
        connection: usize,
        stamps: ClockOffset,
        tally: &mut Tally,
    ) -> Result<(), LoadError> {
        let UdpPeer { socket, slots } = &mut self.peers[connection];
        loop {
            let count = match self.receive.receive(socket.as_fd()) {
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    refuse_oldest(slots, tally);
                    continue;
                }
                Err(error) => return Err(LoadError::kernel("receive datagrams")(error)),
            };
            let now_ns = monotonic_ns();
            for position in 0..count {
                let stamp = self.receive.realtime_ns(position);
                let received_ns = stamp.map_or(now_ns, |stamp| stamps.monotonic(stamp).min(now_ns));
                let message = self.receive.message(position);
                book(slots, &self.names, message, received_ns, tally);
            }
            if count < self.receive.capacity() {
                return Ok(());
            }
        }
    }
}

/// Counts the oldest query as refused. The kernel does not name the datagram of an ICMP error; the
/// oldest query is as likely as any.
fn refuse_oldest(slots: &mut Slots, tally: &mut Tally) {
    if slots.give_up_oldest() {
        tally.note_failure(Failure::QueryRefused);
    }
}

/// Returns a connected socket. The kernel then drops datagrams from other sources and reports a
/// closed port.
fn open_connected(resolver: SocketAddr, has_stamps: bool) -> io::Result<UdpSocket> {
    let socket = Socket::new(
        Domain::for_address(resolver),
        Type::DGRAM,
        Some(Protocol::UDP),
    )?;
    // More than the kernel's limit is cut down to it, which will do.
    let _ = socket.set_recv_buffer_size(SOCKET_BUFFER_BYTES);
    let _ = socket.set_send_buffer_size(SOCKET_BUFFER_BYTES);
    socket.set_nonblocking(true)?;
    socket.connect(&resolver.into())?;
    let socket = UdpSocket::from(socket);
    if has_stamps {
        want_stamps(&socket)?;
    }
    Ok(socket)
}

impl ConnectionSet for Datagrams {
    const HAS_RECEIVE_STAMPS: bool = true;

    fn connection_count(&self) -> usize {
        self.peers.len()
    }

    fn room(&self, connection: usize) -> usize {
        self.peers[connection].slots.room()
    }

    fn send(
        &mut self,
        connection: usize,
        queries: &[DueQuery],
        tally: &mut Tally,
    ) -> Result<(), LoadError> {
        let UdpPeer { socket, slots } = &mut self.peers[connection];
        self.ids.clear();
        for query in queries {
            let waiting = WaitingQuery {
                name: query.name,
                wanted_ns: 0,
                sent_ns: 0,
                first_sent_ns: 0,
            };
            let Some(id) = slots.take(waiting) else {
                break;
            };
            self.send.push(self.names.get(query.name).message, id);
            self.ids.push(id);
        }
        let sent_ns = monotonic_ns();
        for (id, query) in self.ids.iter().zip(queries) {
            slots.note_sent(*id, sent_ns, query.wanted_ns);
            let wanted_ns = query.wanted_ns.unwrap_or(sent_ns);
            tally.note_sent(wanted_ns, sent_ns, self.names.get(query.name).message.len());
        }
        let offload = self.segmentation_offload;
        self.send.flush(socket.as_fd(), offload, &mut self.unsent);
        if !self.unsent.is_empty() {
            self.book_unsent(connection, tally);
        }
        Ok(())
    }

    fn wait(&mut self, at_most_ns: u64) -> Result<bool, LoadError> {
        let waited = self.readiness.wait(at_most_ns);
        waited.map_err(LoadError::kernel("wait for datagrams"))
    }

    fn receive(&mut self, tally: &mut Tally) -> Result<(), LoadError> {
        let stamps = ClockOffset::now();
        for position in 0..self.readiness.ready_count() {
            self.receive_from(self.readiness.ready(position), stamps, tally)?;
        }
        Ok(())
    }

    fn tend(&mut self, now_ns: u64, tally: &mut Tally) -> Result<(), LoadError> {
        if now_ns < self.tended_ns + TEND_INTERVAL_NS {
            return Ok(());
        }
        self.tended_ns = now_ns;
        for peer in &mut self.peers {
            let count = peer
                .slots
                .give_up_before(now_ns.saturating_sub(self.timeout_ns));
            tally.lost_count += count;
        }
        Ok(())
    }

    fn outstanding(&self) -> usize {
        let peers = self.peers.iter();
        peers.map(|peer| peer.slots.waiting_count()).sum()
    }

    /// Returns the timeout failure. A socket has room again after giving up queries, hence a lack
    /// of room is short.
    fn obstacle(&self) -> Failure {
        Failure::QueryTimeout
    }

    fn cut_off(&mut self, tally: &mut Tally) {
        for peer in &mut self.peers {
            tally.cut_off(peer.slots.give_up_all());
        }
    }
}
