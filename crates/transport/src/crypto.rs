//! The cryptography of both roles: the key exchange groups in their order, and AES-128 first. The
//! bytes on the wire thus follow from settings alone.
//!
//! All is from ring, except the half of ML-KEM in X25519MLKEM768 (`x25519_mlkem768`).
//! Not for: certificates, tickets or versions.

mod x25519_mlkem768;

use resolab_record::KeyExchangeGroup;
use rustls::CipherSuite;
use rustls::crypto::ring::{self, kx_group};
use rustls::crypto::{CryptoProvider, SupportedKxGroup};

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

/// Draws an unused key. The first key of a process takes 0.1 to 0.2 ms longer than later keys:
/// the program's code is not in memory yet. No measured exchange shall include this time.
fn seed(groups: &[&'static dyn SupportedKxGroup]) {
    if let Some(group) = groups.first() {
        // Where it cannot draw one, the handshake says so.
        drop(group.start());
    }
}

fn supported(group: KeyExchangeGroup) -> &'static dyn SupportedKxGroup {
    match group {
        KeyExchangeGroup::X25519Mlkem768 => x25519_mlkem768::X25519MLKEM768,
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
    struct CountingGroup(AtomicUsize);

    impl SupportedKxGroup for CountingGroup {
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
        static GROUPS: [CountingGroup; 2] = [const { CountingGroup(AtomicUsize::new(0)) }; 2];
        seed(&[&GROUPS[0], &GROUPS[1]]);
        let drawn = GROUPS
            .each_ref()
            .map(|group| group.0.load(Ordering::Relaxed));
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
                .map(|group| u16::from(group.name()))
                .collect();
            assert_eq!(codes, [group.code()]);
            assert_eq!(
                provider.cipher_suites[0].suite(),
                CipherSuite::TLS13_AES_128_GCM_SHA256
            );
        }
    }
}
