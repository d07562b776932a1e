//! The stub's replies: the upstream's response with the client's id, question and EDNS, cut to the
//! client's maximum size. Without I/O.

use crate::edns::UDP_PAYLOAD_BYTES;
use crate::edns::client_subnet::ClientSubnet;
use hickory_proto::op::{Edns, Message, MessageType, ResponseCode};
use hickory_proto::rr::rdata::opt::EdnsCode;

/// Largest UDP response to a query without EDNS (RFC 1035 section 4.2.1).
const PLAIN_UDP_BYTES: usize = 512;

/// The option code of Extended DNS Errors (RFC 8914).
const EXTENDED_ERROR: EdnsCode = EdnsCode::Unknown(15);

/// The protocol of a query's arrival, a limit on the reply's size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClientTransport {
    Udp,
    Tcp,
}

/// Returns the upstream's response in the form asked for by the client.
pub(super) fn build_reply(
    query: &Message,
    mut response: Message,
    carrier: ClientTransport,
) -> Vec<u8> {
    response.metadata.id = query.metadata.id;
    response.metadata.recursion_desired = query.metadata.recursion_desired;
    response.metadata.checking_disabled = query.metadata.checking_disabled;
    response.queries.clone_from(&query.queries);
    response.edns = reply_edns(query, response.edns.as_ref());
    if response.edns.is_none() && response.metadata.response_code.high() > 0 {
        // An extended code needs EDNS to be said.
        response.metadata.response_code = ResponseCode::ServFail;
    }
    let Ok(bytes) = response.to_vec() else {
        return build_failure(query, ResponseCode::ServFail);
    };
    if bytes.len() <= limit(query, carrier) {
        return bytes;
    }
    let mut cut = empty_response(query);
    cut.metadata = response.metadata;
    cut.edns = response.edns;
    cut.metadata.truncation = true;
    cut.to_vec().unwrap_or_default()
}

/// Returns a response with a code only.
pub(super) fn build_failure(query: &Message, rcode: ResponseCode) -> Vec<u8> {
    let mut response = empty_response(query);
    response.metadata.response_code = rcode;
    response.to_vec().unwrap_or_default()
}

fn empty_response(query: &Message) -> Message {
    let metadata = query.metadata;
    let mut response = Message::new(metadata.id, MessageType::Response, metadata.op_code);
    response.metadata.recursion_desired = metadata.recursion_desired;
    response.metadata.recursion_available = true;
    response.queries.clone_from(&query.queries);
    response.edns = own_edns(query);
    response
}

/// Returns the reply's EDNS. EDNS is between neighbours (RFC 6891 section 6.2.6), so padding and
/// cookies stop here. Options about the answer are passed on: its subnet, when the client gave a
/// subnet (RFC 7871 section 7.2.2), and its extended errors (RFC 8914).
fn reply_edns(query: &Message, upstream: Option<&Edns>) -> Option<Edns> {
    let mut edns = own_edns(query)?;
    let gave_subnet = ClientSubnet::from_edns(query.edns.as_ref()?).is_some();
    let upstream = upstream.map(|upstream| upstream.options().options.as_slice());
    for (code, option) in upstream.unwrap_or_default() {
        if (*code == EdnsCode::Subnet && gave_subnet) || *code == EXTENDED_ERROR {
            edns.options_mut().insert(option.clone());
        }
    }
    Some(edns)
}

/// Returns the stub's own EDNS, only for clients using EDNS (RFC 6891 section 7).
fn own_edns(query: &Message) -> Option<Edns> {
    let asked = query.edns.as_ref()?;
    let mut edns = Edns::new();
    edns.set_max_payload(UDP_PAYLOAD_BYTES);
    edns.set_dnssec_ok(asked.flags().dnssec_ok);
    Some(edns)
}

