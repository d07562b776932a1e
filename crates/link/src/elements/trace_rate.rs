//! A link served by a packet-delivery trace, in the manner of mahimahi's mm-link. An opportunity
//! delivers 1,504 bytes of whole and partial packets, each four bytes longer than the IP packet. A
//! packet can need several opportunities. An opportunity without a waiting packet is lost. A packet
//! arriving in the millisecond of an opportunity is too late for the opportunity. Delivery is at
//! the opportunity's millisecond. The trace starts with the first packet. Not for: reading traces
//! (see `trace`).

use crate::elements::rate::ServiceTime;
use crate::elements::trace::{OPPORTUNITY_BYTES, Trace};
use std::sync::Arc;

/// Bytes counted by mahimahi besides the IP packet.
const PER_PACKET_BYTES: u32 = 4;
const NS_PER_MS: u64 = 1_000_000;

/// A server driven by a trace.
#[derive(Debug, Clone)]
pub struct TraceRate {
    trace: Arc<Trace>,
    /// Time until which earlier packets keep the link busy, in ns.
    free_from_ns: u64,
    origin_ns: Option<u64>,
    /// The opportunity at the end of the last packet.
    current: Opportunity,
    finish_ns: u64,
}

#[derive(Debug, Clone, Copy)]
struct Opportunity {
    cycle: u64,
    index: usize,
    left_bytes: u32,
}

impl TraceRate {
    /// Serves by `trace`, free from `free_from_ns`.
    pub fn new(trace: Arc<Trace>, free_from_ns: u64) -> Self {
        Self {
            trace,
            free_from_ns,
            origin_ns: None,
            current: Opportunity {
                cycle: 0,
                index: 0,
                left_bytes: OPPORTUNITY_BYTES,
            },
            finish_ns: free_from_ns,
        }
    }

    /// Returns the trace behind the service.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Returns the end of the busy period, in ns.
    pub fn busy_until_ns(&self) -> u64 {
        self.finish_ns
    }

    /// Returns the start of service for a packet arriving at `now_ns`.
    pub fn next_start_ns(&self, now_ns: u64) -> u64 {
        let origin_ns = self.origin_ns.unwrap_or(now_ns);
        origin_ns + self.time_ms(self.next_usable(now_ns, origin_ns)) * NS_PER_MS
    }

    /// Serves a packet of `bytes` arriving at `now_ns`.
    pub fn serve(&mut self, now_ns: u64, bytes: u32) -> ServiceTime {
        let origin_ns = *self.origin_ns.get_or_insert(now_ns);
        let mut at = self.next_usable(now_ns, origin_ns);
        let start_ns = origin_ns + self.time_ms(at) * NS_PER_MS;
        let mut wanted_bytes = bytes + PER_PACKET_BYTES;
        while wanted_bytes > at.left_bytes {
            wanted_bytes -= at.left_bytes;
            at = self.advance(at);
        }
        at.left_bytes -= wanted_bytes;
        self.finish_ns = origin_ns + self.time_ms(at) * NS_PER_MS;
        self.current = if at.left_bytes == 0 {
            self.advance(at)
        } else {
            at
        };
        ServiceTime {
            start_ns,
            finish_ns: self.finish_ns,
        }
    }

    /// Returns the first opportunity with room, in a later millisecond than `now_ns`.
    fn next_usable(&self, now_ns: u64, origin_ns: u64) -> Opportunity {
        let earliest_ns = now_ns.max(self.free_from_ns);
        let gone_ms = earliest_ns.saturating_sub(origin_ns) / NS_PER_MS;
        if self.time_ms(self.current) > gone_ms {
            return self.current;
        }
        let period_ms = self.trace.period_ms();
        let times_ms = self.trace.opportunities_ms();
        let index = times_ms.partition_point(|at_ms| *at_ms <= gone_ms % period_ms);
        Opportunity {
            cycle: gone_ms / period_ms + (index / times_ms.len()) as u64,
            index: index % times_ms.len(),
            left_bytes: OPPORTUNITY_BYTES,
        }
    }

    fn advance(&self, opportunity: Opportunity) -> Opportunity {
        let next = opportunity.index + 1;
        let count = self.trace.opportunities_ms().len();
        Opportunity {
            cycle: opportunity.cycle + (next / count) as u64,
            index: next % count,
            left_bytes: OPPORTUNITY_BYTES,
        }
    }

