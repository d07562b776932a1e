//! Conditional requests (RFC 9110 section 13) and ranges (section 14) for a representation.
//!
//! For: deciding on the answer. Not for: building the answer.

use http::header::{
    IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE, RANGE,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use std::ops::Range;
use std::time::SystemTime;

/// The validators of a representation.
#[derive(Debug, Clone, Copy)]
pub struct Validators<'a> {
    /// The strong entity tag with its quotes.
    pub etag: &'a HeaderValue,
    /// The time of the last change, in whole seconds.
    pub last_modified: Option<SystemTime>,
}

/// The decision on a request with conditions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConditionResult {
    /// Status 200: the whole representation.
    Whole,
    /// Status 206 with this part.
    Part(Range<u64>),
    /// Status 304: the client has the representation already.
    NotModified,
    /// Status 412: the client's condition is false.
    Failed,
    /// Status 416: no requested part exists.
    Unsatisfiable,
}

/// Decides in the order of RFC 9110 section 13.2.2.
pub fn judge(
    method: &Method,
    headers: &HeaderMap,
    validators: Validators<'_>,
    len_bytes: u64,
) -> ConditionResult {
    let unmet = if headers.contains_key(IF_MATCH) {
        !matches_tag(
            headers,
            IF_MATCH,
            validators.etag,
            ValidatorComparison::Strong,
        )
    } else {
        is_after(headers, &IF_UNMODIFIED_SINCE, validators)
    };
    if unmet {
        return ConditionResult::Failed;
    }
    let known = if headers.contains_key(IF_NONE_MATCH) {
        matches_tag(
            headers,
            IF_NONE_MATCH,
            validators.etag,
            ValidatorComparison::Weak,
        )
    } else {
        headers.contains_key(IF_MODIFIED_SINCE)
            && validators.last_modified.is_some()
            && date(headers, &IF_MODIFIED_SINCE).is_some()
            && !is_after(headers, &IF_MODIFIED_SINCE, validators)
    };
    if known {
        return ConditionResult::NotModified;
    }
    // RFC 9110 section 14.2: defined for GET alone.
    let range = headers.get(RANGE).and_then(|value| value.to_str().ok());
    match range {
        Some(range) if method == Method::GET && range_holds(headers, validators) => {
            part(range, len_bytes)
        }
        _ => ConditionResult::Whole,
    }
}

#[derive(Clone, Copy)]
enum ValidatorComparison {
    Strong,
    Weak,
}

/// Returns true when a list of entity tags has our tag. Our tag has no comma, so the list may be
/// split at commas.
fn matches_tag(
    headers: &HeaderMap,
    name: HeaderName,
    etag: &HeaderValue,
    comparison: ValidatorComparison,
) -> bool {
    let lines = headers.get_all(name).into_iter();
    let mut tags = lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(','))
        .map(str::trim);
    tags.any(|tag| {
        let strong = match comparison {
            ValidatorComparison::Weak => tag.strip_prefix("W/").unwrap_or(tag),
            ValidatorComparison::Strong => tag,
        };
        tag == "*" || strong.as_bytes() == etag.as_bytes()
    })
}

fn date(headers: &HeaderMap, name: &HeaderName) -> Option<SystemTime> {
    let text = headers.get(name)?.to_str().ok()?;
    httpdate::parse_http_date(text).ok()
}

/// Returns true when the representation changed after the date of a field; false without a date.
fn is_after(headers: &HeaderMap, name: &HeaderName, validators: Validators<'_>) -> bool {
    match (validators.last_modified, date(headers, name)) {
        (Some(modified), Some(asked)) => modified > asked,
        _ => false,
    }
}

/// Returns true when the range's condition holds: by strong tag, or by the exact date (RFC 9110
/// section 13.1.5).
fn range_holds(headers: &HeaderMap, validators: Validators<'_>) -> bool {
    let Some(condition) = headers.get(IF_RANGE) else {
        return true;
    };
    condition.as_bytes() == validators.etag.as_bytes()
        || (validators.last_modified.is_some()
            && date(headers, &IF_RANGE) == validators.last_modified)
}

