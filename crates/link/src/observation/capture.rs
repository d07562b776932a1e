//! Captures every packet of the link into a pcapng file, once with the entry stamp on the sender's
//! interface and once with the delivery stamp on the receiver's. A dropped packet appears on the
//! sender's interface alone, with the cause as comment. Not for: totals (see `tap`).
//!
//! The forwarder's thread only copies packets into chunks of memory made before. A thread of
//! ordinary priority takes full chunks every few milliseconds and writes the chunks to the file.
//! The writing thread polls: handing a chunk over therefore never needs the kernel or a lock. If
//! the file is too slow, packets are left out and counted, never waited for.

use crate::clock::{monotonic_ns, wall_clock_offset_ns};
use crate::devices::arrival::Arrival;
use crate::devices::offload::{Offload, Train};
use crate::hosts::{HOSTS, Host};
use crate::observation::pcapng::{self, PacketBlock, PacketDirection, StatisticsBlock};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use thiserror::Error;

/// Size of a chunk, the unit of handing over; holds several of the largest packets.
const CHUNK_BYTES: usize = 256 << 10;
/// Size of the largest packet, in bytes.
const PACKET_BYTES: usize = 65_536;
/// Number of chunks: 32 MiB, more than half a second of both stamps of a link full at 200 Mbit/s.
const CHUNK_COUNT: usize = 128;
/// Maximum age of a chunk, in ns. An older chunk is handed over at the next packet, even if not
/// full.
const CHUNK_AGE_NS: u64 = 1_000_000_000;
/// Interval between the writing thread's checks for chunks.
const WRITER_REST: Duration = Duration::from_millis(5);

/// The reason for a failed capture; messages read after "failed to".
#[derive(Debug, Error)]
pub enum CaptureError {
    /// The file exists already.
    #[error("capture into {file}: it exists, and captures overwrite nothing; name a new file")]
    Exists {
        /// Path of the capture's file.
        file: PathBuf,
    },
    /// The file cannot be made.
    #[error("capture into {file}: {error}")]
    Start {
        /// Path of the capture's file.
        file: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// The file was made but cannot be written to the end.
    #[error("write the capture {file} to its end: {error}; it holds what came before")]
    Write {
        /// Path of the capture's file.
        file: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
}

/// Packets of a frame: all packets, or a part of a train.
#[derive(Debug, Clone, Copy)]
pub struct Packets<'a> {
    /// The bytes from the IP header on.
    pub frame: &'a [u8],
    /// The work left undone by the sender's kernel.
    pub offload: Offload,
    /// Index of the first packet.
    pub first: usize,
    /// Number of packets from `first` on.
    pub count: usize,
}

impl<'a> Packets<'a> {
    /// Returns `count` packets of the arrival, from the packet `first` on.
    pub fn from_arrival(arrival: &Arrival<'a>, first: usize, count: usize) -> Self {
        Self {
            frame: arrival.frame,
            offload: arrival.offload,
            first,
            count,
        }
    }
}

/// The packet counts of an ended capture.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CaptureReport {
    /// Packet blocks in the file: up to two of each packet.
    pub captured_count: u64,
    /// Packet blocks left out because the file was too slow.
    pub not_captured_count: u64,
}

/// A running capture. A drop ends the capture in good order, but cannot report errors.
#[derive(Debug)]
pub struct Capture {
    file: PathBuf,
    chunk: Vec<u8>,
    chunk_began_ns: u64,
    empty: Receiver<Vec<u8>>,
    /// The channel for full chunks; `None` after the end.
    full: Option<SyncSender<Vec<u8>>>,
    writer: Option<JoinHandle<io::Result<()>>>,
    wall_clock_offset_ns: u64,
    started_ns: u64,
    interfaces: Vec<InterfaceCounts>,
    /// A buffer for packets cut from trains.
    packet: Vec<u8>,
}

#[derive(Debug, Clone, Copy, Default)]
struct InterfaceCounts {
    captured_count: u64,
    not_captured_count: u64,
}

impl Capture {
    /// Makes the file, which must not exist, and the buffers and thread for the two hosts of a
    /// path. Takes milliseconds. Not for the forwarder's thread while carrying packets.
    pub fn start(file: &Path) -> Result<Self, CaptureError> {
        Self::start_among(file, HOSTS.iter().map(|host| host.name()))
    }

