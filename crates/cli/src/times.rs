//! How long deadlines and pauses of the command line may be: what clocks and timers can still add.
//! Not for: what they mean.

use clap::builder::RangedU64ValueParser;

/// A day. Nothing is waited for longer, and sums of nanoseconds stay within 64 bits.
const LONGEST_MS: u64 = 86_400_000;

/// A time in which something must have come, in milliseconds.
pub fn deadline_ms() -> RangedU64ValueParser {
    clap::value_parser!(u64).range(1..=LONGEST_MS)
}

/// A time that passes between two things, in milliseconds.
pub fn pause_ms() -> RangedU64ValueParser {
    clap::value_parser!(u64).range(0..=LONGEST_MS)
}
