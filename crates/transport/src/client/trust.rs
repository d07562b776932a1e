//! The certificate authorities a client trusts, loaded before any clock starts (reading the
//! system's takes about 10 ms).

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::{self, PemObject};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;

/// Why there are no trust anchors.
#[derive(Debug, Error)]
pub enum TrustError {
    /// The PEM file cannot be read or is none.
    #[error("read certificate authority {path}: {source}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What was wrong.
        source: pem::Error,
    },
    /// A certificate in the file cannot be a trust anchor.
    #[error("use certificate authority {path}: {source}")]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What was wrong.
        source: rustls::Error,
    },
    /// Nothing to trust.
    #[error("find a certificate authority in {0}")]
    Empty(String),
}

/// The authorities of a PEM file, or the system's.
pub fn load_roots(ca_file: Option<&Path>) -> Result<Arc<RootCertStore>, TrustError> {
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
