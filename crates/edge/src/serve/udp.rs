//! DoUDP: one datagram in, one out, from the address that was asked.

use crate::world::{Arrival, World};
use resolab_record::DnsTransport;
use resolab_transport::clock::monotonic_ns;
use std::sync::Arc;
use tokio::net::UdpSocket;

/// Largest query datagram; the same as the kernel can deliver.
const RECEIVE_BYTES: usize = 65_535;

/// Serve until the task is dropped.
pub async fn serve(world: Arc<World>, socket: UdpSocket) {
    let mut buffer = vec![0; RECEIVE_BYTES];
    loop {
        // An error here is an ICMP message about an earlier answer: nothing to do about it.
        let Ok((length, peer)) = socket.recv_from(&mut buffer).await else {
            continue;
        };
        let name = world.doh.as_ref().map(|doh| doh.name.as_str());
        if world.policies.black_hole.swallows(name) {
            continue;
        }
        let arrival = Arrival {
            message: &buffer[..length],
            transport: DnsTransport::Doudp,
            peer,
            connection: None,
            in_early_data: None,
            received_ns: monotonic_ns(),
        };
        let (answer, record) = world.answer(&arrival);
        let sent = match answer {
            Some(answer) => socket.send_to(&answer.message, peer).await.is_ok(),
            None => false,
        };
        world.write_query(record, sent);
    }
}