/// Reads a single range. Several ranges, another unit or a malformed range are ignored, as
/// permitted by RFC 9110 section 14.2.
fn part(text: &str, len_bytes: u64) -> ConditionResult {
    let Some(spec) = text.trim().strip_prefix("bytes=") else {
        return ConditionResult::Whole;
    };
    let Some((first, last)) = spec.trim().split_once('-') else {
        return ConditionResult::Whole;
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(first) || !digits(last) {
        return ConditionResult::Whole;
    }
    let range = match (position(first), position(last)) {
        (None, Some(suffix)) => len_bytes.saturating_sub(suffix)..len_bytes,
        (Some(first), None) => first..len_bytes,
        (Some(first), Some(last)) if first <= last => first..len_bytes.min(last.saturating_add(1)),
        _ => return ConditionResult::Whole,
    };
    if range.start >= range.end {
        ConditionResult::Unsatisfiable
    } else {
        ConditionResult::Part(range)
    }
}

/// Reads a number of decimal digits; `None` for an empty text.
fn position(digits: &str) -> Option<u64> {
    // A position beyond 64 bits lies beyond every end.
    (!digits.is_empty()).then(|| digits.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

    const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
    const EARLIER: &str = "Sun, 06 Nov 1994 08:49:36 GMT";

    fn decide(method: &Method, fields: &[(HeaderName, &str)]) -> ConditionResult {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(name, value.parse().unwrap());
        }
        let etag = HeaderValue::from_static("\"abc\"");
        let validators = Validators {
            etag: &etag,
            last_modified: Some(UNIX_EPOCH + Duration::from_secs(784_111_777)),
        };
        judge(method, &headers, validators, 1_000)
    }

    #[test]
    fn ranges_are_parts_or_ignored_or_out_of_reach() {
        for (range, expected) in [
            ("bytes=0-0", ConditionResult::Part(0..1)),
            ("bytes=990-", ConditionResult::Part(990..1_000)),
            (
                "bytes=990-99999999999999999999999",
                ConditionResult::Part(990..1_000),
            ),
            ("bytes=-10", ConditionResult::Part(990..1_000)),
            ("bytes=-5000", ConditionResult::Part(0..1_000)),
            ("bytes=-0", ConditionResult::Unsatisfiable),
            ("bytes=1000-", ConditionResult::Unsatisfiable),
            ("bytes=1000-1001", ConditionResult::Unsatisfiable),
            ("bytes=5-4", ConditionResult::Whole),
            ("bytes=-", ConditionResult::Whole),
            ("bytes=+1-2", ConditionResult::Whole),
            ("bytes=0-1,3-4", ConditionResult::Whole),
            ("lines=0-1", ConditionResult::Whole),
        ] {
            assert_eq!(decide(&Method::GET, &[(RANGE, range)]), expected, "{range}");
        }
        let head = decide(&Method::HEAD, &[(RANGE, "bytes=0-0")]);
        assert_eq!(head, ConditionResult::Whole);
    }

    #[test]
    fn a_range_holds_only_for_the_representation_it_was_meant_for() {
        let part = ConditionResult::Part(0..1);
        for (condition, expected) in [
            ("\"abc\"", &part),
            ("W/\"abc\"", &ConditionResult::Whole),
            ("\"abd\"", &ConditionResult::Whole),
            (DATE, &part),
            (EARLIER, &ConditionResult::Whole),
        ] {
            let fields = [(RANGE, "bytes=0-0"), (IF_RANGE, condition)];
            assert_eq!(&decide(&Method::GET, &fields), expected, "{condition}");
        }
    }

    #[test]
    fn conditions_are_judged_in_their_order() {
        let cases: [(&[(HeaderName, &str)], ConditionResult); 10] = [
            (&[(IF_NONE_MATCH, "\"abc\"")], ConditionResult::NotModified),
            (
                &[(IF_NONE_MATCH, "\"x\", W/\"abc\"")],
                ConditionResult::NotModified,
            ),
            (&[(IF_NONE_MATCH, "*")], ConditionResult::NotModified),
            (
                &[(IF_NONE_MATCH, "\"x\""), (IF_MODIFIED_SINCE, DATE)],
                ConditionResult::Whole,
            ),
            (&[(IF_MODIFIED_SINCE, DATE)], ConditionResult::NotModified),
            (&[(IF_MODIFIED_SINCE, EARLIER)], ConditionResult::Whole),
            (&[(IF_MODIFIED_SINCE, "yesterday")], ConditionResult::Whole),
            (&[(IF_MATCH, "W/\"abc\"")], ConditionResult::Failed),
            (
                &[(IF_MATCH, "\"abc\""), (IF_NONE_MATCH, "*")],
                ConditionResult::NotModified,
            ),
            (&[(IF_UNMODIFIED_SINCE, EARLIER)], ConditionResult::Failed),
        ];
        for (fields, expected) in cases {
            assert_eq!(decide(&Method::GET, fields), expected, "{fields:?}");
        }
    }
}
