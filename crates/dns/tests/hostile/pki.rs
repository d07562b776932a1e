//! Certificates, good and bad, of an authority the clients trust and of one they do not.

use crate::support::HOST;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};
use rustls::pki_types::PrivateKeyDer;
use rustls::sign::CertifiedKey;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// One for the whole process.
pub struct Pki {
    pub ca_file: PathBuf,
    pub good: Arc<CertifiedKey>,
    pub expired: Arc<CertifiedKey>,
    pub not_yet_valid: Arc<CertifiedKey>,
    pub other_name: Arc<CertifiedKey>,
    pub unknown_authority: Arc<CertifiedKey>,
}

/// First and last year of validity.
const VALID: (i32, i32) = (1975, 4000);

impl Pki {
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Pki> = OnceLock::new();
        SHARED.get_or_init(Self::make)
    }

    fn make() -> Self {
        let (authority, pem) = authority("hostile test authority");
        let stranger = self::authority("a stranger").0;
        // In the build folder, so that nothing is left elsewhere.
        let ca_file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("hostile-ca.pem");
        std::fs::write(&ca_file, pem).unwrap();
        Self {
            ca_file,
            good: leaf(&authority, HOST, VALID),
            expired: leaf(&authority, HOST, (1975, 1976)),
            not_yet_valid: leaf(&authority, HOST, (3999, 4000)),
            other_name: leaf(&authority, "other.resolab.test", VALID),
            unknown_authority: leaf(&stranger, HOST, VALID),
        }
    }
}

fn authority(name: &str) -> (Issuer<'static, KeyPair>, String) {
    let mut params = CertificateParams::default();
    let mut distinguished = DistinguishedName::new();
    distinguished.push(DnType::CommonName, name);
    params.distinguished_name = distinguished;
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    let key = KeyPair::generate().unwrap();
    let pem = params.self_signed(&key).unwrap().pem();
    (Issuer::new(params, key), pem)
}

fn leaf(
    issuer: &Issuer<'static, KeyPair>,
    name: &str,
    (first, last): (i32, i32),
) -> Arc<CertifiedKey> {
    let mut params = CertificateParams::new([name.to_owned()]).unwrap();
    params.not_before = date_time_ymd(first, 1, 1);
    params.not_after = date_time_ymd(last, 1, 1);
    let key = KeyPair::generate().unwrap();
    let certificate = params.signed_by(&key, issuer).unwrap();
    let private = PrivateKeyDer::Pkcs8(key.serialize_der().into());
    let provider = rustls::crypto::ring::default_provider();
    CertifiedKey::from_der(vec![certificate.der().clone()], private, &provider)
        .map(Arc::new)
        .unwrap()
}
