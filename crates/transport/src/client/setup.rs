//! The log of one connection's set-up: when each phase began and ended and what the handshake
//! negotiated. Written where things happen, readable from outside at any time, so that a deadline
//! can tell which phase it cut off.
//! Not for: the exchange on the connection.

use crate::clock::monotonic_ns;
use resolab_record::{Failure, HandshakeMode};
use std::sync::OnceLock;

/// A pair of instants, `CLOCK_MONOTONIC` nanoseconds, each set at most once.
#[derive(Debug, Default)]
pub struct Phase {
    start_ns: OnceLock<u64>,
    end_ns: OnceLock<u64>,
}

impl Phase {
    /// The phase begins now, unless it already did.
    pub fn begin(&self) {
        self.start_ns.get_or_init(monotonic_ns);
    }

    /// The phase ends now, unless it already did.
    pub fn finish(&self) {
        self.end_ns.get_or_init(monotonic_ns);
    }

    /// When it began; `None` if it did not occur.
    pub fn start_ns(&self) -> Option<u64> {
        self.start_ns.get().copied()
    }

    /// When it ended; `None` if it did not.
    pub fn end_ns(&self) -> Option<u64> {
        self.end_ns.get().copied()
    }

    /// Whether it began and has not ended.
    pub fn is_under_way(&self) -> bool {
        self.start_ns().is_some() && self.end_ns().is_none()
    }
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
    /// TCP connect.
    pub tcp_connect: Phase,
    /// TLS handshake over TCP.
    pub tls_handshake: Phase,
    /// QUIC handshake.
    pub quic_handshake: Phase,
    handshake: OnceLock<Handshake>,
}

impl SetupLog {
    /// What was negotiated; `None` before the end of the handshake or without one.
    pub fn handshake(&self) -> Option<&Handshake> {
        self.handshake.get()
    }

    /// Remember what was negotiated; only the first time counts.
    pub fn set_handshake(&self, handshake: impl FnOnce() -> Handshake) {
        self.handshake.get_or_init(handshake);
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
        if self.tcp_connect.is_under_way() {
            Failure::TcpConnectTimeout
        } else if self.tls_handshake.is_under_way() {
            Failure::TlsHandshakeTimeout
        } else if self.quic_handshake.is_under_way() {
            Failure::QuicHandshakeTimeout
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
    }

    #[test]
    fn a_deadline_names_the_phase_it_cut_off() {
        let log = SetupLog::default();
        assert_eq!(log.failure_at_deadline(), Failure::QueryTimeout);
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
