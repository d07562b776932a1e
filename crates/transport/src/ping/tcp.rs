//! Opens connections and closes them at once. The round trip is the kernel's own measurement of the
//! SYN. Not for: a retransmitted SYN, counted as a ping without answer.

use super::{PingResult, Pinger};
use crate::client::{SetupLog, TcpOptions, connect_tcp};
use resolab_record::{Failure, PingFailure};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

/// Pings one port by TCP.
pub struct TcpPinger {
    address: SocketAddr,
    runtime: Runtime,
}

impl TcpPinger {
    /// Prepares pings to this address and port.
    pub fn open(address: SocketAddr) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        Ok(Self { address, runtime })
    }
}

impl Pinger for TcpPinger {
    fn ping(&mut self, _sequence: u16, limit: Duration) -> PingResult {
        let log = SetupLog::default();
        let connecting = connect_tcp(self.address, TcpOptions::default(), &log);
        let connected = self
            .runtime
            .block_on(async { timeout(limit, connecting).await });
        match connected {
            Err(_) => Err(PingFailure::Timeout),
            Ok(Err(error)) => Err(refusal(error.failure)),
            Ok(Ok(stream)) => {
                let facts = log.path_facts();
                drop(stream);
                if facts.is_some_and(|facts| facts.retransmitted_count > 0) {
                    return Err(PingFailure::Timeout);
                }
                let measured_ns = facts.and_then(|facts| facts.min_rtt_ns);
                let connect_ns = || {
                    let (start_ns, end_ns) = (log.tcp_connect.start_ns(), log.tcp_connect.end_ns());
                    Some(end_ns? - start_ns?)
                };
                measured_ns.or_else(connect_ns).ok_or(PingFailure::Other)
            }
        }
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a connect that failed has one of the failures named or another cause"
)]
fn refusal(failure: Failure) -> PingFailure {
    match failure {
        Failure::TcpConnectRefused => PingFailure::Refused,
        Failure::TcpConnectTimeout => PingFailure::Timeout,
        Failure::TcpConnectUnreachable => PingFailure::Unreachable,
        _ => PingFailure::Other,
    }
}
