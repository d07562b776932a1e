//! Checks a server's certificate: by authorities unless `--insecure` is set, by pinned public keys
//! (`--pin`), and by certificates required in the chain (DNS stamps).
//! Not for: the handshake's signature. `verified_chain` verifies the signature every time.

use super::pinning::Sha256;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, Error, OtherError};
use std::fmt;
use std::sync::Arc;

/// The requirements for a certificate chain.
#[derive(Debug)]
pub(super) struct CertificateCheck {
    /// The accepted authorities. `None` when any signer, name and validity period is accepted.
    pub authorities: Option<Arc<WebPkiServerVerifier>>,
    /// The accepted public keys of the leaf; when the list is empty, any key.
    pub pins: Vec<Sha256>,
    /// The accepted hashes: a sent certificate must have a hash of the list, unless the list is
    /// empty.
    pub certificate_hashes: Vec<Sha256>,
}

/// The reasons to reject a certificate despite a valid signature.
#[derive(thiserror::Error)]
enum CertificateMismatch {
    #[error("its public key is {}, which is not pinned", .0.map_or("unreadable".to_owned(), |key| key.to_string()))]
    PublicKey(Option<Sha256>),
    #[error("no certificate of its chain has a hash the stamp gives")]
    Chain,
    #[error(
        "it is a certificate authority's own, which no server may use (RFC 5280 section 4.2.1.9); {}",
        way_out(.0.as_ref())
    )]
    Authority(Option<Sha256>),
}

/// Returns the advice for self-signed certificates. Certificates made by `openssl req -x509` are
/// authorities themselves.
fn way_out(key: Option<&Sha256>) -> String {
    let pin = key.map_or_else(String::new, |key| format!(" --pin {key}"));
    format!("of a self-signed one trust the key: --insecure{pin}")
}

/// The error of the authorities' verifier for an authority's own certificate as server certificate.
/// The verifier reports the error only by its `Debug` text.
const AUTHORITY_AS_SERVER: &str = "CaUsedAsEndEntity";

/// rustls prints foreign errors by their `Debug` text, so `Debug` must be readable for people.
impl fmt::Debug for CertificateMismatch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl From<CertificateMismatch> for Error {
    fn from(mismatch: CertificateMismatch) -> Self {
        CertificateError::Other(OtherError(Arc::new(mismatch))).into()
    }
}

impl CertificateCheck {
    fn check_pins(&self, leaf: &CertificateDer<'_>) -> Result<(), CertificateMismatch> {
        if self.pins.is_empty() {
            return Ok(());
        }
        match Sha256::from_public_key(leaf) {
            Some(key) if self.pins.contains(&key) => Ok(()),
            other => Err(CertificateMismatch::PublicKey(other)),
        }
    }

    fn check_chain<'a>(
        &self,
        mut chain: impl Iterator<Item = &'a CertificateDer<'a>>,
    ) -> Result<(), CertificateMismatch> {
        let is_given = |certificate| {
            Sha256::from_signed_part(certificate)
                .is_some_and(|hash| self.certificate_hashes.contains(&hash))
        };
        if self.certificate_hashes.is_empty() || chain.any(is_given) {
            Ok(())
        } else {
            Err(CertificateMismatch::Chain)
        }
    }

    /// Checks a chain for a name at the time `now`. Errors when the chain does not meet a
    /// requirement.
    pub fn check(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<(), Error> {
        if let Some(authorities) = &self.authorities {
            authorities
                .verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
                .map_err(|error| explain(error, end_entity))?;
        }
        self.check_chain(std::iter::once(end_entity).chain(intermediates))?;
        self.check_pins(end_entity)?;
        Ok(())
    }
}

fn explain(error: Error, leaf: &CertificateDer<'_>) -> Error {
    if let Error::InvalidCertificate(CertificateError::Other(inner)) = &error
        && inner.0.to_string() == AUTHORITY_AS_SERVER
    {
        return CertificateMismatch::Authority(Sha256::from_public_key(leaf)).into();
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

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
        check.check(leaf, intermediates, &name, &[], UnixTime::now())
    }

    fn check(pins: Vec<Sha256>, certificate_hashes: Vec<Sha256>) -> CertificateCheck {
        CertificateCheck {
            authorities: None,
            pins,
            certificate_hashes,
        }
    }

    #[test]
    fn only_the_leaf_is_pinned() {
        let (leaf, other) = (certificate(), certificate());
        let pin = |certificate| Sha256::from_public_key(certificate).unwrap();
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
        let of = |certificate| vec![Sha256::from_signed_part(certificate).unwrap()];
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