fn limit(query: &Message, carrier: ClientTransport) -> usize {
    match (carrier, &query.edns) {
        (ClientTransport::Tcp, _) => usize::from(u16::MAX),
        (ClientTransport::Udp, None) => PLAIN_UDP_BYTES,
        (ClientTransport::Udp, Some(edns)) => usize::from(edns.max_payload()).max(PLAIN_UDP_BYTES),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edns::QueryEdns;
    use crate::message::build_query;
    use crate::question::Question;
    use hickory_proto::rr::rdata::TXT;
    use hickory_proto::rr::rdata::opt::{ClientSubnet as SubnetOption, EdnsOption};
    use hickory_proto::rr::{RData, Record};

    fn query(name: &str, with_edns: bool) -> Message {
        let question = Question::parse(name, "TXT").unwrap();
        let mut query =
            Message::from_vec(&build_query(&question, 4711, &QueryEdns::default()).unwrap())
                .unwrap();
        if !with_edns {
            query.edns = None;
        }
        query
    }

    fn upstream(records: usize) -> Message {
        let mut response = query("a.test", true).into_response();
        response.metadata.id = 0;
        let mut edns = Edns::new();
        edns.options_mut()
            .insert(EdnsOption::Unknown(12, vec![0; 300]));
        response.edns = Some(edns);
        for _ in 0..records {
            let data = RData::TXT(TXT::new(vec!["x".repeat(100)]));
            response.add_answer(Record::from_rdata("a.test.".parse().unwrap(), 60, data));
        }
        response
    }

    fn reply(query: &Message, records: usize, carrier: ClientTransport) -> Message {
        Message::from_vec(&build_reply(query, upstream(records), carrier)).unwrap()
    }

    #[test]
    fn id_and_question_are_the_clients() {
        let query = query("A.tEst", true);
        let reply = reply(&query, 1, ClientTransport::Udp);
        assert_eq!(reply.metadata.id, 4711);
        assert_eq!(reply.queries[0].name().to_ascii(), "A.tEst.");
        assert_eq!(reply.answers.len(), 1);
    }

    #[test]
    fn padding_stops_here_and_edns_is_for_those_who_ask() {
        assert_eq!(
            reply(&query("a.test", false), 1, ClientTransport::Udp).edns,
            None
        );
        let edns = reply(&query("a.test", true), 1, ClientTransport::Udp)
            .edns
            .unwrap();
        assert!(edns.options().as_ref().is_empty());
        assert_eq!(edns.max_payload(), UDP_PAYLOAD_BYTES);
    }

    #[test]
    fn what_is_about_the_answer_is_passed_on_to_those_who_asked() {
        let subnet =
            |scope| EdnsOption::Subnet(SubnetOption::new([192, 0, 2, 0].into(), 24, scope));
        let mut response = upstream(12);
        let mut edns = Edns::new();
        let error = EdnsOption::Unknown(15, vec![0, 18]);
        let cookie = EdnsOption::Unknown(EdnsCode::Cookie.into(), vec![1; 16]);
        for option in [subnet(20), error.clone(), cookie] {
            edns.options_mut().insert(option);
        }
        response.edns = Some(edns);
        let plain = query("a.test", true);
        let mut with_subnet = plain.clone();
        let asked = with_subnet.edns.as_mut().unwrap();
        asked.options_mut().insert(subnet(0));
        for (query, expected) in [
            (plain, vec![error.clone()]),
            (with_subnet, vec![subnet(20), error]),
        ] {
            let bytes = build_reply(&query, response.clone(), ClientTransport::Udp);
            let reply = Message::from_vec(&bytes).unwrap();
            assert!(reply.metadata.truncation);
            let options = reply.edns.unwrap().options().options.clone();
            let options: Vec<_> = options.into_iter().map(|(_, option)| option).collect();
            assert_eq!(options, expected);
        }
    }

    #[test]
    fn what_does_not_fit_is_cut_but_not_on_tcp() {
        for (with_edns, records, carrier, is_cut) in [
            (false, 4, ClientTransport::Udp, false),
            (false, 5, ClientTransport::Udp, true),
            (true, 5, ClientTransport::Udp, false),
            (true, 12, ClientTransport::Udp, true),
            (false, 12, ClientTransport::Tcp, false),
        ] {
            let reply = reply(&query("a.test", with_edns), records, carrier);
            assert_eq!(
                reply.metadata.truncation, is_cut,
                "{with_edns} {records} {carrier:?}"
            );
            assert_eq!(reply.answers.len(), if is_cut { 0 } else { records });
            assert_eq!(reply.queries.len(), 1);
        }
    }

    #[test]
    fn codes_that_need_edns_become_servfail_without_it() {
        let mut response = upstream(0);
        response.metadata.response_code = ResponseCode::BADVERS;
        let bytes = build_reply(&query("a.test", false), response, ClientTransport::Udp);
        let reply = Message::from_vec(&bytes).unwrap();
        assert_eq!(reply.metadata.response_code, ResponseCode::ServFail);
    }

    #[test]
    fn a_failure_echoes_the_question() {
        let reply = Message::from_vec(&build_failure(
            &query("A.test", false),
            ResponseCode::ServFail,
        ))
        .unwrap();
        assert_eq!(reply.metadata.response_code, ResponseCode::ServFail);
        assert_eq!((reply.metadata.id, reply.edns.is_none()), (4711, true));
        assert_eq!(reply.queries[0].name().to_ascii(), "A.test.");
    }
}
