//! The gateway's answers to the browser's queries: the gateway's address for a name, no IPv6
//! address, and an HTTPS record for HTTP/3 to the gateway. HTTPS records from upstream are never
//! passed on, because their hints and keys lead past the gateway.
//!
//! Not for: asking the resolver (the stub).

use crate::gateway_state::GatewayState;
use crate::names::canonical;
use hickory_proto::op::{Message, ResponseCode};
use hickory_proto::rr::rdata::svcb::{Alpn, SVCB, SvcParamKey, SvcParamValue};
use hickory_proto::rr::rdata::{A, HTTPS};
use hickory_proto::rr::{Name, RData, Record, RecordType};
use resolab_dns::Question;
use resolab_dns::message::DnsResponse;
use resolab_dns::stub::ReplyOverride;
use resolab_record::{Failure, GatewayTrigger, HttpVersion};
use resolab_transport::client::MeasuredFailure;
use std::sync::Arc;

/// The TTL of the answers: short enough not to outlive a load, long enough to avoid a second query
/// in a load.
const TTL_S: u32 = 60;

/// The gateway's answers to a stub's clients.
pub(crate) struct GatewayAnswers(pub Arc<GatewayState>);

impl ReplyOverride for GatewayAnswers {
    fn replace_before_query(&self, query: &Message, question: &Question) -> Option<Message> {
        let gateway_state = &self.0;
        gateway_state.count_query();
        let name = canonical(&question.name_text());
        if question.record_type == RecordType::A {
            gateway_state.upstreams.locations.begin(&name);
            gateway_state.speculations.note_query(gateway_state, &name);
        }
        if gateway_state.options.trigger == GatewayTrigger::Mirror {
            return None;
        }
        self.own_answer(query, question)
    }

    fn replace_after_query(
        &self,
        query: &Message,
        question: &Question,
        response: Result<&DnsResponse, &MeasuredFailure>,
    ) -> Option<Message> {
        if question.record_type == RecordType::A {
            self.learn(question, response);
        }
        let response = response.ok()?;
        if response.message.metadata.response_code != ResponseCode::NoError {
            return None;
        }
        if question.record_type == RecordType::A && response.addresses.is_empty() {
            return None;
        }
        self.own_answer(query, question)
    }
}

impl GatewayAnswers {
    /// Learns the name's real addresses. With the trigger `dns`, also opens a connection to the
    /// name.
    fn learn(&self, question: &Question, response: Result<&DnsResponse, &MeasuredFailure>) {
        let gateway_state = &self.0;
        let name = canonical(&question.name_text());
        let found = match response {
            Err(failure) => Err(failure.clone()),
            Ok(response) if response.addresses.is_empty() => {
                let detail = format!("{} without an address", response.rcode);
                Err(MeasuredFailure::new(Failure::DnsRcode, detail))
            }
            Ok(response) => Ok(response.addresses.clone()),
        };
        let is_found = found.is_ok();
        gateway_state.upstreams.locations.end(&name, found);
        if is_found && gateway_state.options.trigger == GatewayTrigger::Dns {
            gateway_state.begin_connection(&name);
        }
    }

    /// Returns the gateway's answer; `None` for record types unrelated to connecting.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "hickory's; no other records say how to connect"
    )]
    fn own_answer(&self, query: &Message, question: &Question) -> Option<Message> {
        let gateway_state = &self.0;
        let data = match question.record_type {
            RecordType::A => match gateway_state.address_of(&question.name_text()) {
                Ok(address) => Some(RData::A(A(address))),
                Err(_) => return Some(refusal(query)),
            },
            RecordType::AAAA => None,
            RecordType::HTTPS => https(&gateway_state.options.leg_versions),
            _ => return None,
        };
        Some(answer(query, &question.name, data))
    }
}

fn answer(query: &Message, name: &Name, data: Option<RData>) -> Message {
    let mut message = empty(query);
    if let Some(data) = data {
        message.add_answer(Record::from_rdata(name.clone(), TTL_S, data));
    }
    message
}

/// Returns SERVFAIL, when no address is left or no socket can be opened.
fn refusal(query: &Message) -> Message {
    let mut message = empty(query);
    message.metadata.response_code = ResponseCode::ServFail;
    message
}

fn empty(query: &Message) -> Message {
    let mut message = query.clone().into_response();
    message.metadata.recursion_available = true;
    message.answers.clear();
    message.authorities.clear();
    message.additionals.clear();
    message
}

/// Returns the HTTPS record, only when HTTP/3 is offered.
fn https(versions: &[HttpVersion]) -> Option<RData> {
    if !versions.contains(&HttpVersion::H3) {
        return None;
    }
    let mut ids = vec!["h3".to_owned()];
    ids.extend(versions.contains(&HttpVersion::H2).then(|| "h2".to_owned()));
    let alpn = (SvcParamKey::Alpn, SvcParamValue::Alpn(Alpn(ids)));
    Some(RData::HTTPS(HTTPS(SVCB::new(1, Name::root(), vec![alpn]))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hickory_proto::op::Query;
    use std::net::Ipv4Addr;

    fn query(record_type: RecordType) -> Message {
        let mut query = Message::query();
        let name: Name = "a.test.".parse().unwrap();
        query.add_query(Query::query(name, record_type));
        query
    }

    #[test]
    fn an_answer_is_the_query_s_own_and_holds_nothing_else() {
        let query = query(RecordType::A);
        let name = query.queries[0].name().clone();
        let address = Ipv4Addr::new(198, 18, 0, 1);
        let told = answer(&query, &name, Some(RData::A(A(address))));
        assert_eq!(told.metadata.id, query.metadata.id);
        assert_eq!(told.queries, query.queries);
        assert_eq!(told.answers.len(), 1);
        assert_eq!(told.answers[0].data, RData::A(A(address)));
        let none = answer(&query, &name, None);
        assert_eq!(none.metadata.response_code, ResponseCode::NoError);
        assert!(none.answers.is_empty());
        assert_eq!(
            refusal(&query).metadata.response_code,
            ResponseCode::ServFail
        );
    }

    #[test]
    fn an_https_record_says_what_the_legs_speak() {
        use HttpVersion::{H1, H2, H3};
        assert_eq!(https(&[H1, H2]), None);
        for (versions, says) in [(&[H3][..], "h3"), (&[H1, H2, H3], "h3,h2")] {
            let text = https(versions).unwrap().to_string();
            assert!(text.contains(says), "{text}");
        }
    }
}
