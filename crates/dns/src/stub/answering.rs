//! Replaces the replies to a stub's clients, for programs between a browser and all its look-ups
//! (the gateway). Not for: asking the resolver; every query is still asked.

use crate::message::Response;
use crate::question::Question;
use hickory_proto::op::Message;
use resolab_transport::client::MeasuredFailure;

/// Replaces the resolver's responses to clients.
pub trait Answering: Send + Sync {
    /// Returns the response to send at once, before asking the resolver. `None` makes the client
    /// wait.
    fn at_once(&self, query: &Message, question: &Question) -> Option<Message>;

    /// Returns the response to send after the resolver's answer or failure, unless already sent.
    /// `None` sends the resolver's response.
    fn afterwards(
        &self,
        query: &Message,
        question: &Question,
        response: Result<&Response, &MeasuredFailure>,
    ) -> Option<Message>;
}
