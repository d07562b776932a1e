//! The log of one connection's set-up: when each phase began and ended and what the handshake
//! negotiated. Written where things happen, readable from outside at any time, so that a deadline
//! can tell which phase it cut off.
//! Not for: the exchange on the connection, but for when what it brought last arrived.

use super::handshake_failure::AlpnMismatch;
use super::path_facts::{PathFacts, PathProbe};
use super::tcp_end::TcpEnd;
use crate::clock::monotonic_ns;
use crate::hellos::Hellos;
use crate::receive_stamp::LastArrival;
use crate::socket::Unsent;
use resolab_record::{Failure, HandshakeMode, HelloFacts};
use rustls::pki_types::CertificateDer;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use tokio::sync::Notify;

/// A pair of instants, `CLOCK_MONOTONIC` nanoseconds, each set at most once unless the phase is
/// resumed or forgotten; 0 stands for not yet.
#[derive(Debug, Default)]
pub struct Phase {
    start_ns: AtomicU64,
    end_ns: AtomicU64,
}

impl Phase {
    /// The phase begins now, unless it already did.
    pub fn begin(&self) {
        set_once(&self.start_ns);
    }

    /// The phase ends now, unless it already did.
    pub fn finish(&self) {
        set_once(&self.end_ns);
    }

    /// The phase ended at an instant just gone by, unless it already did.
    pub fn finish_at(&self, instant_ns: u64) {
        set_once_to(&self.end_ns, instant_ns);
    }

    /// The phase goes on and will end again: what ended was not the whole of it.
    pub fn resume(&self) {
        self.end_ns.store(0, Ordering::Release);
    }

    /// What was logged is no part of it: the phase has not begun.
    pub fn forget(&self) {
        self.start_ns.store(0, Ordering::Release);
        self.end_ns.store(0, Ordering::Release);
    }

    /// When it began; `None` if it did not occur.
    pub fn start_ns(&self) -> Option<u64> {
        at(&self.start_ns)
    }

    /// When it ended; `None` if it did not.
    pub fn end_ns(&self) -> Option<u64> {
        at(&self.end_ns)
    }

    /// Whether it began and has not ended.
    pub fn is_under_way(&self) -> bool {
        self.start_ns().is_some() && self.end_ns().is_none()
    }
}

fn set_once(instant_ns: &AtomicU64) {
    if at(instant_ns).is_none() {
        set_once_to(instant_ns, monotonic_ns());
    }
}

fn set_once_to(instant_ns: &AtomicU64, now_ns: u64) {
    let _ = instant_ns.compare_exchange(0, now_ns, Ordering::AcqRel, Ordering::Acquire);
}

fn at(instant_ns: &AtomicU64) -> Option<u64> {
    Some(instant_ns.load(Ordering::Acquire)).filter(|ns| *ns != 0)
}

/// What a finished handshake negotiated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handshake {
    /// ALPN, verbatim.
    pub alpn: Option<String>,
    /// `TLSv1_3` and the like.
    pub tls_version: Option<String>,
    /// Cipher suite's IANA name.
    pub cipher_suite: Option<String>,
    /// The server took a ticket.
    pub resumed: bool,
    /// Whether offered early data was accepted; `None` when none was offered.
    pub early_data_accepted: Option<bool>,
}

impl Handshake {
    /// What happened, for the record.
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
    /// Look-up of the peer's host name, where that is inside the clock.
    pub bootstrap: Phase,
    /// TCP connect.
    pub tcp_connect: Phase,
    /// TLS handshake over TCP.
    pub tls_handshake: Phase,
    /// QUIC handshake.
    pub quic_handshake: Phase,
    /// When the kernel received what was last read from the connection's socket.
    pub last_arrival: Arc<LastArrival>,
    pub(super) hellos: Hellos,
    /// Why packets of a QUIC handshake did not leave.
    pub(super) unsent: Arc<Unsent>,
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
    /// What was negotiated; `None` before the end of the handshake or without one.
    pub fn handshake(&self) -> Option<&Handshake> {
        self.handshake.get()
    }

