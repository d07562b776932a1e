//! A connection slot: opened before the clock starts, reopened after the connection ends. Query
//! slots wait meanwhile. Not for: the queries on the connection.

use super::connector::ConnectFailure;
use super::protocol::QuicProtocol;
use super::worker::Worker;
use quinn::{Connection, Endpoint, VarInt};
use resolab_record::Failure;
use resolab_transport::clock::monotonic_ns;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

/// The pause between connection attempts, to avoid flooding a dead server.
const RECONNECT_PAUSE: Duration = Duration::from_millis(100);

/// A connection ready for queries.
struct UsableQuicConnection<P: QuicProtocol> {
    endpoint: Endpoint,
    connection: Connection,
    conversation: P::Conversation,
}

/// A conversation with the number of its connection in the slot.
pub struct NumberedConversation<L> {
    pub conversation: L,
    pub number: u32,
}

/// A slot for a connection.
pub struct LoadConnectionSlot<P: QuicProtocol> {
    open: RefCell<UsableQuicConnection<P>>,
    /// The number of the current connection, from 0.
    number: Cell<u32>,
    is_usable: Cell<bool>,
    in_flight_count: Cell<u32>,
    changed: Notify,
}

impl<P: QuicProtocol> LoadConnectionSlot<P> {
    /// Connects for the first time.
    pub async fn open(worker: &Worker<P>) -> Result<Rc<Self>, ConnectFailure> {
        Ok(Rc::new(Self {
            open: RefCell::new(connect(worker).await?),
            number: Cell::new(0),
            is_usable: Cell::new(true),
            in_flight_count: Cell::new(0),
            changed: Notify::new(),
        }))
    }

    /// Returns a conversation for queries; waits for a usable connection, at most for `patience`. A
    /// conversation held by the slot is returned while still current.
    pub async fn conversation(
        &self,
        held: Option<NumberedConversation<P::Conversation>>,
        patience: Duration,
    ) -> Option<NumberedConversation<P::Conversation>> {
        if !self.is_usable.get() {
            let usable = async {
                while !self.is_usable.get() {
                    self.changed.notified().await;
                }
            };
            timeout(patience, usable).await.ok()?;
        }
        let number = self.number.get();
        let held = held.filter(|held| held.number == number);
        Some(held.unwrap_or_else(|| NumberedConversation {
            conversation: self.open.borrow().conversation.clone(),
            number,
        }))
    }

    /// Returns true when the connection takes queries now.
    pub fn is_usable(&self) -> bool {
        self.is_usable.get()
    }

    /// Stops using connection `number`. The connection is closed after the queries in flight have
    /// ended.
    pub fn give_up(&self, number: u32) {
        if self.number.get() == number {
            self.is_usable.set(false);
            self.close_if_idle();
        }
    }

    /// Counts a query as in flight (+1) or ended (-1).
    pub fn count_in_flight(&self, change: i32) {
        let count = self.in_flight_count.get();
        self.in_flight_count
            .set(count.saturating_add_signed(change));
        if change < 0 && !self.is_usable.get() {
            self.close_if_idle();
        }
    }

    fn close_if_idle(&self) {
        if self.in_flight_count.get() == 0 {
            self.close();
        }
    }

    /// Closes the connection; `wait_for_close` lets the closing packet leave.
    pub fn close(&self) {
        let connection = &self.open.borrow().connection;
        connection.close(VarInt::from_u32(P::CLOSE_CODE), b"");
    }

    /// Waits until the connection has ended, including time for a lost closing packet.
    pub async fn wait_for_close(&self) {
        let endpoint = self.open.borrow().endpoint.clone();
        endpoint.wait_idle().await;
    }
}

async fn connect<P: QuicProtocol>(
    worker: &Worker<P>,
) -> Result<UsableQuicConnection<P>, ConnectFailure> {
    let begun_ns = monotonic_ns();
    let (endpoint, connection, hello_facts) = worker.connector.connect().await?;
    let opened = worker.protocol.open(connection.clone()).await;
    let conversation = opened.map_err(|reason| ConnectFailure {
        failure: Failure::HttpProtocol,
        reason,
        os_error: None,
    })?;
    let took_ns = monotonic_ns() - begun_ns;
    let mut tally = worker.tally.borrow_mut();
    tally.note_connection(took_ns);
    tally.note_hello(hello_facts);
    Ok(UsableQuicConnection {
        endpoint,
        connection,
        conversation,
    })
}

/// Connects again whenever the connection has ended.
pub async fn keep<P: QuicProtocol>(
    worker: Rc<Worker<P>>,
    connection_slot: Rc<LoadConnectionSlot<P>>,
) {
    loop {
        let connection = connection_slot.open.borrow().connection.clone();
        connection.closed().await;
        connection_slot.is_usable.set(false);
        let opened = loop {
            match connect(&worker).await {
                Ok(opened) => break opened,
                Err(error) => worker.connect_failure.set(error.failure),
            }
            worker.tally.borrow_mut().handshake_failure_count += 1;
            sleep(RECONNECT_PAUSE).await;
        };
        worker.tally.borrow_mut().reconnect_count += 1;
        *connection_slot.open.borrow_mut() = opened;
        connection_slot.number.set(connection_slot.number.get() + 1);
        connection_slot.is_usable.set(true);
        connection_slot.changed.notify_waiters();
    }
}
