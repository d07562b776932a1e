//! The log of one connection's set-up: start and end of each phase, and the negotiated parameters.
//! Entries are written at the place of the event and readable at any time. A deadline can thus name
//! the interrupted phase.
//! Not for: the exchange on the connection, except the arrival time of the last data.

use super::handshake_failure::AlpnMismatch;
use super::path_facts::{PathFacts, PathProbe};
use super::tcp_end::TcpEnd;
use crate::clock::monotonic_ns;
use crate::hellos::Hellos;
use crate::receive_stamp::LastArrival;
use crate::socket::SendFailure;
use resolab_record::{Failure, HandshakeMode, HelloFacts};
use rustls::pki_types::CertificateDer;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use tokio::sync::Notify;

/// The start and end of a phase, in `CLOCK_MONOTONIC` nanoseconds. Each is set at most once unless
/// the phase is resumed or forgotten; 0 means not yet.
#[derive(Debug, Default)]
pub struct TimedPhase {
    start_ns: AtomicU64,
    end_ns: AtomicU64,
}

impl TimedPhase {
    /// Begins the phase now, unless the phase has begun.
    pub fn begin(&self) {
        set_once(&self.start_ns);
    }

    /// Ends the phase now, unless the phase has ended.
    pub fn finish(&self) {
        set_once(&self.end_ns);
    }

    /// Ends the phase at a recent instant, unless the phase has ended.
    pub fn finish_at(&self, instant_ns: u64) {
        set_once_to(&self.end_ns, instant_ns);
    }

    /// Continues the phase until a later end: the logged end covered only a part of the phase.
    pub fn resume(&self) {
        self.end_ns.store(0, Ordering::Release);
    }

    /// Discards the logged instants: the phase has not begun.
    pub fn forget(&self) {
        self.start_ns.store(0, Ordering::Release);
        self.end_ns.store(0, Ordering::Release);
    }

    /// Returns the start of the phase; `None` when the phase did not occur.
    pub fn start_ns(&self) -> Option<u64> {
        load_instant(&self.start_ns)
    }

    /// Returns the end of the phase; `None` when the phase did not end.
    pub fn end_ns(&self) -> Option<u64> {
        load_instant(&self.end_ns)
    }

    /// Returns true when the phase has begun and has not ended.
    pub fn is_under_way(&self) -> bool {
        self.start_ns().is_some() && self.end_ns().is_none()
    }
}

fn set_once(instant_ns: &AtomicU64) {
    if load_instant(instant_ns).is_none() {
        set_once_to(instant_ns, monotonic_ns());
    }
}

fn set_once_to(instant_ns: &AtomicU64, now_ns: u64) {
    let _ = instant_ns.compare_exchange(0, now_ns, Ordering::AcqRel, Ordering::Acquire);
}

fn load_instant(instant_ns: &AtomicU64) -> Option<u64> {
    Some(instant_ns.load(Ordering::Acquire)).filter(|ns| *ns != 0)
}

/// The parameters negotiated by a finished handshake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handshake {
    /// The ALPN identifier, verbatim.
    pub alpn: Option<String>,
    /// The TLS version in the form `TLSv1_3`.
    pub tls_version: Option<String>,
    /// The cipher suite's IANA name.
    pub cipher_suite: Option<String>,
    /// The server took a ticket.
    pub resumed: bool,
    /// True when the server accepted offered early data; `None` without an offer.
    pub early_data_accepted: Option<bool>,
}

impl Handshake {
    /// Returns the actual handshake mode, for the record.
    pub fn mode(&self) -> HandshakeMode {
        match (self.resumed, self.early_data_accepted) {
            (_, Some(true)) => HandshakeMode::ZeroRtt,
            (true, _) => HandshakeMode::Resumed,
            (false, _) => HandshakeMode::Full,
        }
    }
}

