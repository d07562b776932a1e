//! Waits on a socket for the response to its query.

use crate::edns::UDP_PAYLOAD_RANGE_BYTES;
use crate::exchange::ExchangeLog;
use crate::message::check_echo;
use crate::partial::UnmatchedResponse;
use crate::transports::batch::QueryBatch;
use hickory_proto::op::Message;
use resolab_record::Failure;
use resolab_transport::client::MeasuredFailure;
use resolab_transport::receive_stamp::StampedRead;
use resolab_transport::stamped_udp::StampedUdpSocket;
use std::io;
use std::sync::Arc;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// The largest payload size announced by our queries, and a byte for detecting longer datagrams.
const BUFFER_BYTES: usize = *UDP_PAYLOAD_RANGE_BYTES.end() as usize + 1;

/// A response received by UDP.
pub(super) struct ReceivedDatagram {
    pub message: Vec<u8>,
    /// True when the datagram is longer than any size announced by our queries; its end is lost.
    pub is_cut: bool,
}

/// A socket registered with the reactor.
pub(super) struct ResponseReceiver {
    socket: AsyncFd<Arc<StampedUdpSocket>>,
}

impl ResponseReceiver {
    /// Registers the socket with the reactor.
    pub(super) fn new(socket: Arc<StampedUdpSocket>) -> io::Result<Self> {
        // SAFETY: the descriptor is the socket's own from its making to its drop, and the
        // registration keeps the socket.
        let socket = unsafe { AsyncFd::register_with_interest(socket, Interest::READABLE)? };
        Ok(Self { socket })
    }

    /// Waits for the response. Skips other messages: not answering the query (RFC 5452 section
    /// 9.1), or with a wrong cookie (RFC 7873 section 5.3) or client subnet (RFC 7871 section 7.3).
    /// A cut response lacks these options, and only leads to asking over TCP.
    pub(super) async fn receive_answer(
        &self,
        query: &[u8],
        log: &ExchangeLog,
    ) -> io::Result<ReceivedDatagram> {
        let mut message = vec![0; BUFFER_BYTES];
        loop {
            let received = self.receive(&mut message).await?;
            let response = &message[..received.length];
            let is_cut = received.length == BUFFER_BYTES;
            if check_echo(query, response).is_ok() && (is_cut || is_believed(response, log)) {
                log.kernel_stamps.note_received(received.wall_ns);
                message.truncate(received.length);
                return Ok(ReceivedDatagram { message, is_cut });
            }
        }
    }

    /// Takes responses with an id until every question has its answer. Skips messages that are no
    /// partial response. Errors on a response from a resolver without support. Calls `answered` on
    /// the first response.
    pub(super) async fn gather(
        &self,
        id: u16,
        batch: &QueryBatch,
        answered: impl FnOnce(),
    ) -> Result<(), MeasuredFailure> {
        let mut datagram = vec![0; BUFFER_BYTES];
        let mut answered = Some(answered);
        loop {
            let received = self.receive(&mut datagram).await;
            let received = received.map_err(|error| super::failure_of(&error))?;
            let response = &datagram[..received.length];
            if !batch.logs().all(|log| is_believed(response, log)) {
                continue;
            }
            match batch.take(id, response) {
                Ok(is_complete) => {
                    if let Some(answered) = answered.take() {
                        answered();
                    }
                    if is_complete {
                        return Ok(());
                    }
                }
                Err(error @ UnmatchedResponse::NotKnown) => {
                    return Err(MeasuredFailure::new(Failure::QueryMalformed, error));
                }
                Err(
                    UnmatchedResponse::ResponseMismatch(_) | UnmatchedResponse::Contradiction(_),
                ) => (),
            }
        }
    }

    /// Returns the socket used for receiving.
    pub(super) fn socket(&self) -> &StampedUdpSocket {
        self.socket.get_ref()
    }

    /// Receives the next datagram. Errors also wake the task, because a late refusal arrives as an
    /// error; so does the stamp of each datagram sent.
    async fn receive(&self, buffer: &mut [u8]) -> io::Result<StampedRead> {
        loop {
            let wanted = Interest::READABLE | Interest::ERROR;
            let mut ready = self.socket.ready(wanted).await?;
            if let Ok(result) = ready.try_io(|socket| socket.get_ref().try_receive(buffer)) {
                return result;
            }
        }
    }
}

fn is_believed(response: &[u8], log: &ExchangeLog) -> bool {
    let Some(sent) = log.sent_edns().filter(|sent| sent.is_to_be_echoed()) else {
        return true;
    };
    let message = Message::from_vec(response).ok();
    sent.check_unconnected(message.as_ref()).is_ok()
}
