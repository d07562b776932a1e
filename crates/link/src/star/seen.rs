//! Who is told of every packet at the exchange: keeps the window's counts, and the capture if there is
//! one. Not for: deciding what becomes of a packet (that is `model`).

use crate::devices::arrival::Arrival;
use crate::devices::offload::Train;
use crate::devices::packet::PacketView;
use crate::seeing::capture::{Capture, CaptureError, CaptureReport, Packets};
use crate::star::counts::Counts;
use crate::star::model::Gone;

/// Comment of packets the instrument itself lost.
const LOST_BY_DEVICE: &str = "dropped: device";

/// Each `sent` is followed, for each of its packets, by one of `admitted`, `refused` and `not_taken`, and
/// after the first of these by one of `delivered`, `gone` and `undeliverable`.
#[derive(Debug, Default)]
pub struct Seen {
    counts: Box<Counts>,
    /// Boxed, so that looking for it costs next to nothing.
    capture: Option<Box<Capture>>,
}

impl Seen {
    /// With a window that begins at `started_ns`.
    pub fn new(started_ns: u64) -> Self {
        let mut seen = Self::default();
        seen.counts.begin(started_ns);
        seen
    }

    /// Host `from` sent a packet or a train.
    pub fn sent(&mut self, from: usize, view: Option<&PacketView<'_>>, train: &Train) {
        let count = train.count();
        match view {
            Some(view) => self.counts.sent(from, view, count, train.total_bytes()),
            None => self.counts.unlisted(count),
        }
    }

    /// Packets of the arrival will be carried.
    pub fn admitted(&mut self, from: usize, arrival: &Arrival<'_>, first: usize, count: usize) {
        if let Some(capture) = &mut self.capture {
            let packets = Packets::of_arrival(arrival, first, count);
            capture.sent(from, arrival.at_ns, packets, None);
        }
    }

    /// Packets of the arrival will not.
    pub fn refused(
        &mut self,
        from: usize,
        arrival: &Arrival<'_>,
        (first, count): (usize, usize),
        why: Gone,
    ) {
        self.counts.gone(why, count);
        if let Some(capture) = &mut self.capture {
            let packets = Packets::of_arrival(arrival, first, count);
            capture.sent(from, arrival.at_ns, packets, Some(comment_on(why)));
        }
    }

    /// The instrument had no room for the arrival.
    pub fn not_taken(&mut self, from: usize, arrival: &Arrival<'_>, count: usize) {
        self.counts.dropped_by_device(count as u64);
        if let Some(capture) = &mut self.capture {
            let packets = Packets::of_arrival(arrival, 0, count);
            capture.sent(from, arrival.at_ns, packets, Some(LOST_BY_DEVICE));
        }
    }

    /// Packets were handed to host `to` at `at_ns`, so long after they were due.
    pub fn delivered(&mut self, to: usize, at_ns: u64, lateness_ns: u64, packets: Packets<'_>) {
        self.counts.delivered(packets.count, lateness_ns);
        if let Some(capture) = &mut self.capture {
            capture.received(to, at_ns, packets, None);
        }
    }

    /// Packets on their way to host `to` will not be handed to it.
    pub fn gone(&mut self, to: usize, at_ns: u64, packets: Packets<'_>, why: Gone) {
        self.counts.gone(why, packets.count);
        if let Some(capture) = &mut self.capture {
            capture.received(to, at_ns, packets, Some(comment_on(why)));
        }
    }

    /// The device of host `to` took packets not.
    pub fn undeliverable(&mut self, to: usize, at_ns: u64, packets: Packets<'_>) {
        self.counts.dropped_by_device(packets.count as u64);
        if let Some(capture) = &mut self.capture {
            capture.received(to, at_ns, packets, Some(LOST_BY_DEVICE));
        }
    }

    /// Close the window and begin this one; returns the closed one.
    pub fn begin_window(&mut self, mut fresh: Box<Counts>, at_ns: u64) -> Box<Counts> {
        fresh.begin(at_ns);
        std::mem::replace(&mut self.counts, fresh)
    }

    /// Capture from now on.
    pub fn capture(&mut self, capture: Capture) {
        self.capture = Some(Box::new(capture));
    }

    /// Stop the capture if there is one; waits for its file.
    pub fn stop_capture(&mut self) -> Result<Option<CaptureReport>, CaptureError> {
        self.capture
            .take()
            .map(|capture| capture.stop())
            .transpose()
    }
}

fn comment_on(why: Gone) -> &'static str {
    match why {
        Gone::Lost => "dropped: loss",
        Gone::QueueFull => "dropped: queue full",
        Gone::Down => "dropped: host down",
        Gone::Unowned => "dropped: address is no host's",
        Gone::ForeignSource => "dropped: address is not its sender's",
    }
}