/// The set-up of one connection.
#[derive(Debug, Default)]
pub struct SetupLog {
    /// The look-up of the peer's host name, if part of the measured time.
    pub bootstrap: TimedPhase,
    /// The TCP connect phase.
    pub tcp_connect: TimedPhase,
    /// The TLS handshake over TCP.
    pub tls_handshake: TimedPhase,
    /// The QUIC handshake phase.
    pub quic_handshake: TimedPhase,
    /// The kernel's receive time of the last data read from the connection's socket.
    pub last_arrival: Arc<LastArrival>,
    pub(super) hellos: Hellos,
    /// The reason for unsent packets of a QUIC handshake.
    pub(super) unsent: Arc<SendFailure>,
    peer_leaf: OnceLock<CertificateDer<'static>>,
    handshake: OnceLock<Handshake>,
    handshake_ended: Notify,
    alpn_mismatch: OnceLock<AlpnMismatch>,
    quic_version: OnceLock<u32>,
    quic_retry: OnceLock<()>,
    path: OnceLock<PathProbe>,
    peer_address: OnceLock<SocketAddr>,
}

impl SetupLog {
    /// Returns the negotiated parameters. `None` before the end of the handshake or without a
    /// handshake.
    pub fn handshake(&self) -> Option<&Handshake> {
        self.handshake.get()
    }

    /// Stores the negotiated parameters; only the first call has an effect.
    pub fn set_handshake(&self, handshake: impl FnOnce() -> Handshake) {
        self.handshake.get_or_init(handshake);
        self.handshake_ended.notify_waiters();
    }

    /// Returns the ALPN mismatch of a handshake ended without the connection's required protocol.
    pub(super) fn alpn_mismatch(&self) -> Option<&AlpnMismatch> {
        self.alpn_mismatch.get()
    }

    pub(super) fn set_alpn_mismatch(&self, mismatch: AlpnMismatch) {
        self.alpn_mismatch.get_or_init(|| mismatch);
    }

