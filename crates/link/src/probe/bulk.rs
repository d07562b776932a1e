//! One TCP connection sending at full speed, counted at the receiver, from the end of slow start
//! on. The receiver's kernel counts: late reading on a busy machine does not count as late arrival.

use super::ProbeError;
use super::hosts::{HostNetworks, join_thread, socket_error, start};
use super::train::{ends, errno};
use crate::datapath::realtime_scheduling;
use nix::errno::Errno;
use nix::sys::socket::{setsockopt, sockopt};
use resolab_record::{BulkTransferRecord, LinkDirection};
use std::ffi::OsString;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Maximum number of bytes moved by a system call.
const CHUNK_BYTES: usize = 256 << 10;
/// Timeout for making a connection, also over links with packet loss.
const CONNECT_PATIENCE: Duration = Duration::from_mins(1);
/// Interval between a waiting side's checks for the end.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The parameters of a bulk transfer.
#[derive(Debug, Clone)]
pub struct BulkParameters {
    /// Label copied into the record.
    pub label: Option<String>,
    /// Direction of the data on the link.
    pub direction: LinkDirection,
    /// Uncounted time at the start.
    pub warm_up: Duration,
    /// Counted time after the warm-up.
    pub counted: Duration,
    /// Congestion control; `None` means the machine's default.
    pub congestion_control: Option<String>,
}

/// The sender's figures from the kernel.
#[derive(Debug)]
struct SenderSide {
    congestion_control: String,
    segment_bytes: u32,
    retransmitted_segments_count: u64,
    round_trip_min_us: u32,
}

/// Sends in one direction and returns the record.
pub fn run(
    networks: &HostNetworks,
    order: &BulkParameters,
) -> Result<BulkTransferRecord, ProbeError> {
    let (sending, receiving) = ends(order.direction);
    let listener = networks.run_inside(receiving, || {
        TcpListener::bind((receiving.address(), 0))
            .map_err(|error| socket_error(receiving, "open a socket", errno(&error)))
    })?;
    let target = listener
        .local_addr()
        .map_err(|error| socket_error(receiving, "name a socket", errno(&error)))?;
    let connection = networks.run_inside(sending, || connect(target, order))?;
    let (mut accepted, _) = listener.accept().map_err(step_error("accept"))?;
    let over = AtomicBool::new(false);
    realtime_scheduling::make_ordinary();
    thread::scope(|scope| {
        let sender = start(scope, "bulk-send", || {
            let sent = send(connection, &over);
            over.store(true, Ordering::Relaxed);
            sent
        })?;
        // The receiver stays open until the sender has ended, or it would be told of a reset.
        let counted = count(networks, &mut accepted, order, &over);
        over.store(true, Ordering::Relaxed);
        let sender = join_thread(sender);
        networks.check_path()?;
        let ((counted_bytes, counted_ns), sender) = (counted?, sender?);
        Ok(BulkTransferRecord {
            label: order.label.clone(),
            direction: order.direction,
            congestion_control: sender.congestion_control,
            warm_up_ns: order.warm_up.as_nanos() as u64,
            counted_ns,
            counted_bytes,
            segment_bytes: sender.segment_bytes,
            retransmitted_segments_count: sender.retransmitted_segments_count,
            round_trip_min_us: sender.round_trip_min_us,
        })
    })
}

fn connect(target: SocketAddr, order: &BulkParameters) -> Result<TcpStream, ProbeError> {
    let connection =
        TcpStream::connect_timeout(&target, CONNECT_PATIENCE).map_err(step_error("connect"))?;
    if let Some(wanted) = &order.congestion_control {
        setsockopt(&connection, sockopt::TcpCongestion, &OsString::from(wanted)).map_err(
            |error| {
                ProbeError::Transfer(format!(
                    "use congestion control {wanted:?}: {error}; known: see \
                     net.ipv4.tcp_available_congestion_control"
                ))
            },
        )?;
    }
    Ok(connection)
}

/// Sends until the end, reads the kernel's figures, and closes without waiting for data under way.
fn send(mut connection: TcpStream, over: &AtomicBool) -> Result<SenderSide, ProbeError> {
    realtime_scheduling::make_ordinary();
    connection
        .set_write_timeout(Some(LOOK_EVERY))
        .map_err(step_error("set up the sender"))?;
    let chunk = vec![0; CHUNK_BYTES];
    while !over.load(Ordering::Relaxed) {
        match connection.write(&chunk) {
            Ok(_) => {}
            Err(error) if goes_on(&error) => {}
            Err(error) => return Err(step_error("send")(error)),
        }
    }
    let side = sender_side(&connection).map_err(|error| {
        ProbeError::Transfer(format!("ask the kernel about the connection: {error}"))
    })?;
    let at_once = libc::linger {
        l_onoff: 1,
        l_linger: 0,
    };
    // Without it, the link would be busy with the rest for a while; nothing else depends on it.
    let _ = setsockopt(&connection, sockopt::Linger, &at_once);
    Ok(side)
}

