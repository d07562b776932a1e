//! Hashes of certificates for pinning: SHA-256 of the public key (RFC 7858 section 4.2, in the
//! notation of RFC 7469) and of the signed part (as in DNS stamps).
//! Not for: deciding to accept a certificate, see `certificate_check`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA256, digest};
use rustls::pki_types::CertificateDer;
use rustls::server::ParsedCertificate;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

const PIN_PREFIX: &str = "sha256/";
/// DER's tag of a SEQUENCE (X.690 section 8.9).
const SEQUENCE: u8 = 0x30;

/// A SHA-256 digest of 32 octets.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sha256(pub [u8; 32]);

/// The text is not a pin.
#[derive(Debug, Error)]
#[error(
    "read pin {0:?}: give sha256/ and the base64 of the SHA-256 of the resolver's public key \
     (44 characters)"
)]
pub struct PinError(String);

impl Sha256 {
    /// Returns the digest of `bytes`.
    pub fn hash(bytes: &[u8]) -> Self {
        let mut octets = [0; 32];
        octets.copy_from_slice(digest(&SHA256, bytes).as_ref());
        Self(octets)
    }

    /// Returns the digest of a certificate's SubjectPublicKeyInfo. `None` when the certificate is
    /// unreadable.
    pub fn from_public_key(certificate: &CertificateDer<'_>) -> Option<Self> {
        let parsed = ParsedCertificate::try_from(certificate).ok()?;
        Some(Self::hash(&parsed.subject_public_key_info()))
    }

    /// Returns the digest of a certificate's signed part. `None` when the certificate is
    /// unreadable.
    pub fn from_signed_part(certificate: &CertificateDer<'_>) -> Option<Self> {
        signed_part(certificate).map(Self::hash)
    }
}

/// Reads a pin in the notation `sha256/BASE64`.
impl FromStr for Sha256 {
    type Err = PinError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.strip_prefix(PIN_PREFIX)
            .and_then(|encoded| STANDARD.decode(encoded).ok())
            .and_then(|octets| octets.try_into().ok())
            .map(Self)
            .ok_or_else(|| PinError(text.to_owned()))
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{PIN_PREFIX}{}", STANDARD.encode(self.0))
    }
}

impl fmt::Debug for Sha256 {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// Returns the TBSCertificate with its header: the first element of the Certificate. Both are
/// SEQUENCEs (RFC 5280 section 4.1).
fn signed_part(certificate: &[u8]) -> Option<&[u8]> {
    let (outer_header, outer) = sequence(certificate)?;
    let inside = certificate.get(outer_header..outer)?;
    let (_, inner) = sequence(inside)?;
    inside.get(..inner)
}

/// Returns the start and end of the content of the SEQUENCE at the front (X.690 section 8.1.3; DER
/// has only definite lengths).
fn sequence(der: &[u8]) -> Option<(usize, usize)> {
    let (&tag, &first) = (der.first()?, der.get(1)?);
    let (header, length) = match first {
        0..=0x7f => (2, usize::from(first)),
        0x81..=0x83 => {
            let header = 2 + usize::from(first & 0x7f);
            let octets = der.get(2..header)?;
            let length = octets.iter().fold(0, |sum, &o| sum << 8 | usize::from(o));
            (header, length)
        }
        _ => return None,
    };
    let end = header + length;
    (tag == SEQUENCE && end <= der.len()).then_some((header, end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rcgen::{CertificateParams, KeyPair, PublicKeyData};

    #[test]
    fn the_empty_digest_and_its_pin() {
        // FIPS 180-4's digest of nothing.
        let pin = "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
        assert_eq!(Sha256::hash(b"").to_string(), pin);
        assert_eq!(pin.parse::<Sha256>().unwrap(), Sha256::hash(b""));
    }

    #[test]
    fn what_is_no_pin() {
        for text in [
            "",
            "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
            "sha256/",
            "sha256/47DEQpj8HBSa",
            "sha1/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
            "sha256/47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU=",
        ] {
            let error = text.parse::<Sha256>().unwrap_err().to_string();
            assert!(error.contains("give sha256/"), "{error}");
        }
    }

    #[test]
    fn digests_of_a_certificate() {
        let key = KeyPair::generate().unwrap();
        let parameters = CertificateParams::new(vec!["dns.example".to_owned()]).unwrap();
        let certificate = parameters.self_signed(&key).unwrap();
        let der = certificate.der();
        assert_eq!(
            Sha256::from_public_key(der),
            Some(Sha256::hash(&key.subject_public_key_info()))
        );
        // The signed part is what the key's signature, at the certificate's end, is over.
        let signed = signed_part(der).unwrap();
        let signature = &der[4 + signed.len() + SIGNATURE_HEADER_BYTES..];
        ring::signature::UnparsedPublicKey::new(
            &ring::signature::ECDSA_P256_SHA256_ASN1,
            key.der_bytes(),
        )
        .verify(signed, signature)
        .unwrap();
        assert_eq!(Sha256::from_signed_part(der), Some(Sha256::hash(signed)));
    }

    /// AlgorithmIdentifier of ECDSA with SHA-256 (12), then the BIT STRING's tag, length and count
    /// of unused bits.
    const SIGNATURE_HEADER_BYTES: usize = 12 + 3;

    #[test]
    fn lengths_short_and_long() {
        assert_eq!(signed_part(&[0x30, 2, 0x30, 0]), Some(&[0x30, 0][..]));
        assert_eq!(
            signed_part(&[0x30, 0x81, 4, 0x30, 1, 7, 9]),
            Some(&[0x30, 1, 7][..])
        );
        for broken in [
            &[0x30][..],
            &[0x30, 3, 0x30, 0],
            &[0x31, 2, 0x30, 0],
            &[0x30, 2, 0x31, 0],
            &[0x30, 2, 0x30, 1, 7],
            &[0x30, 0x80, 0x30, 0, 0, 0],
            &[0x30, 0x84, 0xff, 0xff, 0xff, 0xff],
        ] {
            assert_eq!(signed_part(broken), None, "{broken:?}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_do_no_harm(bytes: Vec<u8>) {
            let _ = signed_part(&bytes);
            let _ = signed_part(&[&[0x30, 0x82][..], &bytes].concat());
            let _ = Sha256::from_public_key(&CertificateDer::from(bytes));
        }
    }
}
