//! Separates retransmitted TCP segments from new segments, as a pure machine over the sequence
//! ranges of one direction of a flow. Not for: acknowledgements, or the reasons for retransmission.

use crate::devices::offload::Train;
use crate::devices::packet::SequenceRange;

/// The sequence space of one direction of a connection.
#[derive(Debug, Clone, Copy, Default)]
pub struct SequenceSpace {
    /// End of the space seen to date; `None` before the first segment.
    end: Option<u32>,
    /// Sequence number of the opening SYN, if seen.
    opened_at: Option<u32>,
}

impl SequenceSpace {
    /// Takes the next train of segments, `range` together. Returns the number of retransmissions in
    /// the train.
    pub fn retransmitted_count(&mut self, range: SequenceRange, train: &Train) -> u64 {
        let mut rest = range;
        let mut count = 0;
        for index in 0..train.count() - 1 {
            let length = (train.payload_bytes(index) as u32).min(rest.length);
            let segment = SequenceRange { length, ..rest };
            count += u64::from(self.is_retransmission(segment));
            rest.start = rest.start.wrapping_add(length);
            rest.length -= length;
        }
        // The last has what is left, a FIN included; nearly always it is the only one.
        count + u64::from(self.is_retransmission(rest))
    }

    /// Takes the next segment; returns true for a retransmission.
    ///
    /// A retransmission takes sequence space (payload, SYN or FIN), and all of the space lies at or
    /// below the highest end seen before, by serial arithmetic modulo 2^32 (RFC 9293 section 3.4).
    /// A segment reaching even slightly beyond is new. A SYN with a new number opens a new
    /// connection on the same ports. A segment without sequence space is never a retransmission:
    /// pure acknowledgements, resets, and Linux's keep-alives and zero-window probes without
    /// payload. A keep-alive with one byte of garbage (RFC 9293 section 3.8.4) takes space seen
    /// before, and counts. A zero-window probe of one byte counts from the second time on.
    fn is_retransmission(&mut self, range: SequenceRange) -> bool {
        if range.length == 0 {
            return false;
        }
        let end = range.start.wrapping_add(range.length);
        let opens = range.is_syn && self.opened_at != Some(range.start);
        if opens {
            self.opened_at = Some(range.start);
        }
        let is_new = opens || self.end.is_none_or(|seen| is_beyond(end, seen));
        if is_new {
            self.end = Some(end);
        }
        !is_new
    }
}

/// Compares sequence numbers by RFC 1982 section 3.2, for numbers less than 2^31 apart.
fn is_beyond(number: u32, other: u32) -> bool {
    (number.wrapping_sub(other) as i32) > 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::offload::Offload;

    const SYN: bool = true;

    fn space_after(ranges: &[(u32, u32, bool)]) -> (SequenceSpace, Vec<bool>) {
        let mut space = SequenceSpace::default();
        let found = ranges
            .iter()
            .map(|(start, length, is_syn)| {
                space.is_retransmission(SequenceRange {
                    start: *start,
                    length: *length,
                    is_syn: *is_syn,
                })
            })
            .collect();
        (space, found)
    }

    fn found(ranges: &[(u32, u32, bool)]) -> Vec<bool> {
        space_after(ranges).1
    }

    #[test]
    fn segments_of_a_train_are_told_apart() {
        let header = [1, 1, 40, 0, 0xe8, 0x03, 20, 0, 16, 0];
        let mut frame = vec![0x45; 40 + 2_500];
        frame[32] = 0x50;
        let train = Train::divide_frame(Offload::decode(header), &frame);
        assert_eq!(
            train.count(),
            if cfg!(target_endian = "little") { 3 } else { 1 }
        );
        let range = |start, length| SequenceRange {
            start,
            length,
            is_syn: false,
        };
        let mut space = SequenceSpace::default();
        let counts = [
            (u32::MAX - 99, 2_500),
            // All of it, and with a FIN behind it, by which the last is new.
            (u32::MAX - 99, 2_500),
            (u32::MAX - 99, 2_501),
            // Only the first lies wholly below.
            (901, 2_500),
        ]
        .map(|(start, length)| space.retransmitted_count(range(start, length), &train));
        if cfg!(target_endian = "little") {
            assert_eq!(counts, [0, 3, 2, 1]);
        }
        assert_eq!(space.end, Some(901 + 2_500));
    }

    #[test]
    fn in_order_is_new_and_again_is_not() {
        let ranges = [
            (100, 1, SYN),
            (101, 50, false),
            (151, 50, false),
            (101, 50, false),
            (120, 40, false),
            (151, 50, false),
            (201, 1, false),
        ];
        assert_eq!(
            found(&ranges),
            [false, false, false, true, true, true, false]
        );
    }

    #[test]
    fn a_partial_overlap_is_new() {
        let ranges = [(100, 50, false), (120, 31, false), (120, 31, false)];
        assert_eq!(found(&ranges), [false, false, true]);
    }

    #[test]
    fn numbers_wrap() {
        let ranges = [
            (u32::MAX - 9, 20, false),
            (10, 100, false),
            (u32::MAX - 9, 20, false),
            (u32::MAX, 5, false),
            (10, 100, false),
            (110, 1, false),
        ];
        assert_eq!(found(&ranges), [false, false, true, true, true, false]);
    }

    #[test]
    fn syn_and_fin_are_retransmitted_too() {
        let ranges = [(7, 1, SYN), (7, 1, SYN), (8, 1, false), (8, 1, false)];
        assert_eq!(found(&ranges), [false, true, false, true]);
    }

    #[test]
    fn pure_acknowledgements_and_empty_keep_alives_never_are() {
        let ranges = [
            (100, 50, false),
            (150, 0, false),
            (150, 0, false),
            // snd_nxt - 1, without payload and with a byte of garbage.
            (149, 0, false),
            (149, 1, false),
        ];
        assert_eq!(found(&ranges), [false, false, false, false, true]);
    }

    #[test]
    fn a_new_connection_on_the_same_ports_starts_anew() {
        let ranges = [
            (1_000_000, 1, SYN),
            (1_000_001, 500, false),
            // Its initial number happens to lie below.
            (5_000, 1, SYN),
            (5_001, 500, false),
            (5_001, 500, false),
        ];
        assert_eq!(found(&ranges), [false, false, false, false, true]);
        let (space, _) = space_after(&ranges);
        assert_eq!(space.end, Some(5_501));
    }
}
