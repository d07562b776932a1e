//! What is asked: a name, with its case kept, and a type.

use crate::client_subnet::ClientSubnet;
use hickory_proto::op::{Edns, Message};
use hickory_proto::rr::{DNSClass, Name, RecordType};
use std::str::FromStr;
use thiserror::Error;

/// Why a question cannot be asked.
#[derive(Debug, Error)]
pub enum QuestionError {
    /// Not a domain name.
    #[error("read {name:?} as a domain name: {reason}")]
    Name {
        /// As given.
        name: String,
        /// What was wrong.
        reason: String,
    },
    /// Not a record type.
    #[error("read {0:?} as a record type: give one like A, AAAA, HTTPS or TYPE65")]
    Type(String),
}

/// One question of class IN.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Name, with its final dot.
    pub name: Name,
    /// Type of the records asked for.
    pub record_type: RecordType,
    /// DNSSEC records wanted (RFC 3225).
    pub dnssec_ok: bool,
    /// Validation not wanted (RFC 4035 section 3.2.2).
    pub checking_disabled: bool,
    /// Client subnet the asker gave, which goes before the client's own (RFC 7871 section 7.1.2).
    pub client_subnet: Option<ClientSubnet>,
    /// Payload size the asker announced, which DoUDP does not announce more than.
    pub udp_payload_bytes: Option<u16>,
    /// The AD flag of the response is to say whether it was validated (RFC 6840 section 5.7).
    pub wants_authentic_data: bool,
}

impl Question {
    /// A question from text; a name that is not ASCII is asked for as its A-labels (RFC 5891).
    pub fn parse(name: &str, record_type: &str) -> Result<Self, QuestionError> {
        // Only where there is need for it: the conversion loses case, which 0x20 and tests rely on.
        let read = if name.is_ascii() {
            Name::from_ascii(name)
        } else {
            Name::from_utf8(name)
        };
        let mut parsed = read.map_err(|error| QuestionError::Name {
            name: name.to_owned(),
            reason: error.to_string(),
        })?;
        parsed.set_fqdn(true);
        Ok(Self {
            name: parsed,
            record_type: parse_type(record_type)?,
            dnssec_ok: false,
            checking_disabled: false,
            client_subnet: None,
            udp_payload_bytes: None,
            wants_authentic_data: false,
        })
    }

    /// The question of a query somebody sent; `None` unless it is exactly one, of class IN.
    pub fn of(query: &Message) -> Option<Self> {
        let [question] = query.queries.as_slice() else {
            return None;
        };
        let edns = query.edns.as_ref();
        (question.query_class() == DNSClass::IN).then(|| Self {
            name: question.name().clone(),
            record_type: question.query_type(),
            dnssec_ok: edns.is_some_and(|edns| edns.flags().dnssec_ok),
            checking_disabled: query.metadata.checking_disabled,
            client_subnet: edns.and_then(ClientSubnet::of),
            udp_payload_bytes: edns.map(Edns::max_payload),
            wants_authentic_data: query.metadata.authentic_data,
        })
    }

    /// The name as text, with its final dot.
    pub fn name_text(&self) -> String {
        self.name.to_ascii()
    }

    /// The type as text; RFC 3597 section 5 for those without a name.
    pub fn type_text(&self) -> String {
        if let RecordType::Unknown(number) = self.record_type {
            format!("TYPE{number}")
        } else {
            self.record_type.to_string()
        }
    }
}

fn parse_type(text: &str) -> Result<RecordType, QuestionError> {
    let upper = text.to_ascii_uppercase();
    if let Some(number) = upper
        .strip_prefix("TYPE")
        .and_then(|number| number.parse::<u16>().ok())
    {
        return Ok(RecordType::from(number));
    }
    RecordType::from_str(&upper).map_err(|_| QuestionError::Type(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_case_and_adds_the_final_dot() {
        let question = Question::parse("Example.Resolab.TEST", "https").unwrap();
        assert_eq!(question.name_text(), "Example.Resolab.TEST.");
        assert_eq!(question.type_text(), "HTTPS");
        assert_eq!(Question::parse(".", "NS").unwrap().name_text(), ".");
    }

    #[test]
    fn a_name_beyond_ascii_is_asked_for_as_its_a_labels() {
        let question = Question::parse("bücher.Example", "A").unwrap();
        assert_eq!(question.name_text(), "xn--bcher-kva.example.");
        let sharp = Question::parse("straße.example", "A").unwrap();
        assert_eq!(sharp.name_text(), "xn--strae-oqa.example.");
    }

    #[test]
    fn types_have_numbers_too() {
        assert_eq!(
            Question::parse("a.test", "TYPE65").unwrap().record_type,
            RecordType::HTTPS
        );
        assert_eq!(
            Question::parse("a.test", "TYPE4711").unwrap().type_text(),
            "TYPE4711"
        );
    }

    #[test]
    fn errors_name_what_is_wrong() {
        let long = "a".repeat(64);
        let name = Question::parse(&long, "A").unwrap_err().to_string();
        assert!(name.contains(&long), "{name}");
        let record_type = Question::parse("a.test", "FOO").unwrap_err().to_string();
        assert!(record_type.contains("\"FOO\""), "{record_type}");
    }
}
