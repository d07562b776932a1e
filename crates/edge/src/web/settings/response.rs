//! The setting `[[site.response]]`: paths with answers other than a body and 200.
//!
//! For: the settings and their contradictions. Not for: answering.

use crate::web::early_messages::EarlyMessages;
use crate::web::server_time::ServerTime;
use http::header::{
    CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderName, HeaderValue, StatusCode};
use serde::Deserialize;
use std::collections::{BTreeMap, HashSet};

/// An entry of `[[site.response]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResponseConfig {
    /// The path, or path and query. An entry with a query has precedence.
    pub path: String,
    /// The status code; absent: 200.
    #[serde(default)]
    pub status: Option<u16>,
    /// The target of a redirect.
    #[serde(default)]
    pub location: Option<String>,
    /// Additional header fields, with precedence over the edge's own fields.
    #[serde(default)]
    pub fields: BTreeMap<String, String>,
    /// The wait before the answers, instead of the wait of body, path or site.
    #[serde(default)]
    pub server_time_ms: Option<ServerTime>,
    /// The `link` fields of a 103, sent as soon as the request is here.
    #[serde(default)]
    pub early_hints: Vec<String>,
    /// The questions (`NAME TYPE`) with pushed answers, on connections of the resolver.
    #[serde(default)]
    pub pushed_questions: Vec<String>,
    /// The outcome: an answer, a reset or silence.
    #[serde(default)]
    pub outcome: ResponseOutcome,
}

/// The setting `site.response.outcome`: answer, reset or hang.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResponseOutcome {
    /// The answer is sent.
    #[default]
    Answer,
    /// After the server's time the stream is reset; over HTTP/1.1 the connection is closed.
    Reset,
    /// Nothing is ever sent.
    Hang,
}

/// The statuses chosen by the edge for conditions and ranges.
const OF_REQUESTS: [StatusCode; 3] = [
    StatusCode::PARTIAL_CONTENT,
    StatusCode::NOT_MODIFIED,
    StatusCode::RANGE_NOT_SATISFIABLE,
];
/// The statuses with a `location` (RFC 9110 section 10.2.2).
const LOCATED: [u16; 6] = [201, 301, 302, 303, 307, 308];
/// The fields derived from the body and the connection. Fields of the connection are malformed over
/// HTTP/2 and HTTP/3 (RFC 9113 section 8.2.2).
const OWN_FIELDS: [HeaderName; 8] = [
    CONTENT_LENGTH,
    CONTENT_ENCODING,
    CONTENT_RANGE,
    TRANSFER_ENCODING,
    CONNECTION,
    UPGRADE,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
];

/// Returns the contradiction between the responses of a site, if any.
pub fn contradiction(responses: &[ResponseConfig]) -> Option<String> {
    let mut paths = HashSet::new();
    responses.iter().find_map(|response| {
        let twice = !paths.insert(&response.path);
        let fault = twice.then(|| "it stands twice".to_owned());
        let fault = fault.or_else(|| response.contradiction());
        fault.map(|reason| format!("response {}: {reason}", response.path))
    })
}

impl ResponseConfig {
    fn contradiction(&self) -> Option<String> {
        self.outcome_fault()
            .or_else(|| self.status_fault())
            .or_else(|| self.fields_fault())
            .or_else(|| EarlyMessages::from_config(self).err())
    }

    fn outcome_fault(&self) -> Option<String> {
        let says = self.status.is_some() || self.location.is_some() || !self.fields.is_empty();
        if self.outcome != ResponseOutcome::Answer && says {
            return Some("no answer is sent: it has no status, location or fields".to_owned());
        }
        let waits = self.outcome == ResponseOutcome::Hang && self.server_time_ms.is_some();
        waits.then(|| "nothing is ever sent: it has no server_time_ms".to_owned())
    }

    fn status_fault(&self) -> Option<String> {
        let status = self.status.unwrap_or(200);
        let known = StatusCode::from_u16(status).ok();
        let known =
            known.filter(|known| (200..600).contains(&status) && !OF_REQUESTS.contains(known));
        if known.is_none() {
            return Some(format!(
                "status {status} is not one of 200 to 599 without 206, 304 and 416, which come of requests"
            ));
        }
        let misplaced = self.location.is_some() && !LOCATED.contains(&status);
        misplaced.then(|| format!("location does not go with status {status}"))
    }

    fn fields_fault(&self) -> Option<String> {
        let location = self.location.iter().map(|value| ("location", value));
        let fields = self.fields.iter();
        let fields = fields.map(|(name, value)| (name.as_str(), value));
        let mut names = HashSet::new();
        location.chain(fields).find_map(|(name, value)| {
            let Ok(field) = HeaderName::from_bytes(name.as_bytes()) else {
                return Some(format!("`{name}` is no field name"));
            };
            if OWN_FIELDS.contains(&field) {
                return Some(format!("{field} follows from the body and the connection"));
            }
            if !names.insert(field) {
                return Some(format!("the field {name} stands twice"));
            }
            let invalid = HeaderValue::from_str(value).is_err();
            invalid.then(|| format!("`{value}` is no value of a field"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> String {
        let response: ResponseConfig = toml::from_str(text).unwrap();
        contradiction(&[response]).unwrap_or_default()
    }

    #[test]
    fn what_can_be_meant_has_no_fault() {
        for text in [
            "path = '/'",
            "path = '/a?b=1'\nstatus = 302\nlocation = 'https://b.test/'",
            "path = '/a'\nstatus = 503\nfields = { retry-after = '9', x-pad = 'aaaa' }",
            "path = '/a'\noutcome = 'reset'\nserver_time_ms = 20",
            "path = '/a'\noutcome = 'hang'",
        ] {
            assert_eq!(fault(text), "", "{text}");
        }
    }

    #[test]
    fn what_cannot_be_meant_is_named() {
        for (text, part) in [
            ("status = 199", "status 199"),
            ("status = 304", "status 304"),
            ("status = 1000", "status 1000"),
            (
                "status = 404\nlocation = '/b'",
                "location does not go with status 404",
            ),
            ("location = '/b'", "status 200"),
            ("status = 302\nlocation = 'a\\nb'", "no value"),
            ("fields = { 'a b' = '1' }", "`a b` is no field name"),
            (
                "fields = { Content-Length = '1' }",
                "content-length follows",
            ),
            ("fields = { Keep-Alive = 'x' }", "keep-alive follows"),
            ("fields = { a = '1', A = '2' }", "stands twice"),
            (
                "status = 301\nlocation = '/b'\nfields = { Location = '/c' }",
                "stands twice",
            ),
            ("outcome = 'reset'\nstatus = 200", "no answer is sent"),
            (
                "outcome = 'hang'\nserver_time_ms = 5",
                "nothing is ever sent",
            ),
        ] {
            let text = format!("path = '/a'\n{text}").replace("'a\\nb'", "\"a\\nb\"");
            let error = fault(&text);
            assert!(
                error.starts_with("response /a: ") && error.contains(part),
                "{error}"
            );
        }
        let twice: ResponseConfig = toml::from_str("path = '/a'").unwrap();
        let error = contradiction(&[twice.clone(), twice]).unwrap();
        assert!(error.contains("twice"), "{error}");
    }
}
