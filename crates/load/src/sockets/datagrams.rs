//! Many datagrams per system call: sendmmsg(2) and recvmmsg(2) with arrays made once. Not for: the
//! contents of datagrams.

mod receive;
mod send;

pub use receive::{ClockOffset, ReceiveBatch, want_stamps};
pub use send::{SendBatch, UnsentReason};

#[cfg(test)]
mod tests {
    use super::*;
    use resolab_transport::clock::monotonic_ns;
    use std::net::UdpSocket;
    use std::os::fd::AsFd;
    use std::time::Duration;

    fn pair() -> (UdpSocket, UdpSocket) {
        let (left, right) = (bound(), bound());
        left.connect(right.local_addr().unwrap()).unwrap();
        right.connect(left.local_addr().unwrap()).unwrap();
        right.set_nonblocking(true).unwrap();
        (left, right)
    }

    fn bound() -> UdpSocket {
        UdpSocket::bind("127.0.0.1:0").unwrap()
    }

    fn carry(segmentation_offload: bool) {
        let (left, right) = pair();
        want_stamps(&right).unwrap();
        let mut send = SendBatch::new(8, 64);
        // Equal lengths, then a shorter and a longer one.
        let sizes = [20, 20, 20, 17, 20, 40];
        for (id, size) in sizes.into_iter().enumerate() {
            send.push(&vec![b'x'; size], id as u16);
        }
        let before_ns = monotonic_ns();
        let mut unsent = Vec::new();
        send.flush(left.as_fd(), segmentation_offload, &mut unsent);
        assert_eq!(unsent, []);
        std::thread::sleep(Duration::from_millis(2));
        let mut receive = ReceiveBatch::new(8);
        assert_eq!(receive.receive(right.as_fd()).unwrap(), sizes.len());
        let stamps = ClockOffset::now();
        for (position, size) in sizes.into_iter().enumerate() {
            let message = receive.message(position);
            assert_eq!(message.len(), size);
            assert_eq!(message[..2], (position as u16).to_be_bytes());
            let stamp_ns = stamps.monotonic(receive.realtime_ns(position).unwrap());
            // The two clocks are read apart: a machine that stops in between moves the stamp.
            assert!(stamp_ns.abs_diff(before_ns) < 1_000_000_000);
        }
        let empty = receive.receive(right.as_fd()).unwrap_err();
        assert_eq!(empty.kind(), std::io::ErrorKind::WouldBlock);
    }

    #[test]
    fn a_batch_goes_and_comes_whole_with_stamps() {
        carry(false);
    }

    #[test]
    fn segmentation_gives_the_same_datagrams() {
        carry(true);
    }

    #[test]
    fn a_closed_port_is_a_refusal_and_the_rest_still_goes() {
        let (left, right) = pair();
        drop(right);
        let mut send = SendBatch::new(4, 64);
        let mut unsent = Vec::new();
        for _ in 0..3 {
            send.push(b"0123456789", 1);
            send.flush(left.as_fd(), false, &mut unsent);
            std::thread::sleep(Duration::from_millis(2));
        }
        assert!(unsent.contains(&UnsentReason::RefusedBefore), "{unsent:?}");
        assert!(
            !unsent
                .iter()
                .any(|unsent| matches!(unsent, UnsentReason::Message(..)))
        );
    }
}
