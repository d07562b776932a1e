//! Asks an upstream resolver what the zone does not know, over any transport, with resolab's own
//! clients: one connection, opened by the first query and kept.
//!
//! For: upstream's response without its EDNS, which is between neighbours. Not for: what the client
//! gets; that is `resolver`.

use crate::config::names::ForwardConfig;
use crate::dns::wire::Rcode;
use hickory_proto::op::Message;
use resolab_dns::bootstrap::GivenAddresses;
use resolab_dns::{
    Asking, ClientOptions, ConnectionPolicy, DnsClient, Question, ResolverAddress, Upstream,
};
use std::time::Duration;

/// An upstream resolver.
pub struct Forwarder {
    upstream: Upstream,
    deadline: Duration,
}

/// What it said.
pub struct Forwarded {
    /// The response, id 0, without OPT.
    pub message: Vec<u8>,
    /// Its code.
    pub rcode: Rcode,
    /// Smallest TTL of its answers; `None` without any.
    pub ttl_s: Option<u32>,
}

impl Forwarder {
    /// Prepare; nothing is opened yet. `Err` says what is wrong.
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

    /// Ask what a query asks; `None` without an answer before the deadline.
    pub async fn ask(&self, query: &[u8], received_ns: u64) -> Option<Forwarded> {
        let question = Question::of(&Message::from_vec(query).ok()?)?;
        let asking = Asking::begun_at(received_ns, &self.upstream.client, &question);
        let asked = self.upstream.ask(&asking, self.deadline).await;
        let response = asked.outcome.result.ok()?.response;
        let ttl_s = response.ttl_s;
        let mut message = response.message;
        let rcode = Rcode::of(message.metadata.response_code.into());
        message.edns = None;
        message.metadata.id = 0;
        let message = message.to_vec().ok()?;
        is_to(&message, query).then_some(Forwarded {
            message,
            rcode,
            ttl_s,
        })
    }
}

/// Whether the question of a response takes the same room as that of the query, whose case it gets.
fn is_to(response: &[u8], query: &[u8]) -> bool {
    use crate::dns::wire::{HEADER_BYTES, skip_name};
    let end = skip_name(query, HEADER_BYTES, false);
    end.is_some() && end == skip_name(response, HEADER_BYTES, false)
}
