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
    seed(&provider.kx_groups);
    provider
        .cipher_suites
        .sort_by_key(|suite| suite.suite() != CipherSuite::TLS13_AES_128_GCM_SHA256);
    provider
}

/// Draw a key that nobody uses. The random generator under key exchange gathers its entropy when it is
/// first asked, from the jitter of the processor, which takes 30 ms: no exchange shall have them in it.
fn seed(groups: &[&'static dyn SupportedKxGroup]) {
    if let Some(group) = groups.first() {
        // Where it cannot draw one, the handshake says so.
        drop(group.start());
    }
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
    use rustls::crypto::ActiveKeyExchange;
    use rustls::{Error, NamedGroup};
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[derive(Debug)]
    struct Counted(AtomicUsize);

    impl SupportedKxGroup for Counted {
        fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Err(Error::FailedToGetRandomBytes)
        }

        fn name(&self) -> NamedGroup {
            NamedGroup::X25519
        }
    }

    #[test]
    fn a_key_is_drawn_before_any_handshake() {
        static GROUPS: [Counted; 2] = [const { Counted(AtomicUsize::new(0)) }; 2];
        seed(&[&GROUPS[0], &GROUPS[1]]);
        let drawn = GROUPS.each_ref().map(|one| one.0.load(Ordering::Relaxed));
        assert_eq!(drawn, [1, 0]);
        seed(&[]);
    }

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