    /// Returns the server's certificate over TCP; in a resumed handshake, the certificate of the
    /// ticket's session. `None` before the end of the handshake.
    pub fn peer_leaf(&self) -> Option<&CertificateDer<'static>> {
        self.peer_leaf.get()
    }

    pub(super) fn set_peer_leaf(&self, leaf: CertificateDer<'static>) {
        self.peer_leaf.get_or_init(|| leaf);
    }

    /// Resolves at the end of the handshake; never after a failed handshake.
    pub async fn handshake_ended(&self) {
        loop {
            let ended = self.handshake_ended.notified();
            if self.handshake.get().is_some() {
                return;
            }
            ended.await;
        }
    }

    /// Returns the end of the handshake, over TCP or in QUIC.
    pub fn handshake_end_ns(&self) -> Option<u64> {
        self.tls_handshake.end_ns().or(self.quic_handshake.end_ns())
    }

    /// Returns the QUIC version in use. Quinn keeps its first version or gives up.
    pub fn quic_version(&self) -> Option<u32> {
        self.quic_version.get().copied()
    }

    pub(super) fn set_quic_version(&self, version: u32) {
        self.quic_version.get_or_init(|| version);
    }

    /// Returns true when the server requested a second Initial by a Retry packet (RFC 9000 section
    /// 8.1.2). `None` while a Retry is still possible, and without QUIC.
    pub fn quic_retry(&self) -> Option<bool> {
        let is_retried = self.quic_retry.get().is_some();
        (is_retried || self.quic_handshake.end_ns().is_some()).then_some(is_retried)
    }

    pub(super) fn set_quic_retry(&self) {
        self.quic_retry.get_or_init(|| ());
    }

    /// Returns the facts about the hellos so far. The call asks the kernel: do not use inside a
    /// measured time.
    pub fn hello_facts(&self) -> HelloFacts {
        if let Some(bytes) = self.path_facts().and_then(|path| path.segment_bytes) {
            self.hellos.set_segment_bytes(bytes);
        }
        self.hellos.facts()
    }

    /// Returns the facts about the connection's path now, or at the end of the connection. The call
    /// asks the kernel: do not use inside a measured time. `None` before there is a connection.
    pub fn path_facts(&self) -> Option<PathFacts> {
        self.path.get().and_then(PathProbe::facts)
    }

    /// Returns the end of the TCP connection, for the task closing the connection. `None` with
    /// QUIC, and for a closed socket.
    pub fn tcp_end(&self) -> Option<TcpEnd> {
        self.path.get()?.tcp_end()
    }

    pub(super) fn set_path(&self, path: PathProbe) {
        self.path.get_or_init(|| path);
    }

    /// Returns the peer's address; `None` while the address is unknown.
    pub fn peer_address(&self) -> Option<SocketAddr> {
        self.peer_address.get().copied()
    }

    /// Stores the peer's address; only the first call has an effect.
    pub fn set_peer_address(&self, address: SocketAddr) {
        self.peer_address.get_or_init(|| address);
    }

    /// Returns true when the server refused offered early data.
    pub fn early_data_was_rejected(&self) -> bool {
        self.handshake()
            .is_some_and(|handshake| handshake.early_data_accepted == Some(false))
    }

    /// Returns true when the handshake has ended without refused early data.
    pub fn is_past_early_data(&self) -> bool {
        self.handshake().is_some() && !self.early_data_was_rejected()
    }

    /// Returns the failure for a deadline at this moment.
    pub fn failure_at_deadline(&self) -> Failure {
        let is_connecting = self.path.get().is_some_and(PathProbe::is_connecting);
        if self.bootstrap.is_under_way() {
            Failure::BootstrapFailed
        } else if is_connecting || self.tcp_connect.is_under_way() {
            Failure::TcpConnectTimeout
        } else if self.tls_handshake.is_under_way() {
            Failure::TlsHandshakeTimeout
        } else if self.quic_handshake.is_under_way() {
            match self.unsent.reason() {
                Some(_) => Failure::QuicHandshakeUnreachable,
                None => Failure::QuicHandshakeTimeout,
            }
        } else {
            Failure::QueryTimeout
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_keeps_its_first_instants() {
        let phase = TimedPhase::default();
        assert_eq!((phase.start_ns(), phase.end_ns()), (None, None));
        phase.begin();
        assert!(phase.is_under_way());
        let first = phase.start_ns();
        phase.begin();
        phase.finish();
        assert_eq!(phase.start_ns(), first);
        assert!(phase.end_ns() >= first && !phase.is_under_way());
        let end = phase.end_ns();
        phase.resume();
        assert!(phase.is_under_way());
        phase.finish();
        assert!(phase.start_ns() == first && phase.end_ns() >= end);
        phase.forget();
        assert_eq!((phase.start_ns(), phase.end_ns()), (None, None));
        phase.begin();
        assert!(phase.start_ns() >= end && phase.is_under_way());
    }

    #[test]
    fn a_deadline_names_the_phase_it_cut_off() {
        let log = SetupLog::default();
        assert_eq!(log.failure_at_deadline(), Failure::QueryTimeout);
        log.bootstrap.begin();
        assert_eq!(log.failure_at_deadline(), Failure::BootstrapFailed);
        log.bootstrap.finish();
        log.tcp_connect.begin();
        assert_eq!(log.failure_at_deadline(), Failure::TcpConnectTimeout);
        log.tcp_connect.finish();
        log.tls_handshake.begin();
        assert_eq!(log.failure_at_deadline(), Failure::TlsHandshakeTimeout);
        log.tls_handshake.finish();
        assert_eq!(log.failure_at_deadline(), Failure::QueryTimeout);
    }

    #[test]
    fn accepted_early_data_makes_zero_rtt() {
        let mut handshake = Handshake {
            alpn: None,
            tls_version: None,
            cipher_suite: None,
            resumed: true,
            early_data_accepted: Some(true),
        };
        assert_eq!(handshake.mode(), HandshakeMode::ZeroRtt);
        handshake.early_data_accepted = Some(false);
        assert_eq!(handshake.mode(), HandshakeMode::Resumed);
        handshake.resumed = false;
        assert_eq!(handshake.mode(), HandshakeMode::Full);
    }
}
