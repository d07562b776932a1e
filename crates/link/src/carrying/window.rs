//! What the link did in one window of time, from one `summary` command to the next: counts and
//! lateness per direction, and the tap's flows; and the observer who is told of every packet and
//! keeps the window, and the capture if there is one. Not for: deciding whether a trial is valid.

use crate::carrying::histogram::Histogram;
use crate::devices::arrival::Arrival;
use crate::devices::offload::Train;
use crate::hosts::Host;
use crate::model::DropCause;
use crate::seeing::capture::{Capture, CaptureError, CaptureReport, Packets};
use crate::seeing::tap::{FlowHandle, Tap};
use resolab_record::DirectionSummary;

/// One window under way.
#[derive(Debug, Default)]
pub struct Window {
    /// When it began.
    pub started_ns: u64,
    /// Client to server.
    pub up: DirectionCounts,
    /// Server to client.
    pub down: DirectionCounts,
    /// Flows.
    pub tap: Tap,
    /// Changes of the schedule carried out: when each came into force, and its place.
    pub applied_changes: Vec<(u64, u32)>,
}

impl Window {
    /// The counts of packets sent by `sender`.
    pub fn counts_mut(&mut self, sender: Host) -> &mut DirectionCounts {
        match sender {
            Host::Client => &mut self.up,
            Host::Server => &mut self.down,
        }
    }
}

/// Comment of packets the instrument itself lost.
const LOST_BY_DEVICE: &str = "dropped: device";

/// How packets were delivered.
#[derive(Debug, Clone, Copy)]
pub struct Delivery {
    /// What they were given at their entry.
    pub flow: FlowHandle,
    /// When they were delivered, on the monotonic clock.
    pub at_ns: u64,
    /// How long after they were due.
    pub lateness_ns: u64,
    /// Their IP bytes together.
    pub bytes: usize,
}

/// Who is told of every packet. Each `entered` is followed, sooner or later, by one of `admitted`
/// (and then `delivered` or `refused`), `dropped` and `not_taken`.
#[derive(Debug, Default)]
pub struct Observer {
    window: Box<Window>,
    /// Boxed, so that looking for it costs next to nothing.
    capture: Option<Box<Capture>>,
}

impl Observer {
    /// With a window that began at `started_ns`.
    pub fn new(started_ns: u64) -> Self {
        Self {
            window: Box::new(Window {
                started_ns,
                ..Window::default()
            }),
            capture: None,
        }
    }

    /// A packet, or a train of them, was read from `sender`; the handle goes with each.
    pub fn entered(&mut self, sender: Host, arrival: &Arrival<'_>, train: &Train) -> FlowHandle {
        let counts = self.window.counts_mut(sender);
        counts.entered(train.count(), train.total_bytes());
        self.window.tap.enter(sender, arrival, train)
    }

    /// Packets that entered then will be carried.
    pub fn admitted(&mut self, sender: Host, entered_ns: u64, packets: Packets<'_>) {
        if let Some(capture) = &mut self.capture {
            capture.entered(sender, entered_ns, packets);
        }
    }

    /// The model dropped a packet that entered then.
    pub fn dropped(
        &mut self,
        sender: Host,
        entered_ns: u64,
        packet: Packets<'_>,
        cause: DropCause,
    ) {
        self.window.counts_mut(sender).dropped(cause);
        if let Some(capture) = &mut self.capture {
            capture.dropped(sender, entered_ns, packet, comment_on(cause));
        }
    }

    /// The instrument had no room for packets that entered then.
    pub fn not_taken(&mut self, sender: Host, entered_ns: u64, packets: Packets<'_>) {
        let counts = self.window.counts_mut(sender);
        counts.dropped_by_device(packets.count as u64);
        if let Some(capture) = &mut self.capture {
            capture.dropped(sender, entered_ns, packets, LOST_BY_DEVICE);
        }
    }

