//! Classifies failed TLS handshakes, with words for people. Not for: QUIC's own reasons, nor for
//! the end of a connection after the handshake.

use super::failure::MeasuredFailure;
use resolab_record::Failure;
use rustls::{AlertDescription, CertificateError, Error};
use std::io::{self, ErrorKind};
use thiserror::Error;

/// The text of rustls for a bad certificate. The corresponding QUIC alert can also have other
/// meanings.
pub(super) const CERTIFICATE_REASON: &str = "invalid peer certificate";
/// The hint for a handshake ended by the server without a reason. Servers with TLS 1.2 alone end
/// handshakes in this manner.
const OFFER: &str =
    "offered is TLS 1.3 alone, with certificates of ECDSA P-256 or P-384, Ed25519 or RSA";

/// The handshake ended, and the server had not chosen the offered protocol.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "the server did not choose {offered}, which it was offered by ALPN; it chose {}",
    chosen.as_deref().unwrap_or("nothing")
)]
pub struct AlpnMismatch {
    /// The ALPN identifier offered by the client.
    pub offered: String,
    /// The ALPN identifier chosen by the server.
    pub chosen: Option<String>,
}

/// Classifies an error of a stream during its TLS handshake.
pub fn handshake_failure(error: &io::Error) -> MeasuredFailure {
    let inner = error.get_ref();
    if let Some(mismatch) = inner.and_then(|inner| inner.downcast_ref::<AlpnMismatch>()) {
        return MeasuredFailure::new(Failure::TlsAlpnMismatch, mismatch);
    }
    let tls = inner.and_then(|inner| inner.downcast_ref::<Error>());
    let failure = match tls {
        Some(Error::InvalidCertificate(_)) => Failure::TlsCertificateInvalid,
        // By servers that have protocols, and none in common (RFC 7301 section 3.2).
        Some(Error::AlertReceived(AlertDescription::NoApplicationProtocol)) => {
            Failure::TlsAlpnMismatch
        }
        _ => Failure::TlsHandshakeFailed,
    };
    if ends_without_reason(error, tls) {
        return MeasuredFailure::new(failure, format_args!("{error}; {OFFER}"));
    }
    MeasuredFailure::new(failure, tls.map_or_else(|| error.to_string(), tls_text))
}

/// Returns true when the server found no common parameters, or may have found none. Many servers
/// close the connection in this case.
fn ends_without_reason(error: &io::Error, tls: Option<&Error>) -> bool {
    match tls {
        None => matches!(
            error.kind(),
            ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe
        ),
        Some(Error::PeerIncompatible(_)) => true,
        Some(Error::AlertReceived(alert)) => matches!(
            alert,
            AlertDescription::ProtocolVersion
                | AlertDescription::HandshakeFailure
                | AlertDescription::InsufficientSecurity
        ),
        Some(_) => false,
    }
}

/// Returns the text of a rustls error, with the words of the inner error.
fn tls_text(error: &Error) -> String {
    if let Error::InvalidCertificate(CertificateError::Other(inner)) = error {
        return format!("{CERTIFICATE_REASON}: {}", inner.0);
    }
    error.to_string()
}

/// Returns the inner error's words from an error already in text form, as QUIC reports errors.
pub(super) fn unwrap_reason(reason: &str) -> String {
    let inner = reason
        .split_once("Other(OtherError(")
        .and_then(|(before, inner)| Some((before, inner.strip_suffix("))")?)));
    inner.map_or_else(
        || reason.to_owned(),
        |(before, inner)| format!("{before}{inner}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::{OtherError, PeerIncompatible};
    use std::sync::Arc;

    fn failure(error: Error) -> MeasuredFailure {
        handshake_failure(&io::Error::new(ErrorKind::InvalidData, error))
    }

    #[test]
    fn what_was_offered_is_said_where_the_server_says_nothing() {
        for error in [
            io::Error::new(ErrorKind::UnexpectedEof, "tls handshake eof"),
            io::Error::from_raw_os_error(libc::ECONNRESET),
        ] {
            let failure = handshake_failure(&error);
            assert_eq!(failure.failure, Failure::TlsHandshakeFailed);
            assert!(failure.detail.contains("TLS 1.3 alone"), "{failure}");
        }
        for error in [
            Error::AlertReceived(AlertDescription::ProtocolVersion),
            Error::AlertReceived(AlertDescription::HandshakeFailure),
            Error::PeerIncompatible(PeerIncompatible::ServerDoesNotSupportTls12Or13),
        ] {
            assert!(failure(error).detail.contains("TLS 1.3 alone"));
        }
        let refused = failure(Error::AlertReceived(AlertDescription::UnknownCA));
        assert!(!refused.detail.contains("TLS 1.3"), "{refused}");
    }

    #[test]
    fn reasons_are_in_their_own_words() {
        let inner = AlpnMismatch {
            offered: "h2".to_owned(),
            chosen: None,
        };
        let other = CertificateError::Other(OtherError(Arc::new(inner.clone())));
        let failure = failure(Error::InvalidCertificate(other));
        assert_eq!(failure.failure, Failure::TlsCertificateInvalid);
        assert_eq!(failure.detail, format!("{CERTIFICATE_REASON}: {inner}"));
        assert_eq!(
            unwrap_reason("invalid peer certificate: Other(OtherError(its key (ours) is new))"),
            "invalid peer certificate: its key (ours) is new"
        );
        assert_eq!(unwrap_reason("tls eof"), "tls eof");
    }

    #[test]
    fn a_protocol_that_was_not_chosen_is_a_class_of_its_own() {
        let mismatch = AlpnMismatch {
            offered: "h2".to_owned(),
            chosen: Some("http/1.1".to_owned()),
        };
        let chosen = handshake_failure(&io::Error::other(mismatch));
        assert_eq!(chosen.failure, Failure::TlsAlpnMismatch);
        assert!(chosen.detail.ends_with("it chose http/1.1"), "{chosen}");
        let refused = failure(Error::AlertReceived(
            AlertDescription::NoApplicationProtocol,
        ));
        assert_eq!(refused.failure, Failure::TlsAlpnMismatch);
    }
}
