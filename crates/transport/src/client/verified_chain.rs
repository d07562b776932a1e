//! Remembers the last verified certificate chain, as browsers do. A process with a thousand new
//! connections to one resolver gains nothing from checking the same bytes a thousand times. The
//! check takes a fifth of the processor time of a full handshake.
//! Not for: the handshake's signature, verified every time.

use super::certificate_check::CertificateCheck;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, Error, SignatureScheme};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The time during which a chain stays verified, in s. A certificate expiring meanwhile is accepted
/// until the end of this time.
const REMEMBERED_S: u64 = Duration::from_mins(30).as_secs();

/// Verifies handshakes, and checks unknown chains. The handshake's signature is always verified: a
/// pinned key proves nothing unless the server can use the key.
#[derive(Debug)]
pub(super) struct RememberingCheck {
    check: CertificateCheck,
    signature_algorithms: WebPkiSupportedAlgorithms,
    last: Mutex<Option<VerifiedChain>>,
}

/// A verified chain and the time of its check.
#[derive(Debug)]
struct VerifiedChain {
    certificates: Vec<CertificateDer<'static>>,
    server_name: ServerName<'static>,
    at: UnixTime,
}

impl VerifiedChain {
    fn is(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        now: UnixTime,
    ) -> bool {
        let age_s = now.as_secs().checked_sub(self.at.as_secs());
        age_s.is_some_and(|age_s| age_s <= REMEMBERED_S)
            && self.server_name == *server_name
            && self.certificates[0] == *end_entity
            && self.certificates[1..] == *intermediates
    }
}

impl RememberingCheck {
    /// Makes a verifier with a memory for the chains accepted by `check`.
    pub(super) fn new(
        check: CertificateCheck,
        signature_algorithms: WebPkiSupportedAlgorithms,
    ) -> Self {
        Self {
            check,
            signature_algorithms,
            last: Mutex::default(),
        }
    }
}

impl ServerCertVerifier for RememberingCheck {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let known = last
            .as_ref()
            .is_some_and(|chain| chain.is(end_entity, intermediates, server_name, now));
        if !known {
            *last = None;
            self.check
                .check(end_entity, intermediates, server_name, ocsp_response, now)?;
            let chain = std::iter::once(end_entity).chain(intermediates);
            *last = Some(VerifiedChain {
                certificates: chain
                    .map(|certificate| certificate.clone().into_owned())
                    .collect(),
                server_name: server_name.to_owned(),
                at: now,
            });
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.signature_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.signature_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.signature_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
    use rustls::RootCertStore;
    use rustls::client::WebPkiServerVerifier;
    use rustls::crypto::ring;
    use std::sync::Arc;

    struct TestAuthority {
        issuer: Issuer<'static, KeyPair>,
        certificate: CertificateDer<'static>,
    }

    impl TestAuthority {
        fn new() -> Self {
            let mut parameters = CertificateParams::new(Vec::new()).unwrap();
            parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            let key = KeyPair::generate().unwrap();
            let certificate = parameters.self_signed(&key).unwrap().der().clone();
            Self {
                issuer: Issuer::new(parameters, key),
                certificate,
            }
        }

        fn issue(&self, name: &str) -> CertificateDer<'static> {
            let key = KeyPair::generate().unwrap();
            let parameters = CertificateParams::new(vec![name.to_owned()]).unwrap();
            parameters
                .signed_by(&key, &self.issuer)
                .unwrap()
                .der()
                .clone()
        }

        fn check(&self) -> RememberingCheck {
            let mut roots = RootCertStore::empty();
            roots.add(self.certificate.clone()).unwrap();
            let provider = Arc::new(ring::default_provider());
            let algorithms = provider.signature_verification_algorithms;
            let authorities = WebPkiServerVerifier::builder_with_provider(roots.into(), provider);
            let check = CertificateCheck {
                authorities: Some(authorities.build().unwrap()),
                pins: Vec::new(),
                certificate_hashes: Vec::new(),
            };
            RememberingCheck::new(check, algorithms)
        }
    }

    fn accepts(
        check: &RememberingCheck,
        leaf: &CertificateDer<'_>,
        name: &'static str,
        at_s: u64,
    ) -> bool {
        let name = ServerName::try_from(name).unwrap();
        let now = UnixTime::since_unix_epoch(Duration::from_secs(at_s));
        check.verify_server_cert(leaf, &[], &name, &[], now).is_ok()
    }

    const NOW_S: u64 = 1_800_000_000;
    /// A time after the end of every certificate here (rcgen's default is the year 4096), in s.
    const LONG_AFTER_S: u64 = 80_000_000_000;

    #[test]
    fn a_chain_is_remembered_for_its_name_and_its_bytes_only() {
        let authority = TestAuthority::new();
        let (check, leaf) = (authority.check(), authority.issue("dns.example"));
        assert!(accepts(&check, &leaf, "dns.example", NOW_S));
        assert!(accepts(&check, &leaf, "dns.example", NOW_S + 1));
        assert!(!accepts(&check, &leaf, "other.example", NOW_S + 1));
        assert!(accepts(&check, &leaf, "dns.example", NOW_S + 1));
        let forged = TestAuthority::new().issue("dns.example");
        assert!(!accepts(&check, &forged, "dns.example", NOW_S + 1));
        let mut altered = leaf.to_vec();
        *altered.last_mut().unwrap() ^= 1;
        assert!(accepts(&check, &leaf, "dns.example", NOW_S + 1));
        assert!(!accepts(&check, &altered.into(), "dns.example", NOW_S + 1));
    }

    #[test]
    fn it_is_known_without_a_check_and_for_a_while() {
        let authority = TestAuthority::new();
        let leaf = authority.issue("dns.example");
        let check = authority.check();
        // Expired: refused when checked, so that accepting it shows that it was not.
        assert!(!accepts(&check, &leaf, "dns.example", LONG_AFTER_S));
        *check.last.lock().unwrap() = Some(VerifiedChain {
            certificates: vec![leaf.clone()],
            server_name: ServerName::try_from("dns.example").unwrap(),
            at: UnixTime::since_unix_epoch(Duration::from_secs(LONG_AFTER_S)),
        });
        assert!(accepts(
            &check,
            &leaf,
            "dns.example",
            LONG_AFTER_S + REMEMBERED_S
        ));
        // A clock that went back is no proof of youth.
        assert!(!accepts(&check, &leaf, "dns.example", LONG_AFTER_S - 1));
        assert!(!accepts(&check, &leaf, "dns.example", LONG_AFTER_S));
    }

    #[test]
    fn it_is_checked_again_when_it_was_long_ago() {
        let authority = TestAuthority::new();
        let leaf = authority.issue("dns.example");
        let check = authority.check();
        *check.last.lock().unwrap() = Some(VerifiedChain {
            certificates: vec![leaf.clone()],
            server_name: ServerName::try_from("dns.example").unwrap(),
            at: UnixTime::since_unix_epoch(Duration::from_secs(LONG_AFTER_S)),
        });
        let late_s = LONG_AFTER_S + REMEMBERED_S + 1;
        assert!(!accepts(&check, &leaf, "dns.example", late_s));
    }
}
