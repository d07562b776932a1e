//! What the link did in one window of time, from one `summary` command to the next: counts and
//! lateness per direction, and the tap's flows. Not for: deciding whether a trial is valid.

use crate::histogram::Histogram;
use crate::hosts::Host;
use crate::model::DropCause;
use crate::tap::Tap;
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
        for bytes in [100, 200, 300, 300, 100] {
            counts.entered(1, bytes);
        }
        counts.delivered(1, 100, 7_000);
        counts.dropped(DropCause::Loss);
        counts.dropped(DropCause::QueueFull);
        counts.dropped(DropCause::Codel);
        counts.dropped_by_device(1);
        let summary = counts.summary();
        assert_eq!(
            (summary.packets_in_count, summary.bytes_in_bytes),
            (5, 1_000)
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
                summary.dropped_device_count
            ),
            (1, 1, 1, 1)
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
