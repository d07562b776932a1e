//! A request's priority as the browser changes it, told to wherever the request went (RFC 9218
//! section 7). Not for: what priorities mean.

use super::Sent;
use super::entry::Entry;
use resolab_http::{PriorityUpdate, RequestPriority};

/// What the browser says of it, and how much of that was passed on.
pub(super) struct Priority {
    said: Option<RequestPriority>,
    passed_number: u32,
}

impl Priority {
    pub fn new(said: Option<RequestPriority>) -> Self {
        Self {
            said,
            passed_number: 0,
        }
    }

    /// The next change. Never where the browser cannot say any.
    pub async fn changed(&self) -> PriorityUpdate {
        match &self.said {
            Some(said) => said.after(self.passed_number).await,
            None => std::future::pending().await,
        }
    }

    /// Pass one on; over HTTP/2, whose library has no such frame, it ends here.
    pub async fn pass(&mut self, update: &PriorityUpdate, sent: &Sent, entry: &mut Entry) {
        self.passed_number = update.number;
        let Some(stream) = sent.response.stream() else {
            return;
        };
        if sent.connection.reprioritize(stream, &update.value).await {
            entry.reprioritized();
        }
    }

    /// It was sent anew, with the priority it had at first.
    pub fn sent_again(&mut self) {
        self.passed_number = 0;
    }
}
