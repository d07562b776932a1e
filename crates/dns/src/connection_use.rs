//! The connection's state as seen by one query or request. Not for: the query.

use resolab_record::{ConnectionEnd, ConnectionState};
use resolab_transport::client::SetupLog;
use std::sync::Arc;

/// The facts known as soon as a connection exists.
#[derive(Debug, Clone)]
pub(crate) struct ConnectionUse {
    pub setup: Arc<SetupLog>,
    /// The state of the connection at the query's start: open (warm) or not (cold).
    pub connection: ConnectionState,
    /// True when the connection was opened for this query.
    pub is_opener: bool,
    /// The end of the previous connection, when this connection replaced another.
    pub previous_end: Option<ConnectionEnd>,
}

impl Default for ConnectionUse {
    /// Returns the facts without any connection.
    fn default() -> Self {
        Self {
            setup: Arc::default(),
            connection: ConnectionState::Cold,
            is_opener: false,
            previous_end: None,
        }
    }
}

impl ConnectionUse {
    /// Returns the facts for one question of a message. Only the first question gets the set-up of
    /// a connection opened for the message.
    pub fn select_question(&self, position: usize) -> Self {
        let is_first = position == 0;
        Self {
            is_opener: self.is_opener && is_first,
            previous_end: self.previous_end.filter(|_| is_first),
            ..self.clone()
        }
    }
}
