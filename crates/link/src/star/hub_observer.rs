//! The observer, notified of every packet at the hub: keeps the window's counts, and the
//! capture, if any. Not for: deciding a packet's fate (see `model`).

use crate::devices::arrival::Arrival;
use crate::devices::offload::Train;
use crate::devices::packet::PacketView;
use crate::observation::capture::{Capture, CaptureError, CaptureReport, Packets};
use crate::star::counts::WindowCounts;
use crate::star::model::DropReason;

/// Capture comment of packets lost by the instrument.
const LOST_BY_DEVICE: &str = "dropped: device";

/// The observer of the hub. After each `note_sent`, every packet gets one of `note_admission`,
/// `note_refusal` and `note_not_taken`. After `note_admission`, the packet gets one of
/// `note_delivery`, `note_loss` and `note_undeliverable`.
#[derive(Debug, Default)]
pub struct HubObserver {
    counts: Box<WindowCounts>,
    /// The running capture. Boxed: a check for a capture then costs next to nothing.
    capture: Option<Box<Capture>>,
}

impl HubObserver {
    /// Makes an observer with a window begun at `started_ns`.
    pub fn new(started_ns: u64) -> Self {
        let mut observer = Self::default();
        observer.counts.begin(started_ns);
        observer
    }

    /// Notes a packet or train sent by host `from`.
    pub fn note_sent(&mut self, from: usize, view: Option<&PacketView<'_>>, train: &Train) {
        let count = train.count();
        match view {
            Some(view) => self
                .counts
                .note_sent(from, view, count, train.total_bytes()),
            None => self.counts.count_unlisted(count),
        }
    }

    /// Notes packets of the arrival admitted to the hub.
    pub fn note_admission(
        &mut self,
        from: usize,
        arrival: &Arrival<'_>,
        first: usize,
        count: usize,
    ) {
        if let Some(capture) = &mut self.capture {
            let packets = Packets::from_arrival(arrival, first, count);
            capture.note_sent(from, arrival.at_ns, packets, None);
        }
    }

    /// Notes packets of the arrival dropped at the entry.
    pub fn note_refusal(
        &mut self,
        from: usize,
        arrival: &Arrival<'_>,
        (first, count): (usize, usize),
        why: DropReason,
    ) {
        self.counts.note_loss(why, count);
        if let Some(capture) = &mut self.capture {
            let packets = Packets::from_arrival(arrival, first, count);
            capture.note_sent(from, arrival.at_ns, packets, Some(comment_on(why)));
        }
    }

    /// Notes an arrival without room in the instrument.
    pub fn note_not_taken(&mut self, from: usize, arrival: &Arrival<'_>, count: usize) {
        self.counts.note_device_drops(count as u64);
        if let Some(capture) = &mut self.capture {
            let packets = Packets::from_arrival(arrival, 0, count);
            capture.note_sent(from, arrival.at_ns, packets, Some(LOST_BY_DEVICE));
        }
    }

    /// Notes packets handed to host `to` at `at_ns`, with their lateness.
    pub fn note_delivery(&mut self, to: usize, at_ns: u64, lateness_ns: u64, packets: Packets<'_>) {
        self.counts.note_delivery(packets.count, lateness_ns);
        if let Some(capture) = &mut self.capture {
            capture.note_received(to, at_ns, packets, None);
        }
    }

    /// Notes packets dropped on the path to host `to`.
    pub fn note_loss(&mut self, to: usize, at_ns: u64, packets: Packets<'_>, why: DropReason) {
        self.counts.note_loss(why, packets.count);
        if let Some(capture) = &mut self.capture {
            capture.note_received(to, at_ns, packets, Some(comment_on(why)));
        }
    }

    /// Notes packets refused by the device of host `to`.
    pub fn note_undeliverable(&mut self, to: usize, at_ns: u64, packets: Packets<'_>) {
        self.counts.note_device_drops(packets.count as u64);
        if let Some(capture) = &mut self.capture {
            capture.note_received(to, at_ns, packets, Some(LOST_BY_DEVICE));
        }
    }

    /// Closes the window, begins the window `fresh`, and returns the closed window.
    pub fn begin_window(&mut self, mut fresh: Box<WindowCounts>, at_ns: u64) -> Box<WindowCounts> {
        fresh.begin(at_ns);
        std::mem::replace(&mut self.counts, fresh)
    }

    /// Starts a capture of all later packets.
    pub fn capture(&mut self, capture: Capture) {
        self.capture = Some(Box::new(capture));
    }

    /// Stops the capture, if any, and waits for the capture's file.
    pub fn stop_capture(&mut self) -> Result<Option<CaptureReport>, CaptureError> {
        self.capture
            .take()
            .map(|capture| capture.stop())
            .transpose()
    }
}

fn comment_on(why: DropReason) -> &'static str {
    match why {
        DropReason::Lost => "dropped: loss",
        DropReason::QueueFull => "dropped: queue full",
        DropReason::Down => "dropped: host down",
        DropReason::Unowned => "dropped: address is no host's",
        DropReason::ForeignSource => "dropped: address is not its sender's",
    }
}
