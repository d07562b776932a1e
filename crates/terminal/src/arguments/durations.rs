//! The allowed lengths of deadlines and pauses on the command line, within the range of clocks and
//! timers. Not for: the meaning of these times.

use clap::builder::RangedU64ValueParser;

/// The longest time: a day. Sums of nanoseconds stay within 64 bits.
const LONGEST_MS: u64 = 86_400_000;

/// Returns the parser of a deadline, in milliseconds.
pub fn deadline_ms() -> RangedU64ValueParser {
    clap::value_parser!(u64).range(1..=LONGEST_MS)
}

/// Returns the parser of a pause between two events, in milliseconds.
pub fn pause_ms() -> RangedU64ValueParser {
    clap::value_parser!(u64).range(0..=LONGEST_MS)
}
