//! Measures round trips to one address by dedicated packets and connections: ICMP if the system
//! permits ICMP to this user, else TCP, then QUIC.
//!
//! For: the current distance to a resolver, by a named method.
//! Not for: continuous measurement, nor for the path of a query's own connection.

mod icmp;
mod quic;
mod tcp;
mod waiting;

use crate::clock::monotonic_ns;
use crate::stamped_udp::keep_stamping;
use icmp::IcmpPinger;
use quic::QuicPinger;
use resolab_record::{PassedOver, PingFailure, PingMethod, PingRecord};
use std::io;
use std::net::{IpAddr, SocketAddr, SocketAddrV6};
use std::thread;
use std::time::Duration;
use tcp::TcpPinger;

/// The number of unanswered pings at the start before the next method is tried. A host dropping all
/// pings would otherwise cost the time-outs of the whole count.
const SILENT_COUNT: usize = 2;

/// The parameters of a ping measurement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PingOrder {
    /// The address to ping.
    pub address: IpAddr,
    /// The number of the interface of a link-local address (RFC 4007 section 11); 0 for other
    /// addresses.
    pub scope_id: u32,
    /// The methods, in the order of their trial.
    pub targets: Vec<PingTarget>,
    /// The number of pings.
    pub count: usize,
    /// The time limit of each ping.
    pub timeout: Duration,
    /// The pause between the end of a ping and the next ping.
    pub pause: Duration,
}

/// A ping method with its port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PingTarget {
    /// An ICMP echo request.
    Icmp,
    /// A TCP connection to this port.
    Tcp(u16),
    /// A QUIC packet to this port.
    Quic(u16),
}

impl PingTarget {
    /// Returns the method in the record's notation.
    pub fn method(self) -> PingMethod {
        match self {
            Self::Icmp => PingMethod::Icmp,
            Self::Tcp(_) => PingMethod::Tcp,
            Self::Quic(_) => PingMethod::Quic,
        }
    }

    /// Returns the port; `None` for ICMP.
    pub fn port(self) -> Option<u16> {
        match self {
            Self::Icmp => None,
            Self::Tcp(port) | Self::Quic(port) => Some(port),
        }
    }
}

/// The result of one ping: the round trip in nanoseconds, or the failure.
type PingResult = Result<u64, PingFailure>;

/// A sender of pings by one method.
trait Pinger {
    /// Sends ping number `sequence`, from 0, and waits for the answer.
    fn ping(&mut self, sequence: u16, timeout: Duration) -> PingResult;
}

/// Pings by the first method with an answer.
pub fn ping(order: &PingOrder) -> PingRecord {
    keep_stamping();
    let mut record = PingRecord {
        address: order.address,
        resolver: None,
        time_origin_ns: monotonic_ns(),
        method: None,
        port: None,
        rtt_ns: vec![None; order.count],
        failures: vec![Some(PingFailure::Other); order.count],
        passed_over: Vec::new(),
    };
    let mut is_noted = false;
    for &target in &order.targets {
        let reason = match open(order, target) {
            Ok(mut pinger) => {
                let answers = ping_all(pinger.as_mut(), order);
                // Where nothing is answered at all, the first method that could be tried speaks.
                if !is_noted || is_answered(&answers) {
                    note(&mut record, &answers, order.count);
                    is_noted = true;
                }
                if is_answered(&answers) {
                    record.method = Some(target.method());
                    record.port = target.port();
                    return record;
                }
                silence(&answers)
            }
            Err(error) => error.to_string(),
        };
        record.passed_over.push(PassedOver {
            method: target.method(),
            port: target.port(),
            reason,
        });
    }
    record
}

fn open(order: &PingOrder, target: PingTarget) -> io::Result<Box<dyn Pinger>> {
    let address = socket_address(order, target.port().unwrap_or(0));
    Ok(match target {
        PingTarget::Icmp => Box::new(IcmpPinger::open(address)?),
        PingTarget::Tcp(_) => Box::new(TcpPinger::open(address)?),
        PingTarget::Quic(_) => Box::new(QuicPinger::open(address)?),
    })
}

fn socket_address(order: &PingOrder, port: u16) -> SocketAddr {
    match order.address {
        IpAddr::V4(_) => SocketAddr::new(order.address, port),
        IpAddr::V6(address) => SocketAddrV6::new(address, port, 0, order.scope_id).into(),
    }
}

fn ping_all(pinger: &mut dyn Pinger, order: &PingOrder) -> Vec<PingResult> {
    let mut answers = Vec::with_capacity(order.count);
    for sequence in 0..order.count {
        if sequence > 0 {
            thread::sleep(order.pause);
        }
        answers.push(pinger.ping(sequence as u16, order.timeout));
        if answers.len() == SILENT_COUNT && !is_answered(&answers) {
            break;
        }
    }
    answers
}

fn is_answered(answers: &[PingResult]) -> bool {
    answers.iter().any(Result::is_ok)
}

/// Writes each ping's result into the record. Pings not sent get the result of the last ping sent.
fn note(record: &mut PingRecord, answers: &[PingResult], count: usize) {
    let Some(&last) = answers.last() else {
        return;
    };
    let all = || (0..count).map(|index| answers.get(index).copied().unwrap_or(last));
    record.rtt_ns = all().map(Result::ok).collect();
    record.failures = all().map(Result::err).collect();
}

fn silence(answers: &[PingResult]) -> String {
    let why = match answers.last() {
        Some(Err(PingFailure::Refused)) => "refused",
        Some(Err(PingFailure::Unreachable)) => "unreachable",
        Some(Err(PingFailure::Other)) => "the system did not send them",
        Some(Err(PingFailure::Timeout) | Ok(_)) | None => "no answer in time",
    };
    format!("{} sent, {why}", answers.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_one_link_keeps_its_interface() {
        let mut order = PingOrder {
            address: "fe80::1".parse().unwrap(),
            scope_id: 3,
            targets: Vec::new(),
            count: 1,
            timeout: Duration::ZERO,
            pause: Duration::ZERO,
        };
        let scope_id = |order: &PingOrder| match socket_address(order, 53) {
            SocketAddr::V6(address) => (address.scope_id(), address.port()),
            SocketAddr::V4(address) => (0, address.port()),
        };
        assert_eq!(scope_id(&order), (3, 53));
        order.address = "192.0.2.1".parse().unwrap();
        assert_eq!(scope_id(&order), (0, 53));
    }
}
