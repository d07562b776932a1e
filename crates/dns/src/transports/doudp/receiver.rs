//! Waits for the response to a query on its socket.

use crate::edns::UDP_PAYLOAD_RANGE_BYTES;
use crate::exchange::ExchangeLog;
use crate::message::check_echo;
use crate::partial::NoPart;
use crate::transports::course::Course;
use hickory_proto::op::Message;
use resolab_record::Failure;
use resolab_transport::client::MeasuredFailure;
use resolab_transport::receive_stamp::Received;
use resolab_transport::stamped_udp::StampedUdpSocket;
use std::io;
use std::sync::Arc;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// The largest payload size our queries may announce, and a byte that only a longer datagram has.
const BUFFER_BYTES: usize = *UDP_PAYLOAD_RANGE_BYTES.end() as usize + 1;

/// A response that came by UDP.
pub(super) struct Datagram {
    pub message: Vec<u8>,
    /// It is longer than any query of ours announces, and its end was not taken.
    pub is_cut: bool,
}

/// A socket, registered with the reactor.
pub(super) struct Receiver {
    socket: AsyncFd<Arc<StampedUdpSocket>>,
}

impl Receiver {
    /// Register the socket.
    pub(super) fn new(socket: Arc<StampedUdpSocket>) -> io::Result<Self> {
        // SAFETY: the descriptor is the socket's own from its making to its drop, and the
        // registration keeps the socket.
        let socket = unsafe { AsyncFd::register_with_interest(socket, Interest::READABLE)? };
        Ok(Self { socket })
    }

    /// Wait for the response; what does not answer the query is passed over (RFC 5452 section
    /// 9.1), and so is what does not go with its cookie (RFC 7873 section 5.3) or its client
    /// subnet (RFC 7871 section 7.3). Of one that was cut these are missing, and it is only a reason to ask
    /// over TCP.
    pub(super) async fn receive_answer(
        &self,
        query: &[u8],
        log: &ExchangeLog,
    ) -> io::Result<Datagram> {
        let mut message = vec![0; BUFFER_BYTES];
        loop {
            let received = self.receive(&mut message).await?;
            let response = &message[..received.length];
            let is_cut = received.length == BUFFER_BYTES;
            if check_echo(query, response).is_ok() && (is_cut || is_believed(response, log)) {
                log.kernel_stamps.received(received.wall_ns);
                message.truncate(received.length);
                return Ok(Datagram { message, is_cut });
            }
        }
    }

    /// Take what comes with an id until every question has its answer. What is no part is passed over,
    /// but a response by somebody who does not know them is the end. `answered` is told of the first.
    pub(super) async fn gather(
        &self,
        id: u16,
        course: &Course,
        answered: impl FnOnce(),
    ) -> Result<(), MeasuredFailure> {
        let mut datagram = vec![0; BUFFER_BYTES];
        let mut answered = Some(answered);
        loop {
            let received = self.receive(&mut datagram).await;
            let received = received.map_err(|error| super::failure_of(&error))?;
            let response = &datagram[..received.length];
            if !course.logs().all(|log| is_believed(response, log)) {
                continue;
            }
            match course.take(id, response) {
                Ok(is_complete) => {
                    if let Some(answered) = answered.take() {
                        answered();
                    }
                    if is_complete {
                        return Ok(());
                    }
                }
                Err(error @ NoPart::NotKnown) => {
                    return Err(MeasuredFailure::new(Failure::QueryMalformed, error));
                }
                Err(NoPart::Mismatch(_) | NoPart::Contradiction(_)) => (),
            }
        }
    }

    /// What it receives on.
    pub(super) fn socket(&self) -> &StampedUdpSocket {
        self.socket.get_ref()
    }

    /// The next datagram. Also woken by errors, which is how a refusal that takes its time comes,
    /// and once for each stamp of a datagram sent.
    async fn receive(&self, buffer: &mut [u8]) -> io::Result<Received> {
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
