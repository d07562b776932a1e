//! Distinguishes full from resumed handshakes on a server, because the QUIC stack hides the kind. A
//! server signs in every full TLS 1.3 handshake (CertificateVerify, RFC 8446 section 4.4.3) and
//! never in a resumed handshake.
//!
//! For: one connection each. Not for: choosing certificates; the certificate is chosen before.

use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::{CertifiedKey, Signer, SigningKey};
use rustls::{Error, SignatureAlgorithm, SignatureScheme};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A certificate with a detector for signatures by its key.
#[derive(Debug)]
pub(super) struct WitnessedCertificate {
    certificate: Option<Arc<CertifiedKey>>,
    signed: Arc<AtomicBool>,
}

impl WitnessedCertificate {
    /// Wraps `certificate` with the detector. Without a certificate, the TLS stack refuses the
    /// client.
    pub(super) fn new(certificate: Option<&CertifiedKey>, signed: Arc<AtomicBool>) -> Self {
        let certificate = certificate.map(|inner| {
            let key = WitnessedKey {
                inner: Arc::clone(&inner.key),
                signed: Arc::clone(&signed),
            };
            Arc::new(CertifiedKey::new(inner.cert.clone(), Arc::new(key)))
        });
        Self {
            certificate,
            signed,
        }
    }

    /// Returns true when the key signed: the handshake is a full handshake.
    pub(super) fn signed(&self) -> bool {
        self.signed.load(Ordering::Relaxed)
    }
}

impl ResolvesServerCert for WitnessedCertificate {
    fn resolve(&self, _client_hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.certificate.clone()
    }
}

#[derive(Debug)]
struct WitnessedKey {
    inner: Arc<dyn SigningKey>,
    signed: Arc<AtomicBool>,
}

impl SigningKey for WitnessedKey {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        let inner = self.inner.choose_scheme(offered)?;
        Some(Box::new(WitnessedSigner {
            inner,
            signed: Arc::clone(&self.signed),
        }))
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        self.inner.algorithm()
    }
}

#[derive(Debug)]
struct WitnessedSigner {
    inner: Box<dyn Signer>,
    signed: Arc<AtomicBool>,
}

impl Signer for WitnessedSigner {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        self.signed.store(true, Ordering::Relaxed);
        self.inner.sign(message)
    }

    fn scheme(&self) -> SignatureScheme {
        self.inner.scheme()
    }
}
