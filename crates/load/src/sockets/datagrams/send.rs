//! Sending datagrams. With segmentation offload (UDP_SEGMENT, udp(7)), messages of equal length go
//! as one train; otherwise each message is a datagram.

use std::io;
use std::mem;
use std::os::fd::{AsRawFd, BorrowedFd};

/// The limit of segments in a train (`UDP_MAX_SEGMENTS` of the oldest kernels with UDP_SEGMENT).
const SEGMENTS_MAX: usize = 64;
const ROOM_WAIT_MS: i32 = 1;
type SendControl = [u64; 4];

/// A reason for an unsent message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnsentReason {
    /// The local kernel refused the message at this position.
    Message(usize, io::ErrorKind),
    /// An ICMP error answered an earlier message; a connected socket reports the error at the next
    /// call. The messages of this call were sent.
    RefusedBefore,
}

/// The outgoing messages of a worker.
pub struct SendBatch {
    buffer: Vec<u8>,
    /// The end of each message in `buffer`.
    ends: Vec<usize>,
    trains: Vec<SegmentedDatagram>,
    headers: Vec<libc::mmsghdr>,
    iovecs: Vec<libc::iovec>,
    controls: Vec<SendControl>,
}

/// The messages sent as one datagram of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SegmentedDatagram {
    first: usize,
    count: usize,
}

impl SendBatch {
    /// Creates buffers for `count` messages of up to `message_bytes`; more messages make the
    /// buffers grow.
    pub fn new(count: usize, message_bytes: usize) -> Self {
        // SAFETY: all-zero is a value of these plain C structs.
        let (header, iovec) = unsafe { (mem::zeroed(), mem::zeroed()) };
        Self {
            buffer: Vec::with_capacity(count * message_bytes),
            ends: Vec::with_capacity(count),
            trains: Vec::with_capacity(count),
            headers: vec![header; count],
            iovecs: vec![iovec; count],
            controls: vec![[0; 4]; count],
        }
    }

    /// Adds a message with this id.
    pub fn push(&mut self, message: &[u8], id: u16) {
        let start = self.buffer.len();
        self.buffer.extend_from_slice(message);
        self.buffer[start..start + 2].copy_from_slice(&id.to_be_bytes());
        self.ends.push(self.buffer.len());
    }

    /// Sends the added messages and clears the buffer. A full socket buffer makes the call wait.
    pub fn flush(
        &mut self,
        socket: BorrowedFd<'_>,
        segmentation_offload: bool,
        unsent: &mut Vec<UnsentReason>,
    ) {
        self.form_trains(if segmentation_offload {
            SEGMENTS_MAX
        } else {
            1
        });
        self.point();
        let mut sent = 0;
        while sent < self.trains.len() {
            match send(socket, &mut self.headers[sent..self.trains.len()]) {
                Ok(count) => sent += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => wait_for_room(socket),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    unsent.push(UnsentReason::RefusedBefore);
                }
                Err(error) => {
                    let SegmentedDatagram { first, count } = self.trains[sent];
                    let (positions, kind) = (first..first + count, error.kind());
                    unsent.extend(positions.map(|position| UnsentReason::Message(position, kind)));
                    sent += 1;
                }
            }
        }
        self.buffer.clear();
        self.ends.clear();
    }

    fn start(&self, position: usize) -> usize {
        match position {
            0 => 0,
            position => self.ends[position - 1],
        }
    }

    fn length(&self, position: usize) -> usize {
        self.ends[position] - self.start(position)
    }

    /// Forms the trains. All messages of a train have the same length; the last message may be
    /// shorter.
    fn form_trains(&mut self, count_max: usize) {
        self.trains.clear();
        let mut is_open = false;
        for position in 0..self.ends.len() {
            let length = self.length(position);
            let segment = self
                .trains
                .last()
                .map_or(0, |train| self.length(train.first));
            match self.trains.last_mut() {
                Some(train) if is_open && length <= segment && train.count < count_max => {
                    train.count += 1;
                    is_open = length == segment;
                }
                _ => {
                    is_open = true;
                    self.trains.push(SegmentedDatagram {
                        first: position,
                        count: 1,
                    });
                }
            }
        }
    }

    /// Points the headers to the trains, after the buffers have their final addresses.
    fn point(&mut self) {
        let count = self.trains.len();
        if count > self.headers.len() {
            // SAFETY: all-zero is a value of these plain C structs.
            let (header, iovec) = unsafe { (mem::zeroed(), mem::zeroed()) };
            self.headers.resize(count, header);
            self.iovecs.resize(count, iovec);
            self.controls.resize(count, [0; 4]);
        }
        for index in 0..count {
            let SegmentedDatagram { first, count } = self.trains[index];
            let (start, segment) = (self.start(first), self.length(first));
            let end = self.ends[first + count - 1];
            self.iovecs[index] = libc::iovec {
                iov_base: self.buffer[start..end].as_mut_ptr().cast(),
                iov_len: end - start,
            };
            let header = &mut self.headers[index].msg_hdr;
            header.msg_iov = &raw mut self.iovecs[index];
            header.msg_iovlen = 1;
            header.msg_control = std::ptr::null_mut();
            header.msg_controllen = 0;
            if count > 1 {
                set_segment(header, &mut self.controls[index], segment as u16);
            }
        }
    }
}

