//! The answer of a path besides its body: status, fields, or no answer.
//!
//! For: `[[site.response]]`, ready to be sent. Not for: bodies.

use super::early_messages::EarlyMessages;
use super::server_time::WaitSequence;
use super::settings::{ResponseConfig, ResponseOutcome};
use crate::http_message::{HttpReply, ReplyFate};
use http::header::LOCATION;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use std::sync::Arc;

/// A configured response of a site.
#[derive(Debug)]
pub struct ConfiguredResponse {
    /// The status of the answer.
    pub status: StatusCode,
    /// The wait before each answer, instead of the body's.
    pub waits: Option<WaitSequence>,
    early_messages: Option<Arc<EarlyMessages>>,
    fields: HeaderMap,
    fate: ReplyFate,
}

impl ConfiguredResponse {
    /// Makes a response from its configuration; `seed` is the seed of the drawn waits.
    pub fn new(config: &ResponseConfig, seed: u64) -> Result<Self, String> {
        let waits = config.server_time_ms.as_ref();
        Ok(Self {
            status: StatusCode::from_u16(config.status.unwrap_or(200)).map_err(wrong(config))?,
            waits: waits
                .map(|time| WaitSequence::new(time, seed))
                .transpose()?,
            early_messages: EarlyMessages::from_config(config)?.map(Arc::new),
            fields: fields_of(config)?,
            fate: match config.outcome {
                ResponseOutcome::Answer => ReplyFate::Sent,
                ResponseOutcome::Reset => ReplyFate::Reset,
                ResponseOutcome::Hang => ReplyFate::Withheld,
            },
        })
    }

    /// Returns true when the answer may have a body (RFC 9110 sections 15.3.5 and 15.3.6).
    pub fn has_body(&self) -> bool {
        ![StatusCode::NO_CONTENT, StatusCode::RESET_CONTENT].contains(&self.status)
    }

    /// Sets the response's fields (over existing fields), fate and messages ahead in the reply.
    pub fn complete(&self, reply: &mut HttpReply) {
        let fields = reply.head.headers_mut();
        for (name, value) in &self.fields {
            fields.insert(name, value.clone());
        }
        reply.early_messages.clone_from(&self.early_messages);
        reply.fate = self.fate;
    }
}

fn fields_of(config: &ResponseConfig) -> Result<HeaderMap, String> {
    let mut fields = HeaderMap::new();
    for (name, value) in &config.fields {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(wrong(config))?;
        fields.insert(name, HeaderValue::from_str(value).map_err(wrong(config))?);
    }
    if let Some(location) = &config.location {
        let value = HeaderValue::from_str(location).map_err(wrong(config))?;
        fields.insert(LOCATION, value);
    }
    Ok(fields)
}

fn wrong<E: std::fmt::Display>(config: &ResponseConfig) -> impl Fn(E) -> String {
    move |error| format!("response {}: {error}", config.path)
}
