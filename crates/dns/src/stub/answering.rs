//! A say in what a stub's clients are told, for those who stand between a browser and everything it
//! looks up. Not for: asking the resolver, which is done for every query all the same.

use crate::message::Response;
use crate::question::Question;
use hickory_proto::op::Message;
use resolab_transport::client::MeasuredFailure;

/// Tells clients something else than the resolver does.
pub trait Answering: Send + Sync {
    /// What the client is told at once, before the resolver is asked; `None`: it has to wait.
    fn at_once(&self, query: &Message, question: &Question) -> Option<Message>;

    /// The resolver has answered, or has not; what the client is told instead, if it was not yet.
    /// `None`: what the resolver says.
    fn afterwards(
        &self,
        query: &Message,
        question: &Question,
        response: Result<&Response, &MeasuredFailure>,
    ) -> Option<Message>;
}