/// Returns bytes and nanoseconds from the first reading after the warm-up to the last before the
/// end.
fn count(
    networks: &HostNetworks,
    accepted: &mut TcpStream,
    order: &BulkParameters,
    over: &AtomicBool,
) -> Result<(u64, u64), ProbeError> {
    accepted
        .set_read_timeout(Some(LOOK_EVERY))
        .map_err(step_error("set up the receiver"))?;
    let begun = Instant::now();
    let mut tally = ByteTally::new(order.warm_up, order.warm_up + order.counted);
    let mut chunk = vec![0; CHUNK_BYTES];
    while begun.elapsed() < tally.end && !over.load(Ordering::Relaxed) {
        match accepted.read(&mut chunk) {
            Ok(0) => {
                return Err(ProbeError::Transfer(
                    "the connection ended early".to_owned(),
                ));
            }
            Ok(_) => tally.note_count(begun.elapsed(), received_bytes(accepted)?),
            Err(error) if goes_on(&error) => networks.check_path()?,
            Err(error) => return Err(step_error("receive")(error)),
        }
    }
    Ok(tally.counted())
}

/// Returns the number of bytes received by the kernel on the connection, read or not.
fn received_bytes(connection: &TcpStream) -> Result<u64, ProbeError> {
    let info = tcp_info(connection).map_err(|error| {
        ProbeError::Transfer(format!("ask the kernel what it received: {error}"))
    })?;
    Ok(info.tcpi_bytes_received)
}

/// Byte counts at two moments: the first after the warm-up, and the last before the end.
#[derive(Debug)]
struct ByteTally {
    warm_up: Duration,
    end: Duration,
    first: Option<(Duration, u64)>,
    last: (Duration, u64),
}

impl ByteTally {
    fn new(warm_up: Duration, end: Duration) -> Self {
        Self {
            warm_up,
            end,
            first: None,
            last: (Duration::ZERO, 0),
        }
    }

    /// Notes a reading: at `at`, the connection had received `bytes` in total.
    fn note_count(&mut self, at: Duration, bytes: u64) {
        if at < self.warm_up || at > self.end {
            return;
        }
        self.first.get_or_insert((at, bytes));
        self.last = (at, bytes);
    }

    /// Returns bytes and nanoseconds; with fewer than two readings, 0 bytes in the whole time.
    fn counted(&self) -> (u64, u64) {
        let (first_at, first_bytes) = self.first.unwrap_or(self.last);
        let (last_at, last_bytes) = self.last;
        let mut span = last_at.saturating_sub(first_at);
        if span.is_zero() {
            span = self.end.saturating_sub(self.warm_up);
        }
        (
            last_bytes.saturating_sub(first_bytes),
            span.as_nanos() as u64,
        )
    }
}

fn goes_on(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}

fn step_error(step: &'static str) -> impl Fn(io::Error) -> ProbeError {
    move |error| ProbeError::Transfer(format!("{step}: {error}"))
}

fn sender_side(connection: &TcpStream) -> Result<SenderSide, Errno> {
    let info = tcp_info(connection)?;
    let name = nix::sys::socket::getsockopt(connection, sockopt::TcpCongestion)?;
    let name = name.to_string_lossy();
    Ok(SenderSide {
        congestion_control: name.trim_end_matches('\0').to_owned(),
        segment_bytes: info.tcpi_snd_mss,
        retransmitted_segments_count: info.tcpi_total_retrans.into(),
        round_trip_min_us: info.tcpi_min_rtt,
    })
}

fn tcp_info(connection: &TcpStream) -> Result<libc::tcp_info, Errno> {
    // SAFETY: the structure is integers only, for which zero is a value.
    let mut info: libc::tcp_info = unsafe { std::mem::zeroed() };
    let mut length = size_of_val(&info) as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes into the structure, which outlives the call.
    let answer = unsafe {
        libc::getsockopt(
            connection.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut info).cast(),
            &raw mut length,
        )
    };
    Errno::result(answer).map(|_| info)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_comes_between_the_looks_in_the_counted_time_is_counted() {
        let mut tally = ByteTally::new(Duration::from_secs(1), Duration::from_secs(3));
        for (at_ms, bytes) in [
            (500, 9),
            (1_100, 18),
            (2_000, 118),
            (2_900, 138),
            (3_100, 147),
        ] {
            tally.note_count(Duration::from_millis(at_ms), bytes);
        }
        assert_eq!(tally.counted(), (120, 1_800_000_000));
    }

    #[test]
    fn a_time_with_one_look_or_none_has_nothing_to_count() {
        let mut tally = ByteTally::new(Duration::from_secs(1), Duration::from_secs(3));
        assert_eq!(tally.counted(), (0, 2_000_000_000));
        tally.note_count(Duration::from_secs(2), 10);
        assert_eq!(tally.counted(), (0, 2_000_000_000));
    }

    #[test]
    fn what_waits_unread_counts_as_come() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut accepted, _) = listener.accept().unwrap();
        sender.write_all(&[0; 1_000]).unwrap();
        accepted.read_exact(&mut [0; 10]).unwrap();
        assert_eq!(received_bytes(&accepted).unwrap(), 1_000);
    }

    #[test]
    fn the_kernel_tells_about_a_connection() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let connection = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let side = sender_side(&connection).unwrap();
        assert!(side.segment_bytes > 500, "{side:?}");
        assert!(!side.congestion_control.is_empty(), "{side:?}");
    }
}