    /// Packets that `sender` sent were delivered.
    pub fn delivered(&mut self, sender: Host, delivery: &Delivery, packets: Packets<'_>) {
        let Delivery {
            flow,
            at_ns,
            lateness_ns,
            bytes,
        } = *delivery;
        let counts = self.window.counts_mut(sender);
        counts.delivered(packets.count, bytes, lateness_ns);
        self.window.tap.deliver(flow, sender, at_ns, packets);
        if let Some(capture) = &mut self.capture {
            capture.delivered(sender, at_ns, packets);
        }
    }

    /// The receiver's device refused admitted packets.
    pub fn refused(&mut self, sender: Host, now_ns: u64, packets: Packets<'_>) {
        let counts = self.window.counts_mut(sender);
        counts.dropped_by_device(packets.count as u64);
        if let Some(capture) = &mut self.capture {
            capture.refused(sender, now_ns, packets, LOST_BY_DEVICE);
        }
    }

    /// The device of `sender` lost packets before they were read.
    pub fn dropped_by_device(&mut self, sender: Host, count: u64) {
        self.window.counts_mut(sender).dropped_by_device(count);
    }

    /// A change of the schedule came into force.
    pub fn changed(&mut self, at_ns: u64, index: u32) {
        self.window.applied_changes.push((at_ns, index));
    }

    /// Close the window and begin this one; returns the closed one.
    pub fn begin_window(&mut self, mut fresh: Box<Window>, at_ns: u64) -> Box<Window> {
        fresh.started_ns = at_ns;
        fresh.tap.succeed(&self.window.tap);
        std::mem::replace(&mut self.window, fresh)
    }

    /// Capture from now on, or no longer; returns the capture until now, still to be stopped.
    pub fn set_capture(&mut self, capture: Option<Box<Capture>>) -> Option<Box<Capture>> {
        std::mem::replace(&mut self.capture, capture)
    }

    /// Stop the capture if there is one; waits for its file.
    pub fn stop_capture(&mut self) -> Result<Option<CaptureReport>, CaptureError> {
        self.set_capture(None)
            .map(|capture| capture.stop())
            .transpose()
    }

    /// The window under way.
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

/// Counts of one direction.
#[derive(Debug, Default)]
pub struct DirectionCounts {
    totals: DirectionSummary,
    lateness: Histogram,
}

impl DirectionCounts {
    /// Packets were read from the sending host, `bytes` together.
    pub fn entered(&mut self, count: usize, bytes: usize) {
        self.totals.packets_in_count += count as u64;
        self.totals.bytes_in_bytes += bytes as u64;
    }

    /// The model dropped a packet.
    pub fn dropped(&mut self, cause: DropCause) {
        match cause {
            DropCause::Loss => self.totals.dropped_loss_count += 1,
            DropCause::Codel => self.totals.dropped_codel_count += 1,
            DropCause::Outage => self.totals.dropped_outage_count += 1,
            DropCause::Policer => self.totals.dropped_policer_count += 1,
            DropCause::QueueFull => self.totals.dropped_queue_count += 1,
        }
    }

    /// The instrument itself lost packets.
    pub fn dropped_by_device(&mut self, count: u64) {
        self.totals.dropped_device_count += count;
    }

    /// Packets were delivered, `bytes` together, this much after they were due.
    pub fn delivered(&mut self, count: usize, bytes: usize, lateness_ns: u64) {
        self.totals.packets_out_count += count as u64;
        self.totals.bytes_out_bytes += bytes as u64;
        self.lateness.record(lateness_ns, count as u64);
    }

    /// As written out.
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
            counts.entered(1, bytes);
        }
        counts.delivered(1, 100, 7_000);
        counts.dropped(DropCause::Loss);
        counts.dropped(DropCause::QueueFull);
        counts.dropped(DropCause::Codel);
        counts.dropped(DropCause::Policer);
        counts.dropped_by_device(1);
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
