//! A server's certificate: the hashes for pinning.
#![no_main]

use libfuzzer_sys::fuzz_target;
use resolab_transport::client::Sha256;
use rustls_pki_types::CertificateDer;

fuzz_target!(|input: &[u8]| {
    let certificate = CertificateDer::from(input);
    let _ = Sha256::from_public_key(&certificate);
    let _ = Sha256::from_signed_part(&certificate);
    if let Ok(pin) = String::from_utf8_lossy(input).parse::<Sha256>() {
        assert_eq!(pin.to_string().parse::<Sha256>().ok(), Some(pin));
    }
});
