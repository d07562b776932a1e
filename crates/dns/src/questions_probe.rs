//! Tests a resolver's handling of a message with no question or several questions. The message is
//! sent once on a separate connection, and the response is compared with the questions. Not for:
//! queries of one question (`query`).
//!
//! RFC 9619 section 4 has servers answer several questions with FORMERR. RFC 7873 section 5.4 has
//! servers answer a message with a cookie and no question with NOERROR. Before, no document said
//! (Hounsel et al., WWW 2020, section 5.1).

use crate::client::DnsClient;
use crate::exchange::ExchangeLog;
use crate::message::{check_echo, question_count_of};
use crate::query::deadline_failure;
use crate::question::Question;
use crate::transports::session::ExchangeResult;
use hickory_proto::op::{Message, ResponseCode};
use hickory_proto::rr::RecordType;
use resolab_record::{Failure, QuestionsHandling, QuestionsProbeRecord, rcode_text};
use resolab_transport::client::{MeasuredFailure, SetupLog};
use std::sync::Arc;
use std::time::Duration;

/// RCODE in the fourth byte of a message.
const RCODE_BITS: u8 = 0x0f;

/// Sends one message with these questions, and records their handling.
pub async fn probe_questions(
    client: &DnsClient,
    questions: &[Question],
    deadline: Duration,
) -> QuestionsProbeRecord {
    let (setup, log) = (Arc::<SetupLog>::default(), ExchangeLog::default());
    let asked = tokio::time::timeout(deadline, ask(client, questions, &setup, &log)).await;
    let asked = asked.unwrap_or_else(|_| Err(deadline_failure(&setup, deadline)));
    let mut record = unanswered(client, questions, &setup, &log);
    match asked {
        Ok(exchanged) => write_response(&mut record, questions, &exchanged.response),
        Err(failure) => {
            let was_sent = log.attempt_count() > 0;
            record.handling = was_sent.then(|| handling_of(failure.failure)).flatten();
            write_failure(&mut record, failure);
        }
    }
    record
}

async fn ask(
    client: &DnsClient,
    questions: &[Question],
    setup: &Arc<SetupLog>,
    log: &ExchangeLog,
) -> Result<ExchangeResult, MeasuredFailure> {
    let session = client.open(setup).await?;
    let exchanged = session.exchange_all(questions, log).await;
    session.close().await;
    let exchanged = exchanged?;
    check_echo(&exchanged.query, &exchanged.response)
        .map_err(|error| MeasuredFailure::new(Failure::QueryMalformed, error))?;
    Ok(exchanged)
}

fn unanswered(
    client: &DnsClient,
    questions: &[Question],
    setup: &SetupLog,
    log: &ExchangeLog,
) -> QuestionsProbeRecord {
    let exchange = (log.query_exchange.start_ns(), log.query_exchange.end_ns());
    QuestionsProbeRecord {
        dns_transport: client.resolver.transport,
        resolver: client.resolver.url.clone(),
        resolver_address: client.location.known(),
        certificate_checked: client.certificate_checked,
        question_count: questions.len() as u16,
        handling: None,
        answered_count: None,
        response_question_count: None,
        rcode: None,
        over_tcp: client.is_connectionless() && setup.tcp_connect.start_ns().is_some(),
        query_bytes: log.query_bytes(),
        response_bytes: None,
        query_exchange_ns: match exchange {
            (Some(start_ns), Some(end_ns)) => Some(end_ns.saturating_sub(start_ns)),
            _ => None,
        },
        failure: None,
        failure_detail: None,
    }
}

/// Classifies a failure after the message was sent. `None` when the data received was no response
/// to the message.
fn handling_of(failure: Failure) -> Option<QuestionsHandling> {
    match failure {
        Failure::QueryTimeout => Some(QuestionsHandling::Dropped),
        Failure::HttpStatus | Failure::DnsRcode => Some(QuestionsHandling::Error),
        Failure::QueryRefused
        | Failure::QueryConnectionClosed
        | Failure::QueryTruncated
        | Failure::HttpProtocol
        // In early data, of which the end of the connection is a broken handshake's.
        | Failure::QuicHandshakeFailed
        | Failure::TlsHandshakeFailed => Some(QuestionsHandling::Closed),
        Failure::QueryMalformed
        | Failure::BootstrapFailed
        | Failure::TcpConnectRefused
        | Failure::TcpConnectTimeout
        | Failure::TcpConnectUnreachable
        | Failure::TlsHandshakeTimeout
        | Failure::TlsCertificateInvalid
        | Failure::QuicHandshakeTimeout
        | Failure::TlsAlpnMismatch
        | Failure::QuicHandshakeUnreachable
        | Failure::QueryUnreachable
        | Failure::Other => None,
    }
}

fn write_failure(record: &mut QuestionsProbeRecord, failure: MeasuredFailure) {
    record.failure = Some(failure.failure);
    record.failure_detail = Some(failure.detail);
}

/// Writes the facts of a response. A header without the questions it counts is no whole message,
/// but an error code in the header suffices.
fn write_response(record: &mut QuestionsProbeRecord, questions: &[Question], response: &[u8]) {
    let rcode = u16::from(response[3] & RCODE_BITS);
    record.response_question_count = Some(question_count_of(response));
    record.rcode = Some(rcode_text(rcode));
    record.response_bytes = Some(response.len() as u32);
    match Message::from_vec(response) {
        Ok(message) => write_message(record, questions, &message),
        Err(error) => {
            record.handling = (rcode != 0).then_some(QuestionsHandling::Error);
            write_failure(record, MeasuredFailure::new(Failure::QueryMalformed, error));
        }
    }
}

