//! Conditions for counting a run as failed: a figure of the result, a comparison, a number with a
//! unit. Not for: the figures.

use resolab_record::RCODE_NAMES;
use resolab_record::{LoadRecord, TimeDistribution};
use std::fmt;
use std::str::FromStr;

/// A condition for counting a run as failed.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    text: String,
    figure: ResultFigure,
    comparison: Comparison,
    limit: f64,
    unit: Unit,
}

#[derive(Debug, Clone, PartialEq)]
enum ResultFigure {
    Count(Count),
    /// The response time of queries, counted from the planned send time.
    ResponseTime(Quantile),
    /// The lateness of sending.
    Lateness(Quantile),
    /// The rate of answers, per second.
    Rate,
    /// The deviation of the sending rate from the target rate, in either direction.
    RateError,
    /// The processor time per answer.
    Cpu,
}

#[derive(Debug, Clone, PartialEq)]
enum Count {
    Lost,
    Interrupted,
    Failed,
    /// Queries interrupted, failed, or answered with a code other than NOERROR and NXDOMAIN.
    Errors,
    LateAnswers,
    Duplicates,
    Aliens,
    Truncated,
    Reconnects,
    /// Answers with the response code of this name.
    Rcode(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Quantile {
    Mean,
    P50,
    P90,
    P95,
    P99,
    P99_9,
    Max,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Comparison {
    Above,
    AtLeast,
    Below,
    AtMost,
}

/// The unit of the limit; times are in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Unit {
    None,
    Percent,
    Time,
}

const TIME_UNITS: [(&str, f64); 4] = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];
const USAGE: &str = "give FIGURE, one of < <= > >=, and a number: counts (lost, interrupted, failed, \
     errors, late, duplicates, aliens, truncated, reconnects, servfail and other codes) with % of \
     the queries sent or without; times (p50, p90, p95, p99, p99.9, max, mean, late_p50, late_p99, \
     cpu and so on) with ns, us, ms or s; rate without unit; rate_error with %";

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refuse = || format!("read {text:?} as a condition: {USAGE}");
        let at = text.find(['<', '>']).ok_or_else(refuse)?;
        let (name, rest) = text.split_at(at);
        let (comparison, rest) = match rest.as_bytes() {
            [b'>', b'=', ..] => (Comparison::AtLeast, &rest[2..]),
            [b'<', b'=', ..] => (Comparison::AtMost, &rest[2..]),
            [b'>', ..] => (Comparison::Above, &rest[1..]),
            _ => (Comparison::Below, &rest[1..]),
        };
        let figure = figure(name.trim()).ok_or_else(refuse)?;
        let (limit, unit) = number(rest.trim()).ok_or_else(refuse)?;
        let fits = match figure {
            ResultFigure::Count(_) => unit != Unit::Time,
            ResultFigure::Rate => unit == Unit::None,
            ResultFigure::RateError => unit == Unit::Percent,
            ResultFigure::ResponseTime(_) | ResultFigure::Lateness(_) | ResultFigure::Cpu => {
                unit == Unit::Time
            }
        };
        fits.then(|| Self {
            text: text.to_owned(),
            figure,
            comparison,
            limit,
            unit,
        })
        .ok_or_else(refuse)
    }
}

fn figure(name: &str) -> Option<ResultFigure> {
    let name = name.to_ascii_lowercase();
    if let Some(quantile) = quantile(&name) {
        return Some(ResultFigure::ResponseTime(quantile));
    }
    if let Some(quantile) = name.strip_prefix("late_").and_then(quantile) {
        return Some(ResultFigure::Lateness(quantile));
    }
    Some(match name.as_str() {
        "rate" => ResultFigure::Rate,
        "rate_error" => ResultFigure::RateError,
        "cpu" => ResultFigure::Cpu,
        other => ResultFigure::Count(count(other)?),
    })
}

fn quantile(name: &str) -> Option<Quantile> {
    Some(match name {
        "mean" => Quantile::Mean,
        "p50" => Quantile::P50,
        "p90" => Quantile::P90,
        "p95" => Quantile::P95,
        "p99" => Quantile::P99,
        "p99.9" => Quantile::P99_9,
        "max" => Quantile::Max,
        _ => return None,
    })
}

