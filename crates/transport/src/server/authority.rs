//! The lab's certificate authority: made once, kept in a folder, signs a leaf for every name.
//!
//! For: certificates accepted by rustls, NSS and Chromium when the authority is trusted. Chains are
//! the leaf alone. Above about 3.6 kB of server flight, QUIC's amplification limit (RFC 9000
//! section 8.1) would add a round trip.
//! Not for: anything outside the lab; the authority's certificate excludes other names (`scope`).
//! Even with this limit, do not put the authority into a system's trust store.

mod error;
mod files;
mod scope;

pub use error::AuthorityError;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use files::AuthorityFiles;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, PublicKeyData, date_time_ymd,
};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::sign::CertifiedKey;
use rustls::{RootCertStore, SupportedCipherSuite};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const AUTHORITY_NAME: &str = "resolab lab authority";
const DAY: Duration = Duration::from_hours(24);
const AUTHORITY_DAYS: u32 = 3_650;
/// The validity of a leaf, in days. Chromium refuses leaves valid for more than 398 days. One day
/// lies in the past to tolerate clock differences.
const LEAF_DAYS: u32 = 396;

/// A certificate authority with its key.
pub struct CertificateAuthority {
    certificate_file: PathBuf,
    issuer: Issuer<'static, KeyPair>,
    spki_sha256: String,
    provider: Arc<CryptoProvider>,
    shared: Vec<(Vec<String>, Arc<CertifiedKey>)>,
}

impl CertificateAuthority {
    /// Opens the authority in `folder`, making folder and authority if missing.
    pub fn open_or_create(folder: &Path) -> Result<Self, AuthorityError> {
        let unusable = |reason: String| AuthorityError::Unusable {
            folder: folder.display().to_string(),
            reason,
        };
        let make = || make().map_err(|e| unusable(e.to_string()));
        let pair = files::read_or_make(folder, make)?;
        let certificate_file = files::certificate_file(folder);
        let key = KeyPair::from_pem(&pair.key).map_err(|e| unusable(e.to_string()))?;
        let spki_sha256 = STANDARD.encode(sha256(&key.subject_public_key_info()));
        let authority = Self {
            certificate_file: fs::canonicalize(&certificate_file).unwrap_or(certificate_file),
            issuer: Issuer::new(authority_params(), key),
            spki_sha256,
            provider: Arc::new(rustls::crypto::ring::default_provider()),
            shared: Vec::new(),
        };
        authority.check(&pair.certificate).map_err(unusable)?;
        Ok(authority)
    }

    /// Returns the path of the authority's certificate (PEM), for clients.
    pub fn certificate_file(&self) -> &Path {
        &self.certificate_file
    }

    /// Returns the base64 of the SHA-256 of the authority's SubjectPublicKeyInfo (RFC 7469 section
    /// 2.4).
    pub fn spki_sha256(&self) -> &str {
        &self.spki_sha256
    }

    /// Makes a new key and leaf certificate for names (or addresses, as text).
    pub fn issue(&self, names: &[String]) -> Result<Arc<CertifiedKey>, AuthorityError> {
        let failed = |reason: String| AuthorityError::Issue {
            name: names.first().cloned().unwrap_or_default(),
            reason,
        };
        if let Some(reason) = names.iter().find_map(|name| scope::refusal(name)) {
            return Err(failed(reason));
        }
        let key = KeyPair::generate().map_err(|e| failed(e.to_string()))?;
        let mut params = CertificateParams::new(names).map_err(|e| failed(e.to_string()))?;
        set_validity(&mut params, LEAF_DAYS);
        params.distinguished_name = common_name(names.first().map_or("", |name| name));
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        let leaf = params
            .signed_by(&key, &self.issuer)
            .map_err(|e| failed(e.to_string()))?;
        let private = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        CertifiedKey::from_der(vec![leaf.der().clone()], private, &self.provider)
            .map(Arc::new)
            .map_err(|e| failed(e.to_string()))
    }

