//! Packet-delivery traces in mahimahi's format: one whole number of milliseconds per line, never
//! falling. Each line is an opportunity to deliver 1,504 bytes. The file repeats with the last line
//! as period. Not for: serving packets by a trace (see `trace_rate`).

use resolab_record::DirectionProfile;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;

/// Bytes delivered by an opportunity: a full Ethernet packet and the four bytes put before each
/// packet by mahimahi's TUN devices.
pub const OPPORTUNITY_BYTES: u32 = 1_504;

/// A trace, never empty.
#[derive(Debug, PartialEq, Eq)]
pub struct Trace {
    opportunities_ms: Vec<u64>,
}

/// The traces of both directions.
#[derive(Debug, Clone, Default)]
pub struct Traces {
    /// Trace of the direction client to server.
    pub up: Option<Arc<Trace>>,
    /// Trace of the direction server to client.
    pub down: Option<Arc<Trace>>,
}

/// The reason for a missing trace; messages read after "failed to".
#[derive(Debug, Error)]
pub enum TraceError {
    /// The file cannot be read.
    #[error("read trace {path}: {source}")]
    Unreadable {
        /// Path of the trace file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file is not a trace.
    #[error("read trace {path}, line {line}: there must be {expected}")]
    Malformed {
        /// Path of the trace file.
        path: PathBuf,
        /// Number of the wrong line, from 1.
        line: usize,
        /// Description of the expected content.
        expected: &'static str,
    },
}

impl Trace {
    /// Reads a trace from a file.
    pub fn load(path: &Path) -> Result<Self, TraceError> {
        let text = std::fs::read_to_string(path).map_err(|source| TraceError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(&text).map_err(|(line, expected)| TraceError::Malformed {
            path: path.to_owned(),
            line,
            expected,
        })
    }

    /// Reads a trace from a text. An error gives the line and the expected content.
    pub fn parse(text: &str) -> Result<Self, (usize, &'static str)> {
        let mut opportunities_ms: Vec<u64> = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let digits = Some(line).filter(|line| !line.starts_with('+'));
            let at_ms = digits
                .and_then(|digits| digits.parse().ok())
                .ok_or((index + 1, "a whole number of milliseconds"))?;
            if opportunities_ms.last().is_some_and(|last| *last > at_ms) {
                return Err((index + 1, "no time before the line above"));
            }
            opportunities_ms.push(at_ms);
        }
        match opportunities_ms.last() {
            Some(1..=MAX_PERIOD_MS) => Ok(Self { opportunities_ms }),
            _ => Err((
                opportunities_ms.len().max(1),
                "a period of 1 to 1000000000 ms",
            )),
        }
    }

    /// Returns the times of the opportunities in a period, in ms.
    pub fn opportunities_ms(&self) -> &[u64] {
        &self.opportunities_ms
    }

    /// Returns the period in ms, after which the trace starts again.
    pub fn period_ms(&self) -> u64 {
        self.opportunities_ms.last().copied().unwrap_or(1)
    }

    /// Returns the mean rate over a whole period, in bits per second.
    pub fn mean_rate_bps(&self) -> f64 {
        let bits = self.opportunities_ms.len() as f64 * f64::from(OPPORTUNITY_BYTES) * 8.0;
        bits * 1_000.0 / self.period_ms() as f64
    }
}

/// Maximum period: twelve days. The limit keeps all times far from the end of a clock's range.
const MAX_PERIOD_MS: u64 = 1_000_000_000;

impl Traces {
    /// Loads the traces named in complete directions.
    pub fn load(up: &DirectionProfile, down: &DirectionProfile) -> Result<Self, TraceError> {
        let of = |direction: &DirectionProfile| -> Result<Option<Arc<Trace>>, TraceError> {
            let Some(file) = &direction.trace_file else {
                return Ok(None);
            };
            Ok(Some(Arc::new(Trace::load(Path::new(file))?)))
        };
        Ok(Self {
            up: of(up)?,
            down: of(down)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_knows_its_period_and_rate() {
        let trace =
            Trace::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tiny.trace"))
                .unwrap();
        assert_eq!(trace.opportunities_ms(), [5, 5, 12, 20]);
        assert_eq!(trace.period_ms(), 20);
        assert!((trace.mean_rate_bps() - 4.0 * 1_504.0 * 8.0 / 0.020).abs() < 1e-6);
    }

    #[test]
    fn what_is_not_a_trace_is_named_with_its_line() {
        for (text, line, word) in [
            ("1\nx\n", 2, "whole number"),
            ("+1\n2\n", 1, "whole number"),
            ("1\n\n2\n", 2, "whole number"),
            ("3\n2\n", 2, "no time before"),
            ("", 1, "period"),
            ("0\n0\n", 2, "period"),
        ] {
            let (at, expected) = Trace::parse(text).unwrap_err();
            assert!(
                at == line && expected.contains(word),
                "{text:?}: {at} {expected}"
            );
        }
        let error = Trace::load(Path::new("/nowhere/at/all")).unwrap_err();
        assert!(error.to_string().starts_with("read trace /nowhere"));
    }
}