fn count(name: &str) -> Option<Count> {
    Some(match name {
        "lost" => Count::Lost,
        "interrupted" => Count::Interrupted,
        "failed" => Count::Failed,
        "errors" => Count::Errors,
        "late" => Count::LateAnswers,
        "duplicates" => Count::Duplicates,
        "aliens" => Count::Aliens,
        "truncated" => Count::Truncated,
        "reconnects" => Count::Reconnects,
        code => {
            let code = code.to_ascii_uppercase();
            Count::Rcode(RCODE_NAMES.into_iter().find(|name| *name == code)?)
        }
    })
}

fn number(text: &str) -> Option<(f64, Unit)> {
    let digits = text
        .trim_end_matches(|letter: char| letter.is_ascii_alphabetic() || letter == '%')
        .trim();
    let unit = text[digits.len()..].trim();
    let number = digits.parse::<f64>().ok().filter(|number| *number >= 0.0)?;
    match unit {
        "" => Some((number, Unit::None)),
        "%" => Some((number, Unit::Percent)),
        _ => {
            let (_, factor) = TIME_UNITS.into_iter().find(|(name, _)| *name == unit)?;
            Some((number * factor, Unit::Time))
        }
    }
}

/// A condition met by a result, with the value found.
#[derive(Debug, Clone, PartialEq)]
pub struct MetCondition<'a> {
    condition: &'a Condition,
    found: f64,
}

impl fmt::Display for MetCondition<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Condition { text, unit, .. } = self.condition;
        match unit {
            Unit::None => write!(formatter, "{text}: it is {}", self.found),
            Unit::Percent => write!(formatter, "{text}: it is {:.4}%", self.found),
            Unit::Time => write!(formatter, "{text}: it is {:.4} ms", self.found / 1e6),
        }
    }
}

impl Condition {
    /// Returns the value found when the condition holds. A time without measurements counts as 0:
    /// above no limit, and below every limit. A run without answers must not look good.
    pub fn check(&self, record: &LoadRecord) -> Option<MetCondition<'_>> {
        let found = self.found(record);
        let holds = match self.comparison {
            Comparison::Above => found > self.limit,
            Comparison::AtLeast => found >= self.limit,
            Comparison::Below => found < self.limit,
            Comparison::AtMost => found <= self.limit,
        };
        let condition = self;
        holds.then_some(MetCondition { condition, found })
    }

    fn found(&self, record: &LoadRecord) -> f64 {
        let none = TimeDistribution::default();
        match &self.figure {
            ResultFigure::Count(count) => {
                let count = count.read(record) as f64;
                match self.unit {
                    Unit::Percent => 100.0 * count / (record.sent_count.max(1) as f64),
                    Unit::None | Unit::Time => count,
                }
            }
            ResultFigure::ResponseTime(quantile) => quantile.read(&record.query_response_time),
            ResultFigure::Lateness(quantile) => {
                quantile.read(record.send_lateness.as_ref().unwrap_or(&none))
            }
            ResultFigure::Rate => record.completed_rate_per_s,
            ResultFigure::RateError => 100.0 * record.rate_error_ratio.unwrap_or_default().abs(),
            ResultFigure::Cpu => record.client_cpu_per_query_ns.unwrap_or_default(),
        }
    }
}

impl Count {
    fn read(&self, record: &LoadRecord) -> u64 {
        let rcode = |name: &str| record.rcodes.get(name).copied().unwrap_or_default();
        match self {
            Self::Lost => record.lost_count,
            Self::Interrupted => record.interrupted_count,
            Self::Failed => record.failed_count,
            Self::Errors => {
                let refused = record.completed_count - rcode("NOERROR") - rcode("NXDOMAIN");
                record.interrupted_count + record.failed_count + refused
            }
            Self::LateAnswers => record.late_count,
            Self::Duplicates => record.duplicate_count,
            Self::Aliens => record.alien_count,
            Self::Truncated => record.truncated_count,
            Self::Reconnects => record.reconnect_count,
            Self::Rcode(name) => rcode(name),
        }
    }
}

