//! The link's events in a window of time, from one `summary` command to the next: counts and
//! lateness per direction, and the tap's flows. The observer is notified of every packet, and keeps
//! the window and the capture, if any. Not for: deciding on a trial's validity.

use crate::datapath::histogram::Histogram;
use crate::devices::arrival::Arrival;
use crate::devices::offload::Train;
use crate::hosts::Host;
use crate::model::DropCause;
use crate::observation::capture::{Capture, CaptureError, CaptureReport, Packets};
use crate::observation::tap::{FlowHandle, Tap};
use resolab_record::DirectionSummary;

/// A window still open.
#[derive(Debug, Default)]
pub struct Window {
    /// Start of the window, in ns.
    pub started_ns: u64,
    /// Counts of the direction client to server.
    pub up: DirectionCounts,
    /// Counts of the direction server to client.
    pub down: DirectionCounts,
    /// The tap with the flows of this window.
    pub tap: Tap,
    /// Changes of the schedule carried out: each with the time of coming into force and the
    /// position.
    pub applied_changes: Vec<(u64, u32)>,
}

impl Window {
    /// Returns the counts of packets sent by `sender`.
    pub fn counts_mut(&mut self, sender: Host) -> &mut DirectionCounts {
        match sender {
            Host::Client => &mut self.up,
            Host::Server => &mut self.down,
        }
    }
}

/// Capture comment of packets lost by the instrument.
const LOST_BY_DEVICE: &str = "dropped: device";

/// The delivery of one or more packets.
#[derive(Debug, Clone, Copy)]
pub struct Delivery {
    /// The flow assigned at the packets' entry.
    pub flow: FlowHandle,
    /// Time of delivery on the monotonic clock.
    pub at_ns: u64,
    /// Time from due to delivered, in ns.
    pub lateness_ns: u64,
    /// IP bytes of all packets together.
    pub bytes: usize,
}

/// The observer, notified of every packet. Each `note_entry` is followed, sooner or later, by one
/// of `admitted` (and then `note_delivery` or `note_refusal`), `note_drop` and `not_taken`.
#[derive(Debug, Default)]
pub struct Observer {
    window: Box<Window>,
    /// The running capture. Boxed: a check for a capture then costs next to nothing.
    capture: Option<Box<Capture>>,
}

impl Observer {
    /// Makes an observer with a window begun at `started_ns`.
    pub fn new(started_ns: u64) -> Self {
        Self {
            window: Box::new(Window {
                started_ns,
                ..Window::default()
            }),
            capture: None,
        }
    }

    /// Notes a packet or train read from `sender`; the returned handle goes with each packet.
    pub fn note_entry(&mut self, sender: Host, arrival: &Arrival<'_>, train: &Train) -> FlowHandle {
        let counts = self.window.counts_mut(sender);
        counts.note_entry(train.count(), train.total_bytes());
        self.window.tap.enter(sender, arrival, train)
    }

    /// Notes packets admitted to the link, entered at `entered_ns`.
    pub fn note_admission(&mut self, sender: Host, entered_ns: u64, packets: Packets<'_>) {
        if let Some(capture) = &mut self.capture {
            capture.note_entry(sender, entered_ns, packets);
        }
    }

    /// Notes a packet dropped by the model, entered at `entered_ns`.
    pub fn note_drop(
        &mut self,
        sender: Host,
        entered_ns: u64,
        packet: Packets<'_>,
        cause: DropCause,
    ) {
        self.window.counts_mut(sender).note_drop(cause);
        if let Some(capture) = &mut self.capture {
            capture.note_drop(sender, entered_ns, packet, comment_on(cause));
        }
    }

    /// Notes packets without room in the instrument, entered at `entered_ns`.
    pub fn note_overflow(&mut self, sender: Host, entered_ns: u64, packets: Packets<'_>) {
        let counts = self.window.counts_mut(sender);
        counts.note_device_drops(packets.count as u64);
        if let Some(capture) = &mut self.capture {
            capture.note_drop(sender, entered_ns, packets, LOST_BY_DEVICE);
        }
    }

    /// Notes the delivery of packets sent by `sender`.
    pub fn note_delivery(&mut self, sender: Host, delivery: &Delivery, packets: Packets<'_>) {
        let Delivery {
            flow,
            at_ns,
            lateness_ns,
            bytes,
        } = *delivery;
        let counts = self.window.counts_mut(sender);
        counts.note_delivery(packets.count, bytes, lateness_ns);
        self.window.tap.deliver(flow, sender, at_ns, packets);
        if let Some(capture) = &mut self.capture {
            capture.note_delivery(sender, at_ns, packets);
        }
    }

    /// Notes admitted packets refused by the receiver's device.
    pub fn note_refusal(&mut self, sender: Host, now_ns: u64, packets: Packets<'_>) {
        let counts = self.window.counts_mut(sender);
        counts.note_device_drops(packets.count as u64);
        if let Some(capture) = &mut self.capture {
            capture.note_refusal(sender, now_ns, packets, LOST_BY_DEVICE);
        }
    }

