//! Datagrams in batches: recvmmsg(2) and sendmmsg(2) over arrays made once. Each answer goes to the
//! source of its query. One call for each direction costs less than the answers themselves.
//!
//! Not for: the content of the datagrams, and not for waiting.

use std::io;
use std::mem;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsRawFd, BorrowedFd};

/// The maximum number of datagrams received at once.
pub const BATCH_COUNT: usize = 64;
/// The buffer of a query, in bytes: more than any client sends. The distance is not a power of two:
/// otherwise all buffers would begin on the same cache lines. Longer queries lose their end and
/// become malformed.
const QUERY_BYTES: usize = 4_096 + 64;

/// The buffers of a batch and the kernel's view of the buffers.
pub struct Batch {
    incoming: Vec<libc::mmsghdr>,
    outgoing: Vec<libc::mmsghdr>,
    peers: Vec<libc::sockaddr_storage>,
    queries: Vec<u8>,
    /// Only the kernel reads these, by the pointers in the headers.
    incoming_iovecs: Vec<libc::iovec>,
    outgoing_iovecs: Vec<libc::iovec>,
    /// The answers by position in the batch; empty without an answer.
    answers: Vec<Vec<u8>>,
    /// The positions of the answers in `outgoing`.
    indices: Vec<usize>,
}

// SAFETY: the pointers in the headers are to vectors of the same value, which are never resized and
// whose contents do not move with it.
unsafe impl Send for Batch {}

impl Batch {
    /// Makes an empty batch.
    pub fn new() -> Self {
        // SAFETY: all-zero is a value of these plain C structs.
        let (header, iovec, peer) = unsafe { (mem::zeroed(), mem::zeroed(), mem::zeroed()) };
        let mut batch = Self {
            incoming: vec![header; BATCH_COUNT],
            outgoing: vec![header; BATCH_COUNT],
            peers: vec![peer; BATCH_COUNT],
            queries: vec![0; BATCH_COUNT * QUERY_BYTES],
            incoming_iovecs: vec![iovec; BATCH_COUNT],
            outgoing_iovecs: vec![iovec; BATCH_COUNT],
            answers: vec![Vec::new(); BATCH_COUNT],
            indices: Vec::with_capacity(BATCH_COUNT),
        };
        let buffers = batch.queries.chunks_exact_mut(QUERY_BYTES);
        for (index, buffer) in buffers.enumerate() {
            batch.incoming_iovecs[index] = libc::iovec {
                iov_base: buffer.as_mut_ptr().cast(),
                iov_len: QUERY_BYTES,
            };
            let header = &mut batch.incoming[index].msg_hdr;
            header.msg_iov = &raw mut batch.incoming_iovecs[index];
            header.msg_iovlen = 1;
            header.msg_name = (&raw mut batch.peers[index]).cast();
            let header = &mut batch.outgoing[index].msg_hdr;
            header.msg_iov = &raw mut batch.outgoing_iovecs[index];
            header.msg_iovlen = 1;
        }
        batch
    }

    /// Receives the available datagrams without waiting, and returns their number.
    pub fn receive(&mut self, socket: BorrowedFd<'_>) -> io::Result<usize> {
        for header in &mut self.incoming {
            header.msg_hdr.msg_namelen = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
        }
        // SAFETY: headers, iovecs, buffers and names live as long as `self` and none has been
        // resized since the pointers were taken.
        let count = unsafe {
            libc::recvmmsg(
                socket.as_raw_fd(),
                self.incoming.as_mut_ptr(),
                self.incoming.len() as u32,
                libc::MSG_DONTWAIT,
                std::ptr::null_mut(),
            )
        };
        usize::try_from(count).map_err(|_| io::Error::last_os_error())
    }

    /// Returns a datagram of the last receive call, with the buffer for its answer.
    pub fn query(&mut self, index: usize) -> (&[u8], &mut Vec<u8>) {
        let length = (self.incoming[index].msg_len as usize).min(QUERY_BYTES);
        let start = index * QUERY_BYTES;
        (
            &self.queries[start..start + length],
            &mut self.answers[index],
        )
    }

    /// Returns the sender of a datagram; `None` when the kernel does not report the address.
    pub fn peer(&self, index: usize) -> Option<SocketAddr> {
        socket_address(&self.peers[index])
    }

    /// Prepares the answers to the first `count` queries for sending.
    pub fn line_up(&mut self, count: usize) {
        self.indices.clear();
        for index in 0..count {
            if self.answers[index].is_empty() {
                continue;
            }
            let header = &mut self.outgoing[self.indices.len()].msg_hdr;
            header.msg_name = (&raw mut self.peers[index]).cast();
            header.msg_namelen = self.incoming[index].msg_hdr.msg_namelen;
            self.indices.push(index);
        }
    }

    /// Returns the number of prepared answers.
    pub fn lined_up_count(&self) -> usize {
        self.indices.len()
    }