    fn time_ms(&self, opportunity: Opportunity) -> u64 {
        let within_ms = self.trace.opportunities_ms()[opportunity.index];
        opportunity.cycle * self.trace.period_ms() + within_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    const MS: u64 = NS_PER_MS;

    fn link(text: &str) -> TraceRate {
        TraceRate::new(Arc::new(Trace::parse(text).unwrap()), 0)
    }

    fn finishes_ms(link: &mut TraceRate, packets: &[(u64, u32)]) -> Vec<u64> {
        packets
            .iter()
            .map(|(at_ms, bytes)| link.serve(at_ms * MS, *bytes).finish_ns / MS)
            .collect()
    }

    #[test]
    fn full_packets_take_one_opportunity_each_and_the_trace_repeats() {
        let finishes = finishes_ms(&mut link("5\n5\n12\n20\n"), &[(0, 1_500); 9]);
        assert_eq!(finishes, [5, 5, 12, 20, 25, 25, 32, 40, 45]);
    }

    #[test]
    fn small_packets_share_and_large_ones_span() {
        let mut shared = link("10\n20\n30\n");
        // 3 x 504 = 1,512: the third needs eight bytes of the second opportunity.
        assert_eq!(finishes_ms(&mut shared, &[(0, 500); 3]), [10, 10, 20]);
        // 1,496 bytes are left in it.
        assert_eq!(finishes_ms(&mut shared, &[(0, 1_492), (0, 1)]), [20, 30]);
        assert_eq!(finishes_ms(&mut link("10\n20\n30\n"), &[(0, 3_000)]), [20]);
    }

    #[test]
    fn unused_bytes_and_opportunities_are_lost() {
        let mut link = link("10\n20\n30\n");
        assert_eq!(
            finishes_ms(&mut link, &[(0, 100), (10, 100), (25, 100), (95, 1_500)]),
            [10, 20, 30, 100]
        );
    }

    #[test]
    fn the_millisecond_of_an_opportunity_is_too_late() {
        let mut link = link("10\n20\n");
        link.serve(0, 1_500);
        assert_eq!(link.serve(20 * MS - 1, 1_500).finish_ns, 20 * MS);
        assert_eq!(link.serve(30 * MS, 1_500).finish_ns, 40 * MS);
    }

    #[test]
    fn the_trace_starts_with_the_first_packet() {
        let mut late = link("10\n20\n");
        let arrival_ns = 7_777_777_777;
        assert_eq!(late.next_start_ns(arrival_ns), arrival_ns + 10 * MS);
        assert_eq!(
            late.serve(arrival_ns, 1_500).finish_ns,
            arrival_ns + 10 * MS
        );
    }

    /// Runs mahimahi's loop, written out. A packet arriving in a millisecond waits. Each later
    /// opportunity gives bytes to waiting packets, first come first served.
    fn loop_times(times_ms: &[u64], packets: &[(u64, u32)]) -> Vec<u64> {
        let (mut waiting, mut finishes) = (VecDeque::new(), Vec::new());
        let mut arrivals = packets.iter().peekable();
        let period_ms = *times_ms.last().unwrap();
        for cycle in 0.. {
            for at_ms in times_ms
                .iter()
                .map(|within_ms| cycle * period_ms + within_ms)
            {
                while let Some((_, bytes)) = arrivals.next_if(|(came_ms, _)| *came_ms < at_ms) {
                    waiting.push_back(bytes + 4);
                }
                let mut left = 1_504;
                while let Some(first) = waiting.front_mut() {
                    let part = left.min(*first);
                    (left, *first) = (left - part, *first - part);
                    if *first > 0 {
                        break;
                    }
                    waiting.pop_front();
                    finishes.push(at_ms);
                }
                if finishes.len() == packets.len() {
                    return finishes;
                }
            }
        }
        finishes
    }

    proptest! {
        #[test]
        fn any_trace_and_packets_are_served_as_by_mahimahis_loop(
            mut times_ms in prop::collection::vec(0_u64..60, 1..30),
            gaps in prop::collection::vec((0_u64..30, 20_u32..4_000), 1..80),
        ) {
            times_ms.push(60);
            times_ms.sort_unstable();
            let lines: Vec<String> = times_ms.iter().map(u64::to_string).collect();
            let text = lines.join("\n");
            let mut at_ms = 0;
            // The first comes at 0, where the trace starts.
            let packets: Vec<(u64, u32)> = gaps.iter().enumerate().map(|(index, (gap_ms, bytes))| {
                at_ms += if index == 0 { 0 } else { *gap_ms };
                (at_ms, *bytes)
            }).collect();
            let mut link = link(&text);
            for (at_ms, bytes) in &packets {
                let start_ns = link.next_start_ns(at_ms * MS);
                prop_assert_eq!(link.clone().serve(at_ms * MS, *bytes).start_ns, start_ns);
                link.serve(at_ms * MS, *bytes);
            }
            let mut again = TraceRate::new(Arc::new(Trace::parse(&text).unwrap()), 0);
            prop_assert_eq!(finishes_ms(&mut again, &packets), loop_times(&times_ms, &packets));
        }
    }
}