fn write_message(record: &mut QuestionsProbeRecord, questions: &[Question], response: &Message) {
    let answered: Vec<_> = questions
        .iter()
        .map(|question| answers(response, question))
        .collect();
    let count = answered.iter().filter(|answered| **answered).count();
    let rcode = response.metadata.response_code;
    record.handling = Some(match count {
        _ if !matches!(rcode, ResponseCode::NoError | ResponseCode::NXDomain) => {
            QuestionsHandling::Error
        }
        0 => QuestionsHandling::None,
        count if count == questions.len() => QuestionsHandling::All,
        1 if answered[0] => QuestionsHandling::First,
        _ => QuestionsHandling::Part,
    });
    record.answered_count = Some(count as u16);
    // With the bits that are in the OPT record (RFC 6891 section 6.1.3).
    record.rcode = Some(rcode_text(rcode.into()));
}

fn answers(response: &Message, question: &Question) -> bool {
    response.answers.iter().any(|record| {
        let record_type = record.record_type();
        record.name == question.name
            && (record_type == question.record_type || record_type == RecordType::CNAME)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::ClientOptions;
    use crate::transports::retry::UdpRetryPolicy;
    use resolab_record::Bootstrap;
    use std::net::SocketAddr;
    use tokio::net::UdpSocket;

    fn questions(count: usize) -> Vec<Question> {
        let name = |number| format!("q{number}.a.test");
        (0..count)
            .map(|number| Question::parse(&name(number), "A").unwrap())
            .collect()
    }

    /// Returns a response repeating all of a query's questions, with an address for some of the
    /// questions.
    fn response(query: &[u8], answered: &[usize]) -> Vec<u8> {
        let mut message = Message::from_vec(query).unwrap();
        let mut response = Message::response(message.metadata.id, message.metadata.op_code);
        response.queries = std::mem::take(&mut message.queries);
        for number in answered {
            let name = response.queries[*number].name().clone();
            let data = hickory_proto::rr::RData::A(std::net::Ipv4Addr::new(192, 0, 2, 1).into());
            response
                .answers
                .push(hickory_proto::rr::Record::from_rdata(name, 60, data));
        }
        response.to_vec().unwrap()
    }

    async fn probe(
        questions: &[Question],
        answer: impl Fn(&[u8]) -> Option<Vec<u8>>,
    ) -> QuestionsProbeRecord {
        let server = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let address: SocketAddr = server.local_addr().unwrap();
        let options = ClientOptions {
            udp_retry_policy: UdpRetryPolicy::None,
            ..ClientOptions::default()
        };
        let resolver = format!("udp://{address}").parse().unwrap();
        let client = DnsClient::new(resolver, (address, Bootstrap::Given), &options).unwrap();
        let serve = async {
            let mut query = vec![0; 4096];
            let (length, from) = server.recv_from(&mut query).await.unwrap();
            if let Some(answer) = answer(&query[..length]) {
                server.send_to(&answer, from).await.unwrap();
            }
        };
        let deadline = Duration::from_millis(500);
        tokio::join!(probe_questions(&client, questions, deadline), serve).0
    }

    #[tokio::test]
    async fn records_say_which_questions_were_answered() {
        use QuestionsHandling::{All, First, None, Part};
        for (answered, expected) in [
            (&[][..], None),
            (&[0], First),
            (&[1], Part),
            (&[0, 2], Part),
            (&[2, 1, 0], All),
        ] {
            let asked = questions(3);
            let record = probe(&asked, |query| Some(response(query, answered))).await;
            assert_eq!(record.handling, Some(expected), "{answered:?}");
            assert_eq!(record.answered_count, Some(answered.len() as u16));
            assert_eq!(record.question_count, 3);
            assert_eq!(record.response_question_count, Some(3));
            assert_eq!(record.failure, Option::None);
            assert!(record.query_exchange_ns.is_some());
        }
    }

    #[tokio::test]
    async fn an_error_may_leave_all_questions_out_and_silence_is_silence() {
        let formerr = |query: &[u8]| {
            let mut header = query[..12].to_vec();
            header[2] |= 0x80;
            header[3] = 1;
            header[4..].fill(0);
            Some(header)
        };
        let record = probe(&questions(2), formerr).await;
        assert_eq!(record.handling, Some(QuestionsHandling::Error));
        assert_eq!(record.rcode.as_deref(), Some("FORMERR"));
        assert_eq!(record.response_question_count, Some(0));
        // No whole message, and clear all the same.
        let counted = |query: &[u8]| {
            let mut header = formerr(query)?;
            header[5] = 2;
            Some(header)
        };
        let record = probe(&questions(2), counted).await;
        assert_eq!(record.handling, Some(QuestionsHandling::Error));
        assert_eq!(record.failure, Some(Failure::QueryMalformed));
        let record = probe(&questions(2), |_| None).await;
        assert_eq!(record.handling, Some(QuestionsHandling::Dropped));
        assert_eq!(record.failure, Some(Failure::QueryTimeout));
    }

    #[tokio::test]
    async fn a_message_without_questions_is_one_too() {
        let record = probe(&[], |query| {
            assert_eq!(question_count_of(query), 0);
            Some(response(query, &[]))
        })
        .await;
        assert_eq!(record.handling, Some(QuestionsHandling::None));
        assert_eq!(record.rcode.as_deref(), Some("NOERROR"));
    }
}