    /// Sends the prepared answers from `position` on, without waiting, and returns the number sent.
    pub fn send(&mut self, socket: BorrowedFd<'_>, position: usize) -> io::Result<usize> {
        for (at, index) in self.indices.iter().enumerate().skip(position) {
            let answer = &mut self.answers[*index];
            self.outgoing_iovecs[at] = libc::iovec {
                iov_base: answer.as_mut_ptr().cast(),
                iov_len: answer.len(),
            };
        }
        let rest = &mut self.outgoing[position..self.indices.len()];
        // SAFETY: headers and names live as long as `self` and have not been resized; the iovecs
        // of this rest point, since just now, to answers as they are.
        let count = unsafe {
            libc::sendmmsg(
                socket.as_raw_fd(),
                rest.as_mut_ptr(),
                rest.len() as u32,
                libc::MSG_DONTWAIT,
            )
        };
        usize::try_from(count).map_err(|_| io::Error::last_os_error())
    }
}

fn socket_address(storage: &libc::sockaddr_storage) -> Option<SocketAddr> {
    match i32::from(storage.ss_family) {
        libc::AF_INET => {
            // SAFETY: the kernel wrote an address of this family; the storage is large enough and
            // aligned for it.
            let v4 = unsafe { &*(&raw const *storage).cast::<libc::sockaddr_in>() };
            let ip = Ipv4Addr::from(u32::from_be(v4.sin_addr.s_addr));
            Some(SocketAddrV4::new(ip, u16::from_be(v4.sin_port)).into())
        }
        libc::AF_INET6 => {
            // SAFETY: as above.
            let v6 = unsafe { &*(&raw const *storage).cast::<libc::sockaddr_in6>() };
            let ip = Ipv6Addr::from(v6.sin6_addr.s6_addr);
            let port = u16::from_be(v6.sin6_port);
            Some(SocketAddrV6::new(ip, port, v6.sin6_flowinfo, v6.sin6_scope_id).into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;
    use std::os::fd::AsFd;
    use std::time::Duration;

    fn exchange(server: &UdpSocket, client: &UdpSocket) {
        let address = server.local_addr().unwrap();
        for number in 0..3_u8 {
            client.send_to(&[number; 20], address).unwrap();
        }
        std::thread::sleep(Duration::from_millis(2));
        let mut batch = Batch::new();
        assert_eq!(batch.receive(server.as_fd()).unwrap(), 3);
        for index in 0..3 {
            assert_eq!(batch.peer(index), Some(client.local_addr().unwrap()));
            let (query, answer) = batch.query(index);
            assert_eq!(query, [index as u8; 20]);
            answer.clear();
            // The one in the middle gets none.
            answer.extend(query.iter().filter(|byte| **byte != 1));
        }
        batch.line_up(3);
        assert_eq!(batch.lined_up_count(), 2);
        assert_eq!(batch.send(server.as_fd(), 0).unwrap(), 2);
        let mut buffer = [9; 100];
        for number in [0, 2] {
            let (length, from) = client.recv_from(&mut buffer).unwrap();
            assert_eq!((length, from, buffer[0]), (20, address, number));
        }
        let empty = batch.receive(server.as_fd()).unwrap_err();
        assert_eq!(empty.kind(), io::ErrorKind::WouldBlock);
    }

    #[test]
    fn an_answer_that_changes_after_it_was_lined_up_is_sent_as_it_is() {
        let server = UdpSocket::bind("127.0.0.1:0").unwrap();
        let client = UdpSocket::bind("127.0.0.1:0").unwrap();
        client
            .set_read_timeout(Some(Duration::from_secs(5)))
            .unwrap();
        client
            .send_to(&[1; 20], server.local_addr().unwrap())
            .unwrap();
        std::thread::sleep(Duration::from_millis(2));
        let mut batch = Batch::new();
        assert_eq!(batch.receive(server.as_fd()).unwrap(), 1);
        batch.query(0).1.extend([2; 20]);
        batch.line_up(1);
        // Grown beyond its place: the first twenty bytes are somewhere else by now, or nowhere.
        *batch.query(0).1 = vec![3; 9_000];
        assert_eq!(batch.send(server.as_fd(), 0).unwrap(), 1);
        let mut buffer = [0; 10_000];
        let (length, _) = client.recv_from(&mut buffer).unwrap();
        assert_eq!((length, buffer[0], buffer[8_999]), (9_000, 3, 3));
    }

    #[test]
    fn answers_go_where_the_queries_came_from() {
        for local in ["127.0.0.1:0", "[::1]:0"] {
            let server = UdpSocket::bind(local).unwrap();
            let client = UdpSocket::bind(local).unwrap();
            client
                .set_read_timeout(Some(Duration::from_secs(5)))
                .unwrap();
            exchange(&server, &client);
        }
    }
}
