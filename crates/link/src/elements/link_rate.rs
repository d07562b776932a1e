//! The link's rate, constant or by a trace, and changing between the two. Not for: the service
//! itself (see `rate` and `trace_rate`).

use crate::elements::rate::{ConstantRate, ServiceTime};
use crate::elements::trace::Trace;
use crate::elements::trace_rate::TraceRate;
use std::sync::Arc;

/// The link's rate: constant, or driven by a delivery trace.
#[derive(Debug, Clone)]
pub enum LinkRate {
    /// Bits per second, or no limit.
    Constant(ConstantRate),
    /// A trace of delivery opportunities.
    Trace(TraceRate),
}

impl LinkRate {
    /// Makes a rate by `trace`, if given, otherwise a constant rate.
    pub fn new(rate_bps: Option<f64>, trace: Option<Arc<Trace>>) -> Self {
        match trace {
            Some(trace) => Self::Trace(TraceRate::new(trace, 0)),
            None => Self::Constant(ConstantRate::new(rate_bps)),
        }
    }

    /// Changes to another rate. Packets on the link or waiting keep their times. The same trace
    /// runs on, unless `restart` is set.
    pub fn change(&mut self, rate_bps: Option<f64>, trace: Option<Arc<Trace>>, restart: bool) {
        let busy_until_ns = match self {
            Self::Constant(rate) => rate.next_start_ns(0),
            Self::Trace(rate) => rate.busy_until_ns(),
        };
        match (&mut *self, trace) {
            (Self::Trace(rate), Some(trace)) if !restart && *rate.trace() == *trace => {}
            (_, Some(trace)) => *self = Self::Trace(TraceRate::new(trace, busy_until_ns)),
            (Self::Constant(rate), None) => rate.change(rate_bps),
            (Self::Trace(_), None) => {
                *self = Self::Constant(ConstantRate::free_from(rate_bps, busy_until_ns));
            }
        }
    }

    /// Returns the start of service for a packet arriving at `now_ns`.
    pub fn next_start_ns(&self, now_ns: u64) -> u64 {
        match self {
            Self::Constant(rate) => rate.next_start_ns(now_ns),
            Self::Trace(rate) => rate.next_start_ns(now_ns),
        }
    }

    /// Serves a packet of `bytes` arriving at `now_ns`.
    pub fn serve(&mut self, now_ns: u64, bytes: u32) -> ServiceTime {
        match self {
            Self::Constant(rate) => rate.serve(now_ns, bytes),
            Self::Trace(rate) => rate.serve(now_ns, bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn trace() -> Arc<Trace> {
        Arc::new(Trace::parse("10\n20\n").unwrap())
    }

    #[test]
    fn a_change_keeps_the_backlog_either_way() {
        let mut link = LinkRate::new(Some(12e6), None);
        for _ in 0..15 {
            link.serve(0, 1_500);
        }
        link.change(None, Some(trace()), false);
        // Busy until 15 ms; the trace starts with this packet, at 5 ms.
        assert_eq!(link.serve(5 * MS, 1_500).finish_ns, 25 * MS);
        link.change(Some(12e6), None, false);
        assert_eq!(link.serve(5 * MS, 1_500).finish_ns, 26 * MS);
    }

    #[test]
    fn the_same_trace_runs_on_unless_restarted() {
        let mut link = LinkRate::new(None, Some(trace()));
        link.serve(0, 1_500);
        link.change(None, Some(trace()), false);
        assert_eq!(link.next_start_ns(13 * MS), 20 * MS);
        link.change(None, Some(trace()), true);
        assert_eq!(link.next_start_ns(13 * MS), 23 * MS);
    }
}
