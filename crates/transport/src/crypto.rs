//! The cryptography of both roles: the key exchange groups in their order, and AES-128 first. The
//! bytes on the wire thus follow from settings alone.
//!
//! Key exchange is from aws-lc-rs, because aws-lc-rs has ML-KEM; ciphers, hashes and signatures are
//! from ring.
//! Not for: certificates, tickets or versions.

use resolab_record::KeyExchangeGroup;
use rustls::CipherSuite;
use rustls::crypto::aws_lc_rs::kx_group;
use rustls::crypto::{CryptoProvider, SupportedKxGroup, ring};

/// Returns a provider with these groups, preferred in this order. A client sends a share of the
/// first group. With X25519MLKEM768, the client also sends the inner share of x25519 if x25519 is
/// among the groups. Chromium and Firefox send the same shares; Firefox adds a third share, of
/// secp256r1.
pub fn provider(groups: &[KeyExchangeGroup]) -> CryptoProvider {
    let mut provider = ring::default_provider();
    provider.kx_groups = groups.iter().copied().map(supported).collect();
    seed(&provider.kx_groups);
    provider
        .cipher_suites
        .sort_by_key(|suite| suite.suite() != CipherSuite::TLS13_AES_128_GCM_SHA256);
    provider
}

/// Draws an unused key. At first use, the random generator for key exchange gathers entropy from
/// the jitter of the processor for 30 ms. No measured exchange shall include these 30 ms.
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
