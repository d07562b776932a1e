//! Tells if the certificate of a connection also covers another name (RFC 9114 section 3.3).
//! Not for: the validity of the certificate; the handshake checked the validity.

use rustls::client::verify_server_name;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::server::ParsedCertificate;

/// Returns true when the connection's certificate covers `host`. `None` when the connection has no
/// certificate: before the end of its handshake.
pub fn certificate_covers(connection: &quinn::Connection, host: &str) -> Option<bool> {
    let identity = connection.peer_identity()?;
    let chain = identity.downcast::<Vec<CertificateDer<'static>>>().ok()?;
    Some(leaf_covers(chain.first()?, host))
}

/// Returns true when this leaf certificate covers `host`.
pub fn leaf_covers(leaf: &CertificateDer<'_>, host: &str) -> bool {
    let parsed = ParsedCertificate::try_from(leaf);
    let name = ServerName::try_from(host);
    match (parsed, name) {
        (Ok(leaf), Ok(name)) => verify_server_name(&leaf, &name).is_ok(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leaf_covers_its_names_and_no_others() {
        let key = rcgen::KeyPair::generate().unwrap();
        let names = vec!["dns.example".to_owned(), "*.pages.example".to_owned()];
        let parameters = rcgen::CertificateParams::new(names).unwrap();
        let leaf = parameters.self_signed(&key).unwrap().der().clone();
        for (host, covered) in [
            ("dns.example", true),
            ("DNS.example", true),
            ("a.pages.example", true),
            ("pages.example", false),
            ("example", false),
            ("not a name", false),
        ] {
            assert_eq!(leaf_covers(&leaf, host), covered, "{host}");
        }
        assert!(!leaf_covers(
            &CertificateDer::from(vec![0x30]),
            "dns.example"
        ));
    }
}