    /// Starts a capture for the hosts of these names; each host is an interface.
    pub fn start_among<'a>(
        file: &Path,
        hosts: impl Iterator<Item = &'a str>,
    ) -> Result<Self, CaptureError> {
        Self::make(file, &hosts.collect::<Vec<_>>()).map_err(|error| {
            let file = file.to_owned();
            if error.kind() == io::ErrorKind::AlreadyExists {
                CaptureError::Exists { file }
            } else {
                CaptureError::Start { file, error }
            }
        })
    }

    fn make(file: &Path, hosts: &[&str]) -> io::Result<Self> {
        let mut output = File::create_new(file)?;
        let wall_clock_offset_ns = wall_clock_offset_ns();
        output.write_all(&file_header(hosts, wall_clock_offset_ns))?;
        // Both hold all chunks there are, so that no sender ever waits.
        let (full, to_write) = sync_channel(CHUNK_COUNT + 1);
        let (written, empty) = sync_channel(CHUNK_COUNT + 1);
        for _ in 0..CHUNK_COUNT {
            // Written to once, so that the kernel gives the memory now and not to the forwarder.
            let mut chunk = vec![1; CHUNK_BYTES];
            chunk.clear();
            // There is room for all.
            let _ = written.try_send(chunk);
        }
        let writer = thread::Builder::new()
            .name("capture".to_owned())
            .spawn(move || write_chunks(&mut output, &to_write, &written))?;
        Ok(Self {
            file: file.to_owned(),
            chunk: Vec::new(),
            chunk_began_ns: 0,
            empty,
            full: Some(full),
            writer: Some(writer),
            wall_clock_offset_ns,
            started_ns: monotonic_ns(),
            interfaces: vec![InterfaceCounts::default(); hosts.len()],
            packet: Vec::with_capacity(PACKET_BYTES),
        })
    }

    /// Notes packets from `sender`, entered at `at_ns` and carried.
    pub fn note_entry(&mut self, sender: Host, at_ns: u64, packets: Packets<'_>) {
        self.note_sent(interface_of(sender), at_ns, packets, None);
    }

    /// Notes packets from `sender`, delivered to the other host at `at_ns`.
    pub fn note_delivery(&mut self, sender: Host, at_ns: u64, packets: Packets<'_>) {
        self.note_received(interface_of(sender.peer()), at_ns, packets, None);
    }

    /// Notes packets from `sender`, entered at `entered_ns` and dropped by the link; `why` is the
    /// comment.
    pub fn note_drop(
        &mut self,
        sender: Host,
        entered_ns: u64,
        packets: Packets<'_>,
        why: &'static str,
    ) {
        self.note_sent(interface_of(sender), entered_ns, packets, Some(why));
    }

    /// Notes packets from `sender`, refused by the receiving host's device at `at_ns`; `why` is the
    /// comment.
    pub fn note_refusal(
        &mut self,
        sender: Host,
        at_ns: u64,
        packets: Packets<'_>,
        why: &'static str,
    ) {
        self.note_received(interface_of(sender.peer()), at_ns, packets, Some(why));
    }

    /// Notes packets sent at `at_ns` by the host with this interface number; `comment` gives the
    /// cause of a drop.
    pub fn note_sent(
        &mut self,
        interface: usize,
        at_ns: u64,
        packets: Packets<'_>,
        comment: Option<&'static str>,
    ) {
        self.add_all(
            interface,
            at_ns,
            PacketDirection::Outbound,
            packets,
            comment,
        );
    }

    /// Notes packets arriving at `at_ns` at the host with this interface number; `comment` gives
    /// the cause of a failed delivery.
    pub fn note_received(
        &mut self,
        interface: usize,
        at_ns: u64,
        packets: Packets<'_>,
        comment: Option<&'static str>,
    ) {
        self.add_all(interface, at_ns, PacketDirection::Inbound, packets, comment);
    }

    fn add_all(
        &mut self,
        interface: usize,
        at_ns: u64,
        direction: PacketDirection,
        packets: Packets<'_>,
        comment: Option<&'static str>,
    ) {
        let Packets {
            frame,
            offload,
            first,
            count,
        } = packets;
        let train = Train::divide_frame(offload, frame);
        let mut packet = std::mem::take(&mut self.packet);
        for index in first..first + count {
            packet.clear();
            let left = train.cut(offload, frame, index, &mut packet);
            left.finish_checksum(&mut packet);
            self.add(interface, at_ns, direction, &packet, comment);
        }
        self.packet = packet;
    }

    fn add(
        &mut self,
        interface: usize,
        at_ns: u64,
        direction: PacketDirection,
        packet: &[u8],
        comment: Option<&'static str>,
    ) {
        let block = PacketBlock {
            interface: interface as u32,
            unix_ns: at_ns.wrapping_add(self.wall_clock_offset_ns),
            direction,
            packet,
            comment,
        };
        let has_room = self.make_room(block.bytes_bound(), at_ns);
        if has_room {
            block.write(&mut self.chunk);
        }
        let counts = &mut self.interfaces[interface];
        counts.captured_count += u64::from(has_room);
        counts.not_captured_count += u64::from(!has_room);
    }

    /// Prepares a chunk with this number of free bytes; returns false when no chunk is free.
    fn make_room(&mut self, bytes: usize, now_ns: u64) -> bool {
        let is_old = now_ns.saturating_sub(self.chunk_began_ns) > CHUNK_AGE_NS;
        let fits = self.chunk.capacity() - self.chunk.len() >= bytes;
        if fits && !is_old {
            return true;
        }
        self.hand_over();
        self.chunk_began_ns = now_ns;
        match self.empty.try_recv() {
            Ok(chunk) => self.chunk = chunk,
            // Without capacity, so that the next packet asks again.
            Err(_) => self.chunk = Vec::new(),
        }
        self.chunk.capacity() >= bytes
    }

    fn hand_over(&mut self) {
        let chunk = std::mem::take(&mut self.chunk);
        if let Some(full) = &self.full
            && chunk.capacity() > 0
        {
            // It fails only when the writer ended on an error, which `stop` tells.
            let _ = full.try_send(chunk);
        }
    }

    /// Ends the capture; the file is complete at the return. Not for the forwarder's thread while
    /// carrying packets.
    pub fn stop(mut self) -> Result<CaptureReport, CaptureError> {
        self.end().map_err(|error| CaptureError::Write {
            file: self.file.clone(),
            error,
        })?;
        let all = self.interfaces.iter();
        Ok(
            all.fold(CaptureReport::default(), |sum, report| CaptureReport {
                captured_count: sum.captured_count + report.captured_count,
                not_captured_count: sum.not_captured_count + report.not_captured_count,
            }),
        )
    }

    fn end(&mut self) -> io::Result<()> {
        self.hand_over();
        let statistics = self.statistics();
        if let Some(full) = self.full.take() {
            // As above.
            let _ = full.try_send(statistics);
        }
        let Some(writer) = self.writer.take() else {
            return Ok(());
        };
        writer.thread().unpark();
        writer
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("the writing thread panicked")))
    }

    fn statistics(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let end_unix_ns = monotonic_ns().wrapping_add(self.wall_clock_offset_ns);
        for (interface, counts) in self.interfaces.iter().enumerate() {
            let comment = format!("not captured: {}", counts.not_captured_count);
            StatisticsBlock {
                interface: interface as u32,
                start_unix_ns: self.started_ns.wrapping_add(self.wall_clock_offset_ns),
                end_unix_ns,
                received_count: counts.captured_count + counts.not_captured_count,
                not_captured_count: counts.not_captured_count,
                comment: (counts.not_captured_count > 0).then_some(&comment),
            }
            .write(&mut out);
        }
        out
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        // Whoever wanted to know called `stop`.
        let _ = self.end();
    }
}

