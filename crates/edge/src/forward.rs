//! Asks an upstream resolver for names outside the zone, over any transport, with resolab's own
//! clients. The first query opens the connection, and later queries reuse the connection.
//!
//! For: upstream's response without EDNS, because EDNS is between neighbours. Not for: the answer
//! to the client, see `resolver`.

use crate::config::names::ForwardConfig;
use crate::dns::wire::Rcode;
use hickory_proto::op::Message;
use resolab_dns::bootstrap::GivenAddresses;
use resolab_dns::{
    ClientOptions, ConnectionPolicy, DnsClient, PendingQuery, Question, ResolverAddress, Upstream,
};
use std::time::Duration;

/// An upstream resolver with its time limit.
pub struct Forwarder {
    upstream: Upstream,
    deadline: Duration,
}

/// The response of the upstream resolver.
pub struct ForwardedResponse {
    /// The response message with id 0, without OPT.
    pub message: Vec<u8>,
    /// The response code of the message.
    pub rcode: Rcode,
    /// The smallest TTL of the answers, in s; `None` without answers.
    pub ttl_s: Option<u32>,
}

impl Forwarder {
    /// Prepares the forwarder without opening a connection. Errors with the fault of the
    /// configuration.
    pub fn new(config: &ForwardConfig) -> Result<Self, String> {
        let wrong = |reason: String| format!("[resolver.forward] url {}: {reason}", config.url);
        let resolver: ResolverAddress = config
            .url
            .parse()
            .map_err(|error| wrong(format!("{error}")))?;
        let pairs: Vec<String> = config.resolve.clone();
        let given = GivenAddresses::parse(&pairs).map_err(|error| wrong(error.to_string()))?;
        let location = given
            .locate(&resolver)
            .map_err(|error| wrong(error.to_string()))?;
        let options = ClientOptions {
            handshake_mode: config.handshake,
            ca_file: config.ca_file.clone(),
            ..ClientOptions::default()
        };
        let client = DnsClient::new(resolver, location, &options)
            .map_err(|error| wrong(error.to_string()))?;
        Ok(Self {
            upstream: Upstream::new(client, ConnectionPolicy::default()),
            deadline: Duration::from_millis(config.timeout_ms),
        })
    }

    /// Asks upstream the question of a query; `None` without an answer before the deadline.
    pub async fn ask(&self, query: &[u8], received_ns: u64) -> Option<ForwardedResponse> {
        let question = Question::from_message(&Message::from_vec(query).ok()?)?;
        let asking = PendingQuery::begin_at(received_ns, &self.upstream.client, &question);
        let asked = self.upstream.ask(&asking, self.deadline).await;
        let response = asked.outcome.result.ok()?.response;
        let ttl_s = response.ttl_s;
        let mut message = response.message;
        let rcode = Rcode::from_number(message.metadata.response_code.into());
        message.edns = None;
        message.metadata.id = 0;
        let message = message.to_vec().ok()?;
        is_to(&message, query).then_some(ForwardedResponse {
            message,
            rcode,
            ttl_s,
        })
    }
}

/// Returns true when the questions of response and query have the same length. The response then
/// gets the query's case.
fn is_to(response: &[u8], query: &[u8]) -> bool {
    use crate::dns::wire::{HEADER_BYTES, skip_name};
    let end = skip_name(query, HEADER_BYTES, false);
    end.is_some() && end == skip_name(response, HEADER_BYTES, false)
}
