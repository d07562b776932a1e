//! Checks a server's certificate by the authorities, or none (`--insecure`), by public keys it must
//! have (`--pin`), and by certificates that must be in the chain (DNS stamps).
//! Not for: the handshake's signature, which `verified_chain` has verified every time.

use super::pinning::Sha256;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, Error, OtherError};
use std::fmt;
use std::sync::Arc;

/// What a chain must stand up to.
#[derive(Debug)]
pub(super) struct CertificateCheck {
    /// `None`: whoever signed the certificate, for whatever name and time.
    pub authorities: Option<Arc<WebPkiServerVerifier>>,
    /// The leaf's public key must be one of them, unless there are none.
    pub pins: Vec<Sha256>,
    /// One certificate the server sends must be one of them, unless there are none.
    pub certificate_hashes: Vec<Sha256>,
}

/// Why a certificate the authorities would do for is not accepted.
#[derive(thiserror::Error)]
enum Mismatch {
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

/// Self-signed certificates as `openssl req -x509` makes them are authorities' own.
fn way_out(key: Option<&Sha256>) -> String {
    let pin = key.map_or_else(String::new, |key| format!(" --pin {key}"));
    format!("of a self-signed one trust the key: --insecure{pin}")
}

/// Of the authorities' verifier, which says so by its `Debug` alone.
const AUTHORITY_AS_SERVER: &str = "CaUsedAsEndEntity";

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

    /// Whether the chain is good for the name now.
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
                .map_err(|error| explained(error, end_entity))?;
        }
        self.check_chain(std::iter::once(end_entity).chain(intermediates))?;
        self.check_pins(end_entity)?;
        Ok(())
    }
}

fn explained(error: Error, leaf: &CertificateDer<'_>) -> Error {
    if let Error::InvalidCertificate(CertificateError::Other(inner)) = &error
        && inner.0.to_string() == AUTHORITY_AS_SERVER
    {
        return Mismatch::Authority(Sha256::of_public_key(leaf)).into();
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
