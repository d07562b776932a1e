//! What a browser says of the priority of one request after it sent it (RFC 9218 section 7.2). Not for:
//! whom it is told.

use h3::quic::StreamId;
use resolab_http::{PriorityUpdate, PriorityUpdates};

/// Of one request, until it is dropped.
pub(crate) struct Reprioritized {
    updates: PriorityUpdates,
    stream: StreamId,
}

impl Reprioritized {
    pub fn new(updates: &PriorityUpdates, stream: StreamId) -> Self {
        let updates = updates.clone();
        Self { updates, stream }
    }

    /// The latest, once there is one behind that number.
    pub async fn after(&self, number: u32) -> PriorityUpdate {
        self.updates.after(self.stream, number).await
    }
}

impl Drop for Reprioritized {
    fn drop(&mut self) {
        self.updates.forget(self.stream);
    }
}
