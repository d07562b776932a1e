//! Checks a server's certificate by more, or less, than the authorities: public keys it must have
//! (`--pin`), certificates that must be in the chain (DNS stamps), or no authority at all
//! (`--insecure`). Not for: the usual check by authorities alone; that is rustls' own.

use super::pinning::Sha256;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, Error, OtherError, SignatureScheme};
use std::fmt;
use std::sync::Arc;

/// One way of checking. The handshake's signature is always verified: a pinned key that the server
/// cannot use proves nothing.
#[derive(Debug)]
pub(super) struct CertificateCheck {
    /// `None`: whoever signed the certificate, for whatever name and time.
    pub authorities: Option<Arc<WebPkiServerVerifier>>,
    /// The leaf's public key must be one of them, unless there are none.
    pub pins: Vec<Sha256>,
    /// One certificate the server sends must be one of them, unless there are none.
    pub certificate_hashes: Vec<Sha256>,
    /// Of the handshake's signature.
    pub signature_algorithms: WebPkiSupportedAlgorithms,
}

/// Why a certificate the authorities would do for is not accepted.
#[derive(thiserror::Error)]
enum Mismatch {
    #[error("its public key is {}, which is not pinned", .0.map_or("unreadable".to_owned(), |key| key.to_string()))]
    PublicKey(Option<Sha256>),
    #[error("no certificate of its chain has a hash the stamp gives")]
    Chain,
}

/// rustls shows other people's errors by their `Debug`, to people.
impl fmt::Debug for Mismatch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl From<Mismatch> for Error {
    fn from(mismatch: Mismatch) -> Self {
        CertificateError::Other(OtherError(Arc::new(mismatch))).into()
    }
}

impl CertificateCheck {
    fn check_pins(&self, leaf: &CertificateDer<'_>) -> Result<(), Mismatch> {
        if self.pins.is_empty() {
            return Ok(());
        }
        match Sha256::of_public_key(leaf) {
            Some(key) if self.pins.contains(&key) => Ok(()),
            other => Err(Mismatch::PublicKey(other)),
        }
    }

    fn check_chain<'a>(
        &self,
        mut chain: impl Iterator<Item = &'a CertificateDer<'a>>,
    ) -> Result<(), Mismatch> {
        let is_given = |certificate| {
            Sha256::of_signed_part(certificate)
                .is_some_and(|hash| self.certificate_hashes.contains(&hash))
        };
        if self.certificate_hashes.is_empty() || chain.any(is_given) {
            Ok(())
        } else {
            Err(Mismatch::Chain)
        }
    }
}

impl ServerCertVerifier for CertificateCheck {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if let Some(authorities) = &self.authorities {
            authorities.verify_server_cert(
                end_entity,
                intermediates,
                server_name,
                ocsp_response,
                now,
            )?;
        }
        self.check_chain(std::iter::once(end_entity).chain(intermediates))?;
        self.check_pins(end_entity)?;
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
    use rustls::crypto::ring;

    fn certificate() -> CertificateDer<'static> {
        let key = rcgen::KeyPair::generate().unwrap();
        let parameters = rcgen::CertificateParams::new(vec!["dns.example".to_owned()]).unwrap();
        parameters.self_signed(&key).unwrap().der().clone()
    }

    fn verify(
        check: &CertificateCheck,
        leaf: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
    ) -> Result<(), Error> {
        let name = ServerName::try_from("other.example").unwrap();
        check
            .verify_server_cert(leaf, intermediates, &name, &[], UnixTime::now())
            .map(|_| ())
    }

    fn check(pins: Vec<Sha256>, certificate_hashes: Vec<Sha256>) -> CertificateCheck {
        CertificateCheck {
            authorities: None,
            pins,
            certificate_hashes,
            signature_algorithms: ring::default_provider().signature_verification_algorithms,
        }
    }

    #[test]
    fn only_the_leaf_is_pinned() {
        let (leaf, other) = (certificate(), certificate());
        let pin = |certificate| Sha256::of_public_key(certificate).unwrap();
        let both = check(vec![pin(&other), pin(&leaf)], Vec::new());
        verify(&both, &leaf, &[]).unwrap();
        let wrong = check(vec![pin(&other)], Vec::new());
        let error = verify(&wrong, &leaf, std::slice::from_ref(&other)).unwrap_err();
        let says = format!("its public key is {}, which is not pinned", pin(&leaf));
        assert!(error.to_string().contains(&says), "{error}");
        verify(&check(Vec::new(), Vec::new()), &leaf, &[]).unwrap();
    }

    #[test]
    fn a_hash_may_be_of_any_certificate_sent() {
        let (leaf, issuer, stranger) = (certificate(), certificate(), certificate());
        let of = |certificate| vec![Sha256::of_signed_part(certificate).unwrap()];
        let chain = [issuer.clone()];
        verify(&check(Vec::new(), of(&leaf)), &leaf, &chain).unwrap();
        verify(&check(Vec::new(), of(&issuer)), &leaf, &chain).unwrap();
        let error = verify(&check(Vec::new(), of(&stranger)), &leaf, &chain).unwrap_err();
        assert!(
            matches!(error, Error::InvalidCertificate(_))
                && error.to_string().contains("no certificate of its chain"),
            "{error}"
        );
    }
}
