//! The trust of a client: the certificate authorities, and pins beside or instead of the
//! authorities. The authorities are loaded before any measurement, because reading the system's
//! takes about 10 ms.

use super::certificate_check::CertificateCheck;
use super::pinning::Sha256;
use super::verified_chain::RememberingCheck;
use rustls::RootCertStore;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::{self, PemObject};
use rustls::server::VerifierBuilderError;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;

/// The reasons why there are no trust anchors.
#[derive(Debug, Error)]
pub enum TrustError {
    /// The file cannot be read, or is not PEM.
    #[error("read certificate authority {path}: {source}")]
    Unreadable {
        /// The path of the PEM file.
        path: PathBuf,
        /// The error of the PEM reader.
        source: pem::Error,
    },
    /// A certificate in the file cannot be a trust anchor.
    #[error("use certificate authority {path}: {source}")]
    Unusable {
        /// The path of the PEM file.
        path: PathBuf,
        /// The error of rustls.
        source: rustls::Error,
    },
    /// The source has no trusted certificate.
    #[error("find a certificate authority in {0}")]
    Empty(String),
}

/// The requirements for a server's certificate.
#[derive(Debug, Clone)]
pub struct Trust {
    /// The trusted authorities. `None` when signer, name and validity period are not checked.
    authorities: Option<Arc<RootCertStore>>,
    pins: Vec<Sha256>,
    certificate_hashes: Vec<Sha256>,
}

impl Trust {
    /// Trusts certificates signed by an authority of a PEM file, or of the system. With `pins`, the
    /// public key must be in `pins`. With `certificate_hashes`, the hash of a certificate of the
    /// chain must be in the list.
    pub fn from_authorities(
        ca_file: Option<&Path>,
        pins: Vec<Sha256>,
        certificate_hashes: Vec<Sha256>,
    ) -> Result<Self, TrustError> {
        Ok(Self {
            authorities: Some(load_roots(ca_file)?),
            pins,
            certificate_hashes,
        })
    }

    /// Trusts only public keys in `pins`; with empty `pins`, nothing is checked.
    pub fn from_pins(pins: Vec<Sha256>) -> Self {
        Self {
            authorities: None,
            pins,
            certificate_hashes: Vec::new(),
        }
    }

    /// Returns true when a server's certificate is checked.
    pub fn is_checked(&self) -> bool {
        self.authorities.is_some() || !self.pins.is_empty()
    }

    /// Returns the verifier for rustls. The verifier remembers the last valid chain.
    pub(super) fn verifier(
        &self,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Arc<dyn ServerCertVerifier>, VerifierBuilderError> {
        let build = |roots: &Arc<RootCertStore>| {
            let (roots, provider) = (Arc::clone(roots), Arc::clone(provider));
            WebPkiServerVerifier::builder_with_provider(roots, provider).build()
        };
        let check = CertificateCheck {
            authorities: self.authorities.as_ref().map(build).transpose()?,
            pins: self.pins.clone(),
            certificate_hashes: self.certificate_hashes.clone(),
        };
        let algorithms = provider.signature_verification_algorithms;
        Ok(Arc::new(RememberingCheck::new(check, algorithms)))
    }
}

/// Loads the authorities of a PEM file, or the system's.
fn load_roots(ca_file: Option<&Path>) -> Result<Arc<RootCertStore>, TrustError> {
    let (roots, place) = match ca_file {
        Some(path) => (file_roots(path)?, path.display().to_string()),
        None => (
            system_roots(),
            "the system's certificate store: give one with --ca".to_owned(),
        ),
    };
    if roots.is_empty() {
        Err(TrustError::Empty(place))
    } else {
        Ok(Arc::new(roots))
    }
}

fn file_roots(path: &Path) -> Result<RootCertStore, TrustError> {
    let unreadable = |source| TrustError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(unreadable)? {
        roots
            .add(certificate.map_err(unreadable)?)
            .map_err(|source| TrustError::Unusable {
                path: path.to_owned(),
                source,
            })?;
    }
    Ok(roots)
}

fn system_roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    roots
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_pem_authority() {
        let key = rcgen::KeyPair::generate().unwrap();
        let mut parameters = rcgen::CertificateParams::new(Vec::new()).unwrap();
        parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let authority = parameters.self_signed(&key).unwrap();
        let path = std::env::temp_dir().join(format!("trust-{}.pem", std::process::id()));
        std::fs::write(&path, authority.pem()).unwrap();
        assert_eq!(load_roots(Some(&path)).unwrap().len(), 1);
        std::fs::write(&path, "no certificate").unwrap();
        let error = load_roots(Some(&path)).unwrap_err().to_string();
        assert!(error.contains("find a certificate authority in"), "{error}");
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(
            load_roots(Some(&path)),
            Err(TrustError::Unreadable { .. })
        ));
    }
}
