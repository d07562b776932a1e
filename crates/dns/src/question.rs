//! A question: a name with its case kept, a type and a class. Not for: their text form
//! (`presentation`).

use crate::edns::client_subnet::ClientSubnet;
use crate::presentation::names::NameError;
use crate::presentation::{class_text, name_text, read_class, read_name, read_type, type_text};
use hickory_proto::op::{Edns, Message};
use hickory_proto::rr::{DNSClass, Name, RecordType};
use thiserror::Error;

/// The reason for a question that cannot be asked.
#[derive(Debug, Error)]
pub enum QuestionError {
    /// A text that is not a domain name.
    #[error("read {name:?} as a domain name: {source}")]
    Name {
        /// The name as given by the user.
        name: String,
        /// The error found in the name.
        source: NameError,
    },
    /// A text that is not a record type.
    #[error("read {0:?} as a record type: give one like A, AAAA, HTTPS or TYPE65")]
    Type(String),
    /// A text that is not a class.
    #[error("read {0:?} as a class: give IN, CH, HS or one like CLASS32")]
    Class(String),
}

/// One question with its flags and options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The name, with its final dot.
    pub name: Name,
    /// The type of the records asked for.
    pub record_type: RecordType,
    /// The class: IN by default; other classes serve queries such as `id.server` in `CH` (RFC
    /// 4892).
    pub class: DNSClass,
    /// True to ask for DNSSEC records (RFC 3225).
    pub dnssec_ok: bool,
    /// True to ask for no validation (RFC 4035 section 3.2.2).
    pub checking_disabled: bool,
    /// The client subnet given by the asker, used before the client's own subnet (RFC 7871 section
    /// 7.1.2).
    pub client_subnet: Option<ClientSubnet>,
    /// The payload size announced by the asker, an upper limit for the size announced by DoUDP.
    pub udp_payload_bytes: Option<u16>,
    /// True to ask for the response's AD flag, set on validated data (RFC 6840 section 5.7).
    pub wants_authentic_data: bool,
}

impl Question {
    /// Makes a question of class IN from text. Converts a name beyond ASCII to its A-labels (RFC
    /// 5891).
    pub fn parse(name: &str, record_type: &str) -> Result<Self, QuestionError> {
        let parsed = read_name(name).map_err(|source| QuestionError::Name {
            name: name.to_owned(),
            source,
        })?;
        let wrong_type = || QuestionError::Type(record_type.to_owned());
        Ok(Self {
            name: parsed,
            record_type: read_type(record_type).ok_or_else(wrong_type)?,
            class: DNSClass::IN,
            dnssec_ok: false,
            checking_disabled: false,
            client_subnet: None,
            udp_payload_bytes: None,
            wants_authentic_data: false,
        })
    }

    /// Returns the question in another class.
    pub fn with_class(mut self, class: &str) -> Result<Self, QuestionError> {
        self.class = read_class(class).ok_or_else(|| QuestionError::Class(class.to_owned()))?;
        Ok(self)
    }

    /// Reads the question of a received query. `None` unless the query has exactly one question, of
    /// class IN.
    pub fn from_message(query: &Message) -> Option<Self> {
        let [question] = query.queries.as_slice() else {
            return None;
        };
        let edns = query.edns.as_ref();
        (question.query_class() == DNSClass::IN).then(|| Self {
            name: question.name().clone(),
            record_type: question.query_type(),
            class: DNSClass::IN,
            dnssec_ok: edns.is_some_and(|edns| edns.flags().dnssec_ok),
            checking_disabled: query.metadata.checking_disabled,
            client_subnet: edns.and_then(ClientSubnet::from_edns),
            udp_payload_bytes: edns.map(Edns::max_payload),
            wants_authentic_data: query.metadata.authentic_data,
        })
    }

    /// Returns the name as text, with its final dot.
    pub fn name_text(&self) -> String {
        name_text(&self.name)
    }

    /// Returns the type as text; in the form of RFC 3597 section 5 for types without a name.
    pub fn type_text(&self) -> String {
        type_text(self.record_type)
    }

    /// Returns the class as text; `None` for IN.
    pub fn class_text(&self) -> Option<String> {
        (self.class != DNSClass::IN).then(|| class_text(self.class))
    }
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
        assert_eq!(question.name_text(), "xn--bcher-kva.Example.");
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
        for (text, number) in [
            ("LOC", 29),
            ("spf", 99),
            ("URI", 256),
            ("TYPE65280", 65_280),
        ] {
            let record_type = Question::parse("a.test", text).unwrap().record_type;
            assert_eq!(u16::from(record_type), number, "{text}");
        }
    }

    #[test]
    fn a_class_is_in_unless_told() {
        let question = Question::parse("id.server", "TXT").unwrap();
        assert_eq!(question.class_text(), None);
        let chaos = question.clone().with_class("ch").unwrap();
        assert_eq!(
            (chaos.class, chaos.class_text()),
            (DNSClass::CH, Some("CH".to_owned()))
        );
        assert_eq!(chaos.with_class("IN").unwrap(), question);
        assert!(
            question
                .with_class("CX")
                .unwrap_err()
                .to_string()
                .contains("\"CX\"")
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