impl Quantile {
    fn read(self, times: &TimeDistribution) -> f64 {
        match self {
            Self::Mean => times.mean_ns,
            Self::P50 => times.p50_ns as f64,
            Self::P90 => times.p90_ns as f64,
            Self::P95 => times.p95_ns as f64,
            Self::P99 => times.p99_ns as f64,
            Self::P99_9 => times.p99_9_ns as f64,
            Self::Max => times.max_ns as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counting::Tally;
    use crate::plan::SendLimit;
    use crate::plan::tests::plan;
    use crate::summary::{self, RunFacts};

    fn times(scale: f64) -> TimeDistribution {
        let of = |ns: f64| (ns * scale) as u64;
        TimeDistribution {
            mean_ns: 6e5 * scale,
            p99_ns: of(3e6),
            p99_9_ns: of(4e6),
            p99_99_ns: None,
            ..TimeDistribution::default()
        }
    }

    /// Returns a record of 1,000 queries in 2 s: 10 lost, 3 failed, 2 interrupted, 1 SERVFAIL.
    fn example() -> LoadRecord {
        let facts = RunFacts {
            run_ns: 2_000_000_000,
            client_cpu_ns: 2_000_000,
            stopped_early: false,
        };
        let plan = plan(1, 1, 1, SendLimit::Count(1000));
        LoadRecord {
            rate_error_ratio: Some(0.002),
            completed_rate_per_s: 492.5,
            sent_count: 1000,
            completed_count: 985,
            lost_count: 10,
            interrupted_count: 2,
            failed_count: 3,
            rcodes: [("NOERROR".to_owned(), 984), ("SERVFAIL".to_owned(), 1)].into(),
            query_response_time: times(1.0),
            send_lateness: Some(times(0.1)),
            client_cpu_per_query_ns: Some(2_030.5),
            ..summary::record(&plan, &Tally::new(true, u64::MAX), &facts)
        }
    }

    fn holds(text: &str) -> bool {
        let condition: Condition = text.parse().unwrap();
        condition.check(&example()).is_some()
    }

    #[test]
    fn conditions_hold_of_what_they_name() {
        for (text, expected) in [
            ("lost>0.1%", true),
            ("lost > 1.5%", false),
            ("lost>=10", true),
            ("lost>10", false),
            ("errors>0", true),
            ("errors>6", false),
            ("servfail>0", true),
            ("refused>0", false),
            ("nxdomain<=0", true),
            ("p99>5ms", false),
            ("p99>2ms", true),
            ("p99.9>=4ms", true),
            ("mean<1s", true),
            ("late_p99>150us", true),
            ("rate<40000", true),
            ("rate<400", false),
            ("rate_error>0.1%", true),
            ("cpu>3us", false),
            ("duplicates>0", false),
        ] {
            assert_eq!(holds(text), expected, "{text}");
        }
    }

    #[test]
    fn a_condition_that_held_says_what_was_found() {
        let condition: Condition = "lost>0.1%".parse().unwrap();
        let record = example();
        let held = condition.check(&record).unwrap();
        assert_eq!(held.to_string(), "lost>0.1%: it is 1.0000%");
        let condition: Condition = "p99>1ms".parse().unwrap();
        let held = condition.check(&record).unwrap().to_string();
        assert_eq!(held, "p99>1ms: it is 3.0000 ms");
    }

    #[test]
    fn units_must_fit_and_errors_say_what_there_is() {
        for text in [
            "",
            "lost",
            "lost>",
            "lost>1ms",
            "p99>5",
            "p99>5%",
            "rate>5ms",
            "rate_error>1",
            "x>1",
            "p99>5m",
            "lost>-1",
            "lost=1",
            "late_x>1us",
        ] {
            let error = text.parse::<Condition>().unwrap_err();
            assert!(error.contains("rate_error"), "{error}");
        }
    }
}