    /// Makes a leaf shared by several names.
    pub fn share(&mut self, names: &[String]) -> Result<(), AuthorityError> {
        let leaf = self.issue(names)?;
        let names = names.iter().map(|name| name.to_ascii_lowercase());
        self.shared.push((names.collect(), leaf));
        Ok(())
    }

    /// Returns the shared leaf with the first of the names, else a new leaf for all the names.
    pub fn certificate_for(&self, names: &[String]) -> Result<Arc<CertifiedKey>, AuthorityError> {
        let wanted = names.first().map(|name| name.to_ascii_lowercase());
        let wanted = wanted.unwrap_or_default();
        let group = self
            .shared
            .iter()
            .find(|(names, _)| names.iter().any(|name| covers(name, &wanted)));
        match group {
            Some((_, leaf)) => Ok(Arc::clone(leaf)),
            None => self.issue(names),
        }
    }

    /// Issues a leaf and verifies the leaf as a client would. The check finds an expired authority,
    /// and a certificate not matching the key.
    fn check(&self, certificate_pem: &str) -> Result<(), String> {
        let name = "check.invalid";
        let leaf = self.issue(&[name.to_owned()]).map_err(|e| e.to_string())?;
        let certificate = CertificateDer::from_pem_slice(certificate_pem.as_bytes())
            .map_err(|e| e.to_string())?;
        let mut roots = RootCertStore::empty();
        roots.add(certificate).map_err(|e| e.to_string())?;
        let provider = Arc::clone(&self.provider);
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider)
            .build()
            .map_err(|e| e.to_string())?;
        let server_name = ServerName::try_from(name).map_err(|e| e.to_string())?;
        verifier
            .verify_server_cert(&leaf.cert[0], &[], &server_name, &[], UnixTime::now())
            .map(|_| ())
            .map_err(|e| format!("what its key signs is not accepted ({e})"))
    }
}

/// Returns true when a certificate's name covers another name, both in lower case. A name covers
/// the same name, and a wildcard covers names with one more label (RFC 6125 section 6.4.3).
pub fn covers(name: &str, wanted: &str) -> bool {
    let below = wanted.split_once('.').map(|(_, parent)| parent);
    name == wanted || (below.is_some() && name.strip_prefix("*.") == below)
}

fn make() -> Result<AuthorityFiles, rcgen::Error> {
    let key = KeyPair::generate()?;
    Ok(AuthorityFiles {
        certificate: authority_params().self_signed(&key)?.pem(),
        key: key.serialize_pem(),
    })
}

fn authority_params() -> CertificateParams {
    let mut params = CertificateParams::default();
    set_validity(&mut params, AUTHORITY_DAYS);
    params.distinguished_name = common_name(AUTHORITY_NAME);
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params.name_constraints = Some(scope::constraints());
    params
}

/// Sets the validity, beginning a day ago.
fn set_validity(params: &mut CertificateParams, days: u32) {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let start = date_time_ymd(1970, 1, 1) + Duration::from_secs(now.as_secs()) - DAY;
    params.not_before = start;
    params.not_after = start + DAY * days;
}

fn common_name(name: &str) -> DistinguishedName {
    let mut distinguished = DistinguishedName::new();
    distinguished.push(DnType::CommonName, name);
    distinguished
}

