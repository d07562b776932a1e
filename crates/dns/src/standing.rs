//! How something asked stands to the connection it is asked on. Not for: what is asked.

use resolab_record::{ConnectionEnd, ConnectionState};
use resolab_transport::client::SetupLog;
use std::sync::Arc;

/// What is known as soon as there is a connection.
#[derive(Debug, Clone)]
pub(crate) struct Standing {
    pub setup: Arc<SetupLog>,
    /// Whether it was open when the query was wanted.
    pub connection: ConnectionState,
    /// Whether it was opened for this.
    pub is_opener: bool,
    /// What had become of the connection before, if this one took its place.
    pub previous_end: Option<ConnectionEnd>,
}

impl Default for Standing {
    /// There is no connection.
    fn default() -> Self {
        Self {
            setup: Arc::default(),
            connection: ConnectionState::Cold,
            is_opener: false,
            previous_end: None,
        }
    }
}

impl Standing {
    /// That of one question of a message: the set-up of a connection that was opened for the message is
    /// the first one's.
    pub fn of_place(&self, place: usize) -> Self {
        let is_first = place == 0;
        Self {
            is_opener: self.is_opener && is_first,
            previous_end: self.previous_end.filter(|_| is_first),
            ..self.clone()
        }
    }
}
