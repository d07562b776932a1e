//! Load over DNS over dedicated QUIC connections (RFC 9250): a stream for each query, message id
//! 0, FIN after the query.

use crate::counting::{LiveCounters, Tally};
use crate::error::LoadError;
use crate::names::QueryTemplates;
use crate::plan::WorkerPlan;
use crate::transports::quic::{self, LoadExchangeError, QuicProtocol};
use bytes::{Bytes, BytesMut};
use quinn::{Connection, ReadError, RecvStream, WriteError};
use resolab_dns::iana::doq_error::{EXCESSIVE_LOAD, NO_ERROR};
use resolab_record::Failure;
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

/// The size of a message's length field (RFC 1035 section 4.2.2).
const PREFIX_BYTES: usize = 2;

/// Runs a worker's share of the load.
pub fn run(worker: &WorkerPlan, live: &LiveCounters) -> Result<Tally, LoadError> {
    quic::run(worker, live, Doq::new(&worker.plan.names))
}

/// The queries with their length prefixes, ready to write.
struct Doq {
    framed: Vec<Bytes>,
}

impl Doq {
    fn new(names: &QueryTemplates) -> Self {
        let framed = (0..names.count() as u32).map(|index| {
            let message = names.get(index).message;
            let mut framed = Vec::with_capacity(PREFIX_BYTES + message.len());
            framed.extend_from_slice(&(message.len() as u16).to_be_bytes());
            framed.extend_from_slice(message);
            Bytes::from(framed)
        });
        Self {
            framed: framed.collect(),
        }
    }
}

impl QuicProtocol for Doq {
    type Conversation = Connection;
    const CLOSE_CODE: u32 = NO_ERROR;

    async fn open(self: &Rc<Self>, connection: Connection) -> Result<Connection, String> {
        Ok(connection)
    }

    async fn exchange(
        &self,
        conversation: &mut Connection,
        index: u32,
        leaves: &dyn Fn(),
    ) -> Result<Bytes, LoadExchangeError> {
        let opened = conversation.open_bi().await;
        let (mut send, mut receive) = opened.map_err(|_| LoadExchangeError::Ended {
            may_be_processed: false,
        })?;
        leaves();
        let query = self.framed[index as usize].clone();
        send.write_chunk(query)
            .await
            .map_err(|error| convert_write_error(&error))?;
        // Fails only on a stream that was reset, which the read below reports.
        let _ = send.finish();
        read_message(&mut receive).await
    }
}

async fn read_message(receive: &mut RecvStream) -> Result<Bytes, LoadExchangeError> {
    let mut gathered = BytesMut::new();
    loop {
        let chunk = receive.read_chunk(usize::MAX, true).await;
        let chunk = chunk.map_err(|error| convert_read_error(&error))?;
        let Some(chunk) = chunk else {
            return Err(LoadExchangeError::Failed(Failure::QueryConnectionClosed));
        };
        if gathered.is_empty()
            && let Some(message) = message_in(&chunk.bytes)
        {
            let message = chunk.bytes.slice(message);
            take_end(receive).await;
            return Ok(message);
        }
        gathered.extend_from_slice(&chunk.bytes);
        if let Some(message) = message_in(&gathered) {
            take_end(receive).await;
            return Ok(gathered.freeze().slice(message));
        }
    }
}

/// Returns the range of the message once the message is complete.
fn message_in(bytes: &[u8]) -> Option<std::ops::Range<usize>> {
    let prefix = bytes.get(..PREFIX_BYTES)?;
    let end = PREFIX_BYTES + usize::from(u16::from_be_bytes([prefix[0], prefix[1]]));
    (bytes.len() >= end).then_some(PREFIX_BYTES..end)
}

/// Reads the FIN behind the answer, if already received. A stream read to the end needs no stop.
async fn take_end(receive: &mut RecvStream) {
    let mut next = pin!(receive.read_chunk(usize::MAX, true));
    poll_fn(|cx| {
        let _ = next.as_mut().poll(cx);
        Poll::Ready(())
    })
    .await;
}

fn convert_write_error(error: &WriteError) -> LoadExchangeError {
    match error {
        WriteError::ConnectionLost(_) => LoadExchangeError::Ended {
            may_be_processed: true,
        },
        WriteError::Stopped(code) => convert_code(code.into_inner()),
        WriteError::ClosedStream | WriteError::ZeroRttRejected => {
            LoadExchangeError::Failed(Failure::QueryConnectionClosed)
        }
    }
}

fn convert_read_error(error: &ReadError) -> LoadExchangeError {
    match error {
        ReadError::ConnectionLost(_) => LoadExchangeError::Ended {
            may_be_processed: true,
        },
        ReadError::Reset(code) => convert_code(code.into_inner()),
        ReadError::ClosedStream | ReadError::IllegalOrderedRead | ReadError::ZeroRttRejected => {
            LoadExchangeError::Failed(Failure::QueryConnectionClosed)
        }
    }
}

fn convert_code(code: u64) -> LoadExchangeError {
    if code == u64::from(EXCESSIVE_LOAD) {
        LoadExchangeError::Refused
    } else {
        LoadExchangeError::Failed(Failure::QueryConnectionClosed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_lie_behind_their_lengths() {
        let names = QueryTemplates::parse("a.test\nbb.test AAAA\n", None, true).unwrap();
        let doq = Doq::new(&names);
        for index in 0..2 {
            let message = names.get(index).message;
            let framed = &doq.framed[index as usize];
            assert_eq!(framed[..2], (message.len() as u16).to_be_bytes());
            assert_eq!(&framed[2..], message);
            assert_eq!(message[..2], [0, 0], "RFC 9250 section 4.2.1");
        }
    }

    #[test]
    fn a_message_ends_where_its_length_says() {
        assert_eq!(message_in(b"\x00"), None);
        assert_eq!(message_in(b"\x00\x03ab"), None);
        assert_eq!(message_in(b"\x00\x02ab"), Some(2..4));
        assert_eq!(message_in(b"\x00\x02abc"), Some(2..4));
    }
}
