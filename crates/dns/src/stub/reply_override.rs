//! Replaces the replies to a stub's clients, for programs between a browser and all its look-ups
//! (the gateway). Not for: asking the resolver; every query is still asked.

use crate::message::DnsResponse;
use crate::question::Question;
use hickory_proto::op::Message;
use resolab_transport::client::MeasuredFailure;

/// Replaces the resolver's responses to clients.
pub trait ReplyOverride: Send + Sync {
    /// Returns the response to send at once, before asking the resolver. `None` makes the client
    /// wait.
    fn replace_before_query(&self, query: &Message, question: &Question) -> Option<Message>;

    /// Returns the response to send after the resolver's answer or failure, unless already sent.
    /// `None` sends the resolver's response.
    fn replace_after_query(
        &self,
        query: &Message,
        question: &Question,
        response: Result<&DnsResponse, &MeasuredFailure>,
    ) -> Option<Message>;
}
