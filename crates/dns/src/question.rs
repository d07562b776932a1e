//! What is asked: a name, with its case kept, a type and a class. Not for: how they are written; that is
//! in `presentation`.

use crate::client_subnet::ClientSubnet;
use crate::presentation::names::NameError;
use crate::presentation::{class_text, name_text, read_class, read_name, read_type, type_text};
use hickory_proto::op::{Edns, Message};
use hickory_proto::rr::{DNSClass, Name, RecordType};
use thiserror::Error;

/// Why a question cannot be asked.
#[derive(Debug, Error)]
pub enum QuestionError {
    /// Not a domain name.
    #[error("read {name:?} as a domain name: {source}")]
    Name {
        /// As given.
        name: String,
        /// What was wrong.
        source: NameError,
    },
    /// Not a record type.
    #[error("read {0:?} as a record type: give one like A, AAAA, HTTPS or TYPE65")]
    Type(String),
    /// Not a class.
    #[error("read {0:?} as a class: give IN, CH, HS or one like CLASS32")]
    Class(String),
}

/// One question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Name, with its final dot.
    pub name: Name,
    /// Type of the records asked for.
    pub record_type: RecordType,
    /// IN unless something else is asked for, such as `CH` of `id.server` (RFC 4892).
    pub class: DNSClass,
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
    /// A question of class IN from text; a name that is not ASCII is asked for as its A-labels (RFC 5891).
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

    /// The same of another class.
    pub fn of_class(mut self, class: &str) -> Result<Self, QuestionError> {
        self.class = read_class(class).ok_or_else(|| QuestionError::Class(class.to_owned()))?;
        Ok(self)
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
            class: DNSClass::IN,
            dnssec_ok: edns.is_some_and(|edns| edns.flags().dnssec_ok),
            checking_disabled: query.metadata.checking_disabled,
            client_subnet: edns.and_then(ClientSubnet::of),
            udp_payload_bytes: edns.map(Edns::max_payload),
            wants_authentic_data: query.metadata.authentic_data,
        })
    }

    /// The name as text, with its final dot.
    pub fn name_text(&self) -> String {
        name_text(&self.name)
    }

    /// The type as text; RFC 3597 section 5 for those without a name.
    pub fn type_text(&self) -> String {
        type_text(self.record_type)
    }

    /// The class as text, where it is not IN.
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
        let chaos = question.clone().of_class("ch").unwrap();
        assert_eq!(
            (chaos.class, chaos.class_text()),
            (DNSClass::CH, Some("CH".to_owned()))
        );
        assert_eq!(chaos.of_class("IN").unwrap(), question);
        assert!(
            question
                .of_class("CX")
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
