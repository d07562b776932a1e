//! Asks on an open connection until the resolver answers or fails: checks responses, and asks again
//! when a resolver refuses a cookie (RFC 7873 section 5.3). Not for: choosing a query's cookie
//! (`edns::cookie`).

use super::pending::PendingQuery;
use crate::edns::cookie::{cookie_of, state_of};
use crate::message::{DnsResponse, check_echo, read_response};
use crate::partial::QuestionAnswer;
use crate::transports::session::Session;
use hickory_proto::op::ResponseCode;
use resolab_record::{CookieState, Failure};
use resolab_transport::client::MeasuredFailure;
use resolab_transport::clock::monotonic_ns;

/// A response answering the query.
pub struct QueryAnswer {
    /// The response as read from the message.
    pub response: DnsResponse,
    pub(crate) response_bytes: u32,
    pub(crate) complete_ns: u64,
}

impl PendingQuery<'_> {
    /// Asks on an open connection. When the resolver refuses the cookie, asks again with the cookie
    /// from the refusal. When the resolver refuses the new cookie too, repeats a query sent by UDP
    /// over TCP.
    pub async fn answer(&self, session: &Session) -> Result<QueryAnswer, MeasuredFailure> {
        let answer = self.answer_once(session).await?;
        if !(is_refused(&answer) && self.has_new_cookie(&answer)) {
            return Ok(answer);
        }
        let answer = self.answer_again(session).await?;
        if !(is_refused(&answer) && self.client.is_connectionless()) {
            return Ok(answer);
        }
        self.exchange.switch_to_tcp();
        self.answer_again(session).await
    }

    /// Asks once on an open connection.
    async fn answer_once(&self, session: &Session) -> Result<QueryAnswer, MeasuredFailure> {
        let exchanged = session.exchange(self.question, &self.exchange).await?;
        let malformed = |error| MeasuredFailure::new(Failure::QueryMalformed, error);
        check_echo(&exchanged.query, &exchanged.response).map_err(malformed)?;
        let response = read_response(&exchanged.response).map_err(malformed)?;
        session.check(&response.message)?;
        let response = response.with_age(exchanged.age_s);
        let response_bytes = exchanged.response.len() as u32;
        // Reading it is our work and no part of its way here.
        let complete_ns = self.exchange.query_exchange.end_ns();
        let answer = QueryAnswer {
            response,
            response_bytes,
            complete_ns: complete_ns.unwrap_or_else(monotonic_ns),
        };
        self.check_and_keep_edns(&answer)?;
        Ok(answer)
    }

    /// Takes the answer from the answers to a message with several questions.
    pub(crate) fn accept_answer(
        &self,
        part: QuestionAnswer,
    ) -> Result<QueryAnswer, MeasuredFailure> {
        let answer = QueryAnswer {
            response: part.response,
            response_bytes: part.response_bytes,
            complete_ns: part.complete_ns,
        };
        self.check_and_keep_edns(&answer)?;
        Ok(answer)
    }

    async fn answer_again(&self, session: &Session) -> Result<QueryAnswer, MeasuredFailure> {
        self.exchange.query_exchange.resume();
        self.answer_once(session).await
    }

    /// Keeps the server's cookie for the next query. Errors when the response contradicts the
    /// query's EDNS options.
    fn check_and_keep_edns(&self, answer: &QueryAnswer) -> Result<(), MeasuredFailure> {
        let Some(sent) = self.exchange.sent_edns() else {
            return Ok(());
        };
        let response = &answer.response.message;
        sent.check(response)
            .map_err(|error| MeasuredFailure::new(Failure::QueryMalformed, error))?;
        sent.keep_cookie(response);
        Ok(())
    }

    /// Returns true when the response brought a server cookie. Without a server cookie, asking
    /// again would repeat the same query.
    fn has_new_cookie(&self, answer: &QueryAnswer) -> bool {
        let received = cookie_of(&answer.response.message);
        self.exchange.sent_cookie().is_some() && state_of(received) == CookieState::Server
    }
}

fn is_refused(answer: &QueryAnswer) -> bool {
    answer.response.message.metadata.response_code == ResponseCode::BADCOOKIE
}
