//! DNS over dedicated QUIC connections (RFC 9250): a stream for each query.

use super::service_end::ServiceEnd;
use crate::connections::OpenConnection;
use crate::dns::wire::MESSAGE_BYTES_MAX;
use crate::partial::PartialAnswers;
use crate::state::{EdgeState, QueryArrival, ReadyResponse};
use quinn::{Connection, ReadToEndError, RecvStream, SendStream, VarInt};
pub use resolab_dns::iana::doq_error::NO_ERROR;
use resolab_dns::iana::doq_error::{EXCESSIVE_LOAD, PROTOCOL_ERROR};
use resolab_record::DnsTransport;
use resolab_transport::clock::monotonic_ns;
use std::sync::{Arc, OnceLock};
use tokio::time::timeout;

/// A client's protocol error (RFC 9250 section 4.3.3), ending the connection.
#[derive(Debug, PartialEq, Eq)]
pub struct ProtocolViolation(pub &'static str);

/// Serves a connection until the end of the connection.
pub async fn serve(
    state: &Arc<EdgeState>,
    connection: &Arc<OpenConnection>,
    quic: &Connection,
) -> ServiceEnd {
    let violation = Arc::new(OnceLock::new());
    while let Ok((send, receive)) = quic.accept_bi().await {
        let (state, connection) = (Arc::clone(state), Arc::clone(connection));
        let (quic, violation) = (quic.clone(), Arc::clone(&violation));
        let query = ServedQueryStream::new(send, receive);
        tokio::spawn(async move {
            if let Err(ProtocolViolation(reason)) = exchange(&state, &connection, query).await {
                let _ = violation.set(reason);
                close_for(&quic, reason);
            }
        });
    }
    match violation.get() {
        Some(reason) => ServiceEnd::Violated((*reason).to_owned()),
        None => ServiceEnd::Closed(quic.closed().await),
    }
}

/// Closes a connection after a client's protocol error.
pub fn close_for(quic: &Connection, reason: &str) {
    quic.close(VarInt::from_u32(PROTOCOL_ERROR), reason.as_bytes());
}

/// The stream of one query.
pub struct ServedQueryStream {
    /// The sending side, for the answer.
    pub send: SendStream,
    /// The receiving side, for the query.
    pub receive: RecvStream,
    /// The bytes of the query read so far.
    pub read: Vec<u8>,
}

impl ServedQueryStream {
    /// Makes a stream without bytes read.
    pub fn new(send: SendStream, receive: RecvStream) -> Self {
        Self {
            send,
            receive,
            read: Vec::new(),
        }
    }
}

/// Answers the query of a stream.
pub async fn exchange(
    state: &Arc<EdgeState>,
    connection: &Arc<OpenConnection>,
    stream: ServedQueryStream,
) -> Result<(), ProtocolViolation> {
    let ServedQueryStream {
        mut send,
        mut receive,
        read: mut bytes,
    } = stream;
    let opened_early = receive.is_0rtt();
    let reading = read_query(connection, &mut receive, &mut bytes);
    let Ok(end) = timeout(connection.limits.message_timeout, reading).await else {
        connection.tallies.slow_peers.add();
        let _ = receive.stop(VarInt::from_u32(EXCESSIVE_LOAD));
        let _ = send.reset(VarInt::from_u32(EXCESSIVE_LOAD));
        return Ok(());
    };
    // The client took the query back, or the connection is gone.
    let Some(end) = end? else {
        return Ok(());
    };
    if !answer(state, connection, &mut send, &bytes[2..end], opened_early).await? {
        return Ok(());
    }
    let more = bytes.len() > end;
    let ending = timeout(
        connection.limits.message_timeout,
        expect_end(&mut receive, more),
    );
    let Ok(ended) = ending.await else {
        connection.tallies.slow_peers.add();
        let _ = receive.stop(VarInt::from_u32(EXCESSIVE_LOAD));
        return Ok(());
    };
    ended
}

/// Answers the message, and returns true when answered. A withheld answer ends with the client's
/// patience.
async fn answer(
    state: &Arc<EdgeState>,
    connection: &Arc<OpenConnection>,
    send: &mut SendStream,
    message: &[u8],
    opened_early: bool,
) -> Result<bool, ProtocolViolation> {
    if !message.starts_with(&[0, 0]) {
        return Err(ProtocolViolation("the message ID is not 0"));
    }
    let arrival = QueryArrival {
        message,
        transport: DnsTransport::Doq,
        peer: connection.peer,
        connection: Some(connection),
        in_early_data: Some(opened_early && connection.is_in_early_data() == Some(true)),
        received_ns: monotonic_ns(),
    };
    if let Some(answers) = PartialAnswers::begin(state, Some(connection), &arrival) {
        return answer_in_parts(answers, send).await;
    }
    let reply = state.answer(&arrival).await;
    let sent = match &reply.answer {
        Some(answer) if !reply.keepalive_asked => send_answer(send, answer).await,
        _ => false,
    };
    state.write_query(reply.note, sent);
    match reply.answer {
        _ if reply.keepalive_asked => Err(ProtocolViolation("edns-tcp-keepalive in a query")),
        Some(_) => Ok(true),
        None if reply.is_withheld => {
            // Until the client gives up or goes.
            let _ = send.stopped().await;
            Ok(false)
        }
        None => Err(ProtocolViolation("no DNS query")),
    }
}

/// Sends each response behind its length, and ends the stream after the last response. With a
/// withheld response, the stream ends with the client's patience.
async fn answer_in_parts(
    mut answers: PartialAnswers,
    send: &mut SendStream,
) -> Result<bool, ProtocolViolation> {
    if answers.keepalive_asked() {
        return Err(ProtocolViolation("edns-tcp-keepalive in a query"));
    }
    while let Some(responses) = answers.next().await {
        for response in responses {
            let sent = send.write_all(&frame(&response.message)).await.is_ok();
            answers.write_notes(response.notes, sent);
        }
    }
    if answers.is_over() {
        // Fails only on a stream whose client is gone.
        let _ = send.finish();
    } else {
        let _ = send.stopped().await;
    }
    Ok(answers.is_over())
}

/// Reads until the first message is whole, and returns its end. `None` when the message will never
/// be whole.
async fn read_query(
    connection: &OpenConnection,
    receive: &mut RecvStream,
    bytes: &mut Vec<u8>,
) -> Result<Option<usize>, ProtocolViolation> {
    loop {
        if let Some(end) = message_end(bytes)? {
            return Ok(Some(end));
        }
        match receive.read_chunk(usize::MAX, true).await {
            Ok(Some(chunk)) if !connection.may_grow(bytes.len(), chunk.bytes.len()) => {
                let _ = receive.stop(VarInt::from_u32(EXCESSIVE_LOAD));
                return Ok(None);
            }
            Ok(Some(chunk)) => bytes.extend_from_slice(&chunk.bytes),
            Ok(None) => return Err(ProtocolViolation("the stream ended before the query did")),
            Err(_) => return Ok(None),
        }
    }
}

/// Returns the end of the first message, when the message is whole.
fn message_end(bytes: &[u8]) -> Result<Option<usize>, ProtocolViolation> {
    let Some(prefix) = bytes.get(..2) else {
        return Ok(None);
    };
    let length = usize::from(u16::from_be_bytes([prefix[0], prefix[1]]));
    if length == 0 {
        return Err(ProtocolViolation("an empty query"));
    }
    Ok((bytes.len() >= 2 + length).then_some(2 + length))
}

async fn send_answer(send: &mut SendStream, answer: &ReadyResponse) -> bool {
    send.write_all(&frame(&answer.message)).await.is_ok() && send.finish().is_ok()
}

pub fn frame(message: &[u8]) -> Vec<u8> {
    let mut framed = Vec::with_capacity(message.len() + 2);
    framed.extend_from_slice(&(message.len() as u16).to_be_bytes());
    framed.extend_from_slice(message);
    framed
}

/// Expects the end of the stream. A second query on the stream is a violation; the answer to the
/// first is already under way. A client resetting its query (RFC 9250 section 4.3.1) ends only this
/// stream.
async fn expect_end(receive: &mut RecvStream, more: bool) -> Result<(), ProtocolViolation> {
    let is_end = !more
        && match receive.read_to_end(MESSAGE_BYTES_MAX).await {
            Ok(rest) => rest.is_empty(),
            Err(ReadToEndError::TooLong) => false,
            Err(ReadToEndError::Read(_)) => true,
        };
    is_end
        .then_some(())
        .ok_or(ProtocolViolation("more than one query on a stream"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_ends_where_its_length_says() {
        assert_eq!(message_end(&[]), Ok(None));
        assert_eq!(message_end(&[0, 3, 1, 2]), Ok(None));
        assert_eq!(message_end(&[0, 3, 1, 2, 3, 9]), Ok(Some(5)));
        assert!(message_end(&[0, 0]).is_err());
    }
}