    /// Notes packets lost by the device of `sender` before reading.
    pub fn note_device_drops(&mut self, sender: Host, count: u64) {
        self.window.counts_mut(sender).note_device_drops(count);
    }

    /// Notes a change of the schedule coming into force.
    pub fn note_change(&mut self, at_ns: u64, index: u32) {
        self.window.applied_changes.push((at_ns, index));
    }

    /// Closes the window, begins the window `fresh`, and returns the closed window.
    pub fn begin_window(&mut self, mut fresh: Box<Window>, at_ns: u64) -> Box<Window> {
        fresh.started_ns = at_ns;
        fresh.tap.succeed(&self.window.tap);
        std::mem::replace(&mut self.window, fresh)
    }

    /// Starts or ends the capture; returns the previous capture, still to be stopped.
    pub fn set_capture(&mut self, capture: Option<Box<Capture>>) -> Option<Box<Capture>> {
        std::mem::replace(&mut self.capture, capture)
    }

    /// Stops the capture, if any, and waits for the capture's file.
    pub fn stop_capture(&mut self) -> Result<Option<CaptureReport>, CaptureError> {
        self.set_capture(None)
            .map(|capture| capture.stop())
            .transpose()
    }

    /// Returns the open window.
    pub fn window(&self) -> &Window {
        &self.window
    }
}

fn comment_on(cause: DropCause) -> &'static str {
    match cause {
        DropCause::Loss => "dropped: loss",
        DropCause::Policer => "dropped: policer",
        DropCause::QueueFull => "dropped: queue full",
        DropCause::Codel => "dropped: codel",
        DropCause::Outage => "dropped: outage",
    }
}

/// Counts and lateness of one direction.
#[derive(Debug, Default)]
pub struct DirectionCounts {
    totals: DirectionSummary,
    lateness: Histogram,
}

impl DirectionCounts {
    /// Counts packets read from the sending host, `bytes` together.
    pub fn note_entry(&mut self, count: usize, bytes: usize) {
        self.totals.packets_in_count += count as u64;
        self.totals.bytes_in_bytes += bytes as u64;
    }

    /// Counts a packet dropped by the model.
    pub fn note_drop(&mut self, cause: DropCause) {
        match cause {
            DropCause::Loss => self.totals.dropped_loss_count += 1,
            DropCause::Codel => self.totals.dropped_codel_count += 1,
            DropCause::Outage => self.totals.dropped_outage_count += 1,
            DropCause::Policer => self.totals.dropped_policer_count += 1,
            DropCause::QueueFull => self.totals.dropped_queue_count += 1,
        }
    }

    /// Counts packets lost by the instrument.
    pub fn note_device_drops(&mut self, count: u64) {
        self.totals.dropped_device_count += count;
    }

    /// Counts delivered packets, `bytes` together, with their lateness.
    pub fn note_delivery(&mut self, count: usize, bytes: usize, lateness_ns: u64) {
        self.totals.packets_out_count += count as u64;
        self.totals.bytes_out_bytes += bytes as u64;
        self.lateness.record(lateness_ns, count as u64);
    }

    /// Returns the counts in the record's form.
    pub fn summary(&self) -> DirectionSummary {
        DirectionSummary {
            lateness_p50_ns: self.lateness.quantile(0.5),
            lateness_p99_ns: self.lateness.quantile(0.99),
            lateness_max_ns: self.lateness.max(),
            ..self.totals.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_add_up() {
        let mut counts = DirectionCounts::default();
        for bytes in [100, 200, 300, 300, 100, 50] {
            counts.note_entry(1, bytes);
        }
        counts.note_delivery(1, 100, 7_000);
        counts.note_drop(DropCause::Loss);
        counts.note_drop(DropCause::QueueFull);
        counts.note_drop(DropCause::Codel);
        counts.note_drop(DropCause::Policer);
        counts.note_device_drops(1);
        let summary = counts.summary();
        assert_eq!(
            (summary.packets_in_count, summary.bytes_in_bytes),
            (6, 1_050)
        );
        assert_eq!(
            (summary.packets_out_count, summary.bytes_out_bytes),
            (1, 100)
        );
        assert_eq!(
            (
                summary.dropped_loss_count,
                summary.dropped_queue_count,
                summary.dropped_codel_count,
                summary.dropped_policer_count,
                summary.dropped_device_count
            ),
            (1, 1, 1, 1, 1)
        );
        assert_eq!(summary.lateness_max_ns, Some(7_000));
    }

    #[test]
    fn no_packets_no_lateness() {
        let summary = DirectionCounts::default().summary();
        assert_eq!(
            (summary.lateness_p50_ns, summary.lateness_max_ns),
            (None, None)
        );
    }
}