fn sha256(bytes: &[u8]) -> Vec<u8> {
    let suite = rustls::crypto::ring::cipher_suite::TLS13_AES_128_GCM_SHA256;
    match suite {
        SupportedCipherSuite::Tls13(suite) => {
            suite.common.hash_provider.hash(bytes).as_ref().to_vec()
        }
        SupportedCipherSuite::Tls12(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn scratch(name: &str) -> PathBuf {
        let folder =
            std::env::temp_dir().join(format!("resolab-authority-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        folder
    }

    #[test]
    fn is_made_once_and_found_again() {
        let folder = scratch("twice");
        let first = CertificateAuthority::open_or_create(&folder).unwrap();
        let second = CertificateAuthority::open_or_create(&folder).unwrap();
        assert_eq!(first.spki_sha256(), second.spki_sha256());
        assert_eq!(first.spki_sha256().len(), 44);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_foreign_certificate_beside_the_key_is_refused() {
        let (ours, theirs) = (scratch("ours"), scratch("theirs"));
        CertificateAuthority::open_or_create(&ours).unwrap();
        CertificateAuthority::open_or_create(&theirs).unwrap();
        fs::copy(
            files::certificate_file(&theirs),
            files::certificate_file(&ours),
        )
        .unwrap();
        let error = CertificateAuthority::open_or_create(&ours).err().unwrap();
        assert!(error.to_string().contains("remove ca.pem"), "{error}");
        fs::remove_dir_all(ours).unwrap();
        fs::remove_dir_all(theirs).unwrap();
    }

    /// Returns true when a client trusting the authority accepts `leaf` for `name`.
    fn accepts(authority: &CertificateAuthority, leaf: &CertifiedKey, name: &str) -> bool {
        let mut roots = RootCertStore::empty();
        let root = CertificateDer::from_pem_file(authority.certificate_file()).unwrap();
        roots.add(root).unwrap();
        let provider = Arc::clone(&authority.provider);
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider);
        let name = ServerName::try_from(name.to_owned()).unwrap();
        verifier
            .build()
            .unwrap()
            .verify_server_cert(&leaf.cert[0], &[], &name, &[], UnixTime::now())
            .is_ok()
    }

    #[test]
    fn clients_take_the_labs_names_and_addresses_and_no_others_from_it() {
        let folder = scratch("scope");
        let authority = CertificateAuthority::open_or_create(&folder).unwrap();
        let names = [
            "dns.resolab.test",
            "*.cdn.resolab.test",
            "10.77.0.1",
            "fd77::1",
            "127.0.0.1",
        ];
        let leaf = authority.issue(&names.map(str::to_owned)).unwrap();
        for name in [
            "dns.resolab.test",
            "x.cdn.resolab.test",
            "10.77.0.1",
            "fd77::1",
        ] {
            assert!(accepts(&authority, &leaf, name), "{name}");
        }
        for name in ["www.example.com", "9.9.9.9"] {
            let error = authority.issue(&[name.to_owned()]).err().unwrap();
            assert!(error.to_string().contains(name), "{error}");
            // Whoever has the key can sign it; nobody believes it.
            let key = KeyPair::generate().unwrap();
            let params = CertificateParams::new([name.to_owned()]).unwrap();
            let forged = params.signed_by(&key, &authority.issuer).unwrap();
            let private = PrivateKeyDer::Pkcs8(key.serialize_der().into());
            let forged = vec![forged.der().clone()];
            let forged = CertifiedKey::from_der(forged, private, &authority.provider).unwrap();
            assert!(!accepts(&authority, &forged, name), "{name}");
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_shared_leaf_is_handed_out_for_the_names_it_covers() {
        let folder = scratch("shared");
        let mut authority = CertificateAuthority::open_or_create(&folder).unwrap();
        let names = ["dns.test", "a.test", "*.cdn.test"].map(str::to_owned);
        authority.share(&names).unwrap();
        let leaf = |name: &str| authority.certificate_for(&[name.to_owned()]).unwrap();
        let shared = leaf("A.test");
        for name in ["dns.test", "a.test", "x.cdn.test", "*.cdn.test"] {
            assert!(Arc::ptr_eq(&shared, &leaf(name)), "{name}");
        }
        for name in ["b.test", "cdn.test", "y.x.cdn.test"] {
            assert!(!Arc::ptr_eq(&shared, &leaf(name)), "{name}");
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let error = CertificateAuthority::open_or_create(Path::new("/dev/null/ca"))
            .err()
            .unwrap();
        assert!(error.to_string().contains("/dev/null/ca"), "{error}");
    }
}