fn interface_of(host: Host) -> usize {
    match host {
        Host::Client => 0,
        Host::Server => 1,
    }
}

fn file_header(hosts: &[&str], wall_clock_offset_ns: u64) -> Vec<u8> {
    let mut out = Vec::new();
    let application = concat!("resolab-core ", env!("CARGO_PKG_VERSION"));
    let remark = format!(
        "time stamps are CLOCK_MONOTONIC plus {wall_clock_offset_ns} ns, the wall clock's lead at \
         the start of the capture"
    );
    pcapng::write_section_header(&mut out, application, &remark);
    for name in hosts {
        let description = format!("the {name} host's end of the emulated link");
        pcapng::write_interface(&mut out, name, &description);
    }
    out
}

/// Writes chunks until no more can come.
fn write_chunks(
    output: &mut File,
    full: &Receiver<Vec<u8>>,
    written: &SyncSender<Vec<u8>>,
) -> io::Result<()> {
    loop {
        match full.try_recv() {
            Ok(mut chunk) => {
                output.write_all(&chunk)?;
                chunk.clear();
                // If the capture has ended, nobody wants it.
                let _ = written.try_send(chunk);
            }
            Err(TryRecvError::Empty) => thread::park_timeout(WRITER_REST),
            Err(TryRecvError::Disconnected) => return Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