/// Tells the kernel the segment size for cutting a train.
fn set_segment(header: &mut libc::msghdr, control: &mut SendControl, segment_bytes: u16) {
    header.msg_control = control.as_mut_ptr().cast();
    // SAFETY: takes no pointers.
    let (space, length) = unsafe { (libc::CMSG_SPACE(2), libc::CMSG_LEN(2)) };
    header.msg_controllen = space as usize;
    // SAFETY: the control buffer is aligned for a control message and has room for one of 2 bytes
    // (24 of 32), so the first header is inside it.
    unsafe {
        let message = libc::CMSG_FIRSTHDR(header);
        (*message).cmsg_level = libc::SOL_UDP;
        (*message).cmsg_type = libc::UDP_SEGMENT;
        (*message).cmsg_len = length as usize;
        libc::CMSG_DATA(message)
            .cast::<u16>()
            .write_unaligned(segment_bytes);
    }
}

fn send(socket: BorrowedFd<'_>, headers: &mut [libc::mmsghdr]) -> io::Result<usize> {
    // SAFETY: the headers point to iovecs, controls and a buffer that nobody has moved since.
    let count = unsafe {
        libc::sendmmsg(
            socket.as_raw_fd(),
            headers.as_mut_ptr(),
            headers.len() as u32,
            libc::MSG_DONTWAIT,
        )
    };
    if count < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(count as usize)
}

fn wait_for_room(socket: BorrowedFd<'_>) {
    let mut poll = libc::pollfd {
        fd: socket.as_raw_fd(),
        events: libc::POLLOUT,
        revents: 0,
    };
    // SAFETY: one pollfd that lives through the call.
    unsafe { libc::poll(&raw mut poll, 1, ROOM_WAIT_MS) };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trains(sizes: &[usize], count_max: usize) -> Vec<(usize, usize)> {
        let mut batch = SendBatch::new(1, 1);
        for size in sizes {
            batch.push(&vec![0; *size], 0);
        }
        batch.form_trains(count_max);
        let trains = batch.trains.iter();
        trains.map(|train| (train.first, train.count)).collect()
    }

    #[test]
    fn a_train_ends_with_a_shorter_message_or_before_a_longer_one() {
        assert_eq!(trains(&[9, 9, 9], 64), [(0, 3)]);
        assert_eq!(trains(&[9, 9, 8, 9, 9], 64), [(0, 3), (3, 2)]);
        assert_eq!(trains(&[9, 10, 10], 64), [(0, 1), (1, 2)]);
        assert_eq!(trains(&[9, 8, 8], 64), [(0, 2), (2, 1)]);
        assert_eq!(trains(&[9; 5], 2), [(0, 2), (2, 2), (4, 1)]);
        assert_eq!(trains(&[9; 2], 1), [(0, 1), (1, 1)]);
    }
}
