//! The cryptography of both roles: which key exchange groups, in which order, and AES-128 first, so
//! that the bytes on the wire follow from settings alone.
//!
//! Key exchange is aws-lc-rs's, which has ML-KEM; ciphers, hashes and signatures are ring's.
//! Not for: certificates, tickets or versions.

use resolab_record::KeyExchangeGroup;
use rustls::CipherSuite;
use rustls::crypto::aws_lc_rs::kx_group;
use rustls::crypto::{CryptoProvider, SupportedKxGroup, ring};

/// A provider with these groups, preferred in this order. A client sends a share of the first; with
/// X25519MLKEM768 also the share of x25519 that is inside it, if that is among them: what Chromium
/// and Firefox send, but for Firefox's third of secp256r1.
pub fn provider(groups: &[KeyExchangeGroup]) -> CryptoProvider {
    let mut provider = ring::default_provider();
    provider.kx_groups = groups.iter().copied().map(supported).collect();
    provider
        .cipher_suites
        .sort_by_key(|suite| suite.suite() != CipherSuite::TLS13_AES_128_GCM_SHA256);
    provider
}

fn supported(group: KeyExchangeGroup) -> &'static dyn SupportedKxGroup {
    match group {
        KeyExchangeGroup::X25519Mlkem768 => kx_group::X25519MLKEM768,
        KeyExchangeGroup::X25519 => kx_group::X25519,
        KeyExchangeGroup::Secp256r1 => kx_group::SECP256R1,
        KeyExchangeGroup::Secp384r1 => kx_group::SECP384R1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_those_asked_for_and_aes_128_is_first() {
        for group in KeyExchangeGroup::ALL {
            let provider = provider(&[group]);
            let codes: Vec<_> = provider
                .kx_groups
                .iter()
                .map(|one| u16::from(one.name()))
                .collect();
            assert_eq!(codes, [group.code()]);
            assert_eq!(
                provider.cipher_suites[0].suite(),
                CipherSuite::TLS13_AES_128_GCM_SHA256
            );
        }
    }
}