    /// Remember what was negotiated; only the first time counts.
    pub fn set_handshake(&self, handshake: impl FnOnce() -> Handshake) {
        self.handshake.get_or_init(handshake);
        self.handshake_ended.notify_waiters();
    }

    /// That the handshake ended without the protocol that its connection needs.
    pub(super) fn alpn_mismatch(&self) -> Option<&AlpnMismatch> {
        self.alpn_mismatch.get()
    }

    pub(super) fn set_alpn_mismatch(&self, mismatch: AlpnMismatch) {
        self.alpn_mismatch.get_or_init(|| mismatch);
    }

    /// The server's certificate over TCP, that of the ticket in a resumed handshake; `None` before the
    /// end of the handshake.
    pub fn peer_leaf(&self) -> Option<&CertificateDer<'static>> {
        self.peer_leaf.get()
    }

    pub(super) fn set_peer_leaf(&self, leaf: CertificateDer<'static>) {
        self.peer_leaf.get_or_init(|| leaf);
    }

    /// Resolves when the handshake has ended; never where it fails.
    pub async fn handshake_ended(&self) {
        loop {
            let ended = self.handshake_ended.notified();
            if self.handshake.get().is_some() {
                return;
            }
            ended.await;
        }
    }

    /// When the handshake ended, over TCP or in QUIC.
    pub fn handshake_end_ns(&self) -> Option<u64> {
        self.tls_handshake.end_ns().or(self.quic_handshake.end_ns())
    }

    /// QUIC version in use; quinn speaks the one it began with or gives up.
    pub fn quic_version(&self) -> Option<u32> {
        self.quic_version.get().copied()
    }

    pub(super) fn set_quic_version(&self, version: u32) {
        self.quic_version.get_or_init(|| version);
    }

    /// Whether the server asked for a second Initial by a Retry packet (RFC 9000 section 8.1.2);
    /// `None` while it still may, and without QUIC.
    pub fn quic_retry(&self) -> Option<bool> {
        let is_retried = self.quic_retry.get().is_some();
        (is_retried || self.quic_handshake.end_ns().is_some()).then_some(is_retried)
    }

    pub(super) fn set_quic_retry(&self) {
        self.quic_retry.get_or_init(|| ());
    }

    /// What its hellos were, so far; asks the kernel, so not for inside a clock.
    pub fn hello_facts(&self) -> HelloFacts {
        if let Some(bytes) = self.path_facts().and_then(|path| path.segment_bytes) {
            self.hellos.set_segment_bytes(bytes);
        }
        self.hellos.facts()
    }

    /// What is known of the connection's path now, or was when it ended; asks the kernel, so not
    /// for inside a clock. `None` before there is a connection.
    pub fn path_facts(&self) -> Option<PathFacts> {
        self.path.get().and_then(PathProbe::facts)
    }

    /// The end of its TCP connection, for who ends it; `None` with QUIC, and where the socket was closed.
    pub fn tcp_end(&self) -> Option<TcpEnd> {
        self.path.get()?.tcp_end()
    }

    pub(super) fn set_path(&self, path: PathProbe) {
        self.path.get_or_init(|| path);
    }

    /// The peer's address; `None` until it is known.
    pub fn peer_address(&self) -> Option<SocketAddr> {
        self.peer_address.get().copied()
    }

    /// Remember the peer's address; only the first time counts.
    pub fn set_peer_address(&self, address: SocketAddr) {
        self.peer_address.get_or_init(|| address);
    }

    /// Whether early data was offered and refused.
    pub fn early_data_was_rejected(&self) -> bool {
        self.handshake()
            .is_some_and(|handshake| handshake.early_data_accepted == Some(false))
    }

    /// Whether the handshake has ended and no early data was refused.
    pub fn is_past_early_data(&self) -> bool {
        self.handshake().is_some() && !self.early_data_was_rejected()
    }

    /// The failure a deadline means at this moment.
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
        let phase = Phase::default();
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
