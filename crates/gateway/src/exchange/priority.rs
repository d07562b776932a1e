//! The browser's updates of a request's priority, passed on to the request's upstream connection
//! (RFC 9218 section 7). Not for: the meaning of priorities.

use super::SentUpstreamRequest;
use super::request_recorder::RequestRecorder;
use resolab_http::{PriorityUpdate, RequestPriority};

/// The browser's priority updates, and the number of the last update passed on.
pub(super) struct PriorityForwarder {
    updates: Option<RequestPriority>,
    passed_number: u32,
}

impl PriorityForwarder {
    pub fn new(updates: Option<RequestPriority>) -> Self {
        Self {
            updates,
            passed_number: 0,
        }
    }

    /// Waits for the next update; never returns when the browser cannot send updates.
    pub async fn wait_for_update(&self) -> PriorityUpdate {
        match &self.updates {
            Some(updates) => updates.wait_for_newer(self.passed_number).await,
            None => std::future::pending().await,
        }
    }

    /// Passes an update on. Does nothing over HTTP/2, because its library has no such frame.
    pub async fn pass(
        &mut self,
        update: &PriorityUpdate,
        sent: &SentUpstreamRequest,
        recorder: &mut RequestRecorder,
    ) {
        self.passed_number = update.number;
        let Some(stream) = sent.response.stream() else {
            return;
        };
        if sent.connection.reprioritize(stream, &update.value).await {
            recorder.note_priority();
        }
    }

    /// Starts over after a repeat, because the repeat has the first priority.
    pub fn note_repeat(&mut self) {
        self.passed_number = 0;
    }
}
