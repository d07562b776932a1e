//! One query from the moment it is wanted: asks on a connection, opens it first where needed, and
//! keeps the deadline. Not for: writing down what happened; that is `recording`.

mod bad_cookie;
mod priming;
mod recording;

use crate::client::DnsClient;
use crate::exchange::ExchangeLog;
use crate::message::{Response, check_echo, read_response};
use crate::question::Question;
use crate::transports::session::Session;
use resolab_record::{ConnectionState, Failure};
use resolab_transport::client::{MeasuredFailure, SetupLog};
use resolab_transport::clock::monotonic_ns;
use std::sync::Arc;
use std::time::Duration;

/// A query that is wanted; its clock runs.
pub struct Asking<'a> {
    pub(crate) client: &'a DnsClient,
    pub(crate) question: &'a Question,
    pub(crate) time_origin_ns: u64,
    pub(crate) exchange: ExchangeLog,
}

/// What became of it.
pub struct Outcome {
    /// Set-up of the connection used.
    pub setup: Arc<SetupLog>,
    /// Whether the connection was open when the query was wanted.
    pub connection: ConnectionState,
    /// Whether the connection was opened for this query, so that the phases of its set-up are the
    /// query's own, and not for another one that happened to be first.
    pub is_opener: bool,
    /// The response, or why there is none.
    pub result: Result<Answer, MeasuredFailure>,
}

/// Place of a connection that may be open, with the log of its set-up.
pub type Slot = Option<(Session, Arc<SetupLog>)>;

/// A response that answers the query.
pub struct Answer {
    /// As read.
    pub response: Response,
    pub(crate) response_bytes: u32,
    pub(crate) complete_ns: u64,
}

impl<'a> Asking<'a> {
    /// The query is wanted now.
    pub fn begin(client: &'a DnsClient, question: &'a Question) -> Self {
        Self::begun_at(monotonic_ns(), client, question)
    }

    /// The query was wanted at a time just gone by.
    pub fn begun_at(time_origin_ns: u64, client: &'a DnsClient, question: &'a Question) -> Self {
        Self {
            client,
            question,
            time_origin_ns,
            exchange: ExchangeLog::default(),
        }
    }

    /// When it was wanted, `CLOCK_MONOTONIC`.
    pub fn time_origin_ns(&self) -> u64 {
        self.time_origin_ns
    }

    /// Ask on the connection in `slot`, or open one and leave it there. DoUDP always begins anew.
    pub async fn ask(&self, slot: &mut Slot, deadline: Duration) -> Outcome {
        slot.take_if(|_| self.client.is_connectionless());
        let (setup, connection) = match slot {
            Some((_, setup)) => (Arc::clone(setup), ConnectionState::Warm),
            None => (Arc::<SetupLog>::default(), ConnectionState::Cold),
        };
        let asked = async {
            if slot.is_none() {
                *slot = Some((self.client.open(&setup).await?, Arc::clone(&setup)));
            }
            match slot {
                Some((session, _)) => self.answer(session).await,
                None => Err(MeasuredFailure::new(
                    Failure::Other,
                    "the connection is gone",
                )),
            }
        };
        let result = tokio::time::timeout(deadline, asked)
            .await
            .unwrap_or_else(|_| Err(cut_off(&setup, deadline)));
        let is_opener = connection == ConnectionState::Cold;
        Outcome {
            setup,
            connection,
            is_opener,
            result,
        }
    }

    /// Ask once on an open connection.
    pub(crate) async fn answer_once(&self, session: &Session) -> Result<Answer, MeasuredFailure> {
        let exchanged = session.exchange(self.question, &self.exchange).await?;
        let malformed = |error| MeasuredFailure::new(Failure::QueryMalformed, error);
        check_echo(&exchanged.query, &exchanged.response).map_err(malformed)?;
        let response = read_response(&exchanged.response).map_err(malformed)?;
        session.check(&response.message)?;
        let response = response.aged(exchanged.age_s);
        let response_bytes = exchanged.response.len() as u32;
        // Reading it is our work and no part of its way here.
        let complete_ns = self.exchange.query_exchange.end_ns();
        let answer = Answer {
            response,
            response_bytes,
            complete_ns: complete_ns.unwrap_or_else(monotonic_ns),
        };
        self.take_edns(&answer)?;
        Ok(answer)
    }
}

/// The failure of a query whose deadline passed.
pub(crate) fn cut_off(setup: &SetupLog, deadline: Duration) -> MeasuredFailure {
    let detail = format!("the deadline of {deadline:?} passed");
    MeasuredFailure::new(setup.failure_at_deadline(), detail)
}
