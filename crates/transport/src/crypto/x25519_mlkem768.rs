//! The key exchange group X25519MLKEM768 of TLS 1.3 (draft-ietf-tls-ecdhe-mlkem): ML-KEM-768 of the
//! crate `libcrux-ml-kem` beside x25519 of ring. All shares and secrets have the half of ML-KEM first.
//!
//! For: the provider's list of groups. Not for: the arithmetic of either half, or other groups.

use libcrux_ml_kem::MlKemSharedSecret;
use libcrux_ml_kem::mlkem768::{self, MlKem768Ciphertext, MlKem768KeyPair, MlKem768PublicKey};
use ring::rand::{SecureRandom, SystemRandom};
use rustls::crypto::ring::kx_group::X25519;
use rustls::crypto::{ActiveKeyExchange, CompletedKeyExchange, SharedSecret, SupportedKxGroup};
use rustls::ffdhe_groups::FfdheGroup;
use rustls::{Error, NamedGroup, PeerMisbehaved, ProtocolVersion};

/// The group for `CryptoProvider::kx_groups`.
pub static X25519MLKEM768: &dyn SupportedKxGroup = &X25519Mlkem768;

const X25519_SHARE_BYTES: usize = 32;
/// The client's half: an encapsulation key (FIPS 203 table 3).
const ENCAPSULATION_KEY_BYTES: usize = 1_184;
/// The server's half: a ciphertext (FIPS 203 table 3).
const CIPHERTEXT_BYTES: usize = 1_088;

const INVALID_SHARE: Error = Error::PeerMisbehaved(PeerMisbehaved::InvalidKeyShare);

#[derive(Debug)]
struct X25519Mlkem768;

impl SupportedKxGroup for X25519Mlkem768 {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let x25519 = X25519.start()?;
        let mlkem = mlkem768::generate_key_pair(drawn()?);
        Ok(Box::new(StartedExchange {
            client_share: [&mlkem.pk()[..], x25519.pub_key()].concat(),
            mlkem,
            x25519,
        }))
    }

    fn start_and_complete(&self, client_share: &[u8]) -> Result<CompletedKeyExchange, Error> {
        let (encapsulation_key, x25519_share) = halves(client_share, ENCAPSULATION_KEY_BYTES)?;
        let x25519 = X25519.start_and_complete(x25519_share)?;
        let (ciphertext, secret) = encapsulate(encapsulation_key, drawn()?)?;
        Ok(CompletedKeyExchange {
            group: self.name(),
            pub_key: [ciphertext.as_ref(), &x25519.pub_key].concat(),
            secret: joined(&secret, &x25519.secret),
        })
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn name(&self) -> NamedGroup {
        NamedGroup::X25519MLKEM768
    }

    fn usable_for_version(&self, version: ProtocolVersion) -> bool {
        version == ProtocolVersion::TLSv1_3
    }
}

/// An exchange between the client's share and the server's.
struct StartedExchange {
    mlkem: MlKem768KeyPair,
    x25519: Box<dyn ActiveKeyExchange>,
    client_share: Vec<u8>,
}

impl ActiveKeyExchange for StartedExchange {
    fn complete(self: Box<Self>, server_share: &[u8]) -> Result<SharedSecret, Error> {
        let (ciphertext, x25519_share) = halves(server_share, CIPHERTEXT_BYTES)?;
        let ciphertext = ciphertext.try_into().map_err(|_| INVALID_SHARE)?;
        let x25519_secret = self.x25519.complete(x25519_share)?;
        let secret = mlkem768::decapsulate(self.mlkem.private_key(), &ciphertext);
        Ok(joined(&secret, &x25519_secret))
    }

    fn hybrid_component(&self) -> Option<(NamedGroup, &[u8])> {
        Some((self.x25519.group(), self.x25519.pub_key()))
    }

    fn complete_hybrid_component(
        self: Box<Self>,
        server_share: &[u8],
    ) -> Result<SharedSecret, Error> {
        self.x25519.complete(server_share)
    }

    fn pub_key(&self) -> &[u8] {
        &self.client_share
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn group(&self) -> NamedGroup {
        NamedGroup::X25519MLKEM768
    }
}

/// Splits a share into the half of ML-KEM and the half of x25519.
fn halves(share: &[u8], mlkem_bytes: usize) -> Result<(&[u8], &[u8]), Error> {
    if share.len() != mlkem_bytes + X25519_SHARE_BYTES {
        return Err(INVALID_SHARE);
    }
    Ok(share.split_at(mlkem_bytes))
}

fn joined(mlkem: &MlKemSharedSecret, x25519: &SharedSecret) -> SharedSecret {
    [&mlkem[..], x25519.secret_bytes()].concat().into()
}

/// Returns a ciphertext for the holder of the key, and the secret inside. A key with a coefficient
/// of 3,329 or more is refused (the modulus check of FIPS 203 section 7.2).
fn encapsulate(
    encapsulation_key: &[u8],
    randomness: [u8; 32],
) -> Result<(MlKem768Ciphertext, MlKemSharedSecret), Error> {
    let key = MlKem768PublicKey::try_from(encapsulation_key).map_err(|_| INVALID_SHARE)?;
    if !mlkem768::validate_public_key(&key) {
        return Err(INVALID_SHARE);
    }
    Ok(mlkem768::encapsulate(&key, randomness))
}

/// Draws bytes from the random generator of the operating system.
fn drawn<const COUNT: usize>() -> Result<[u8; COUNT], Error> {
    let mut bytes = [0; COUNT];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| Error::FailedToGetRandomBytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;

    /// Returns a server's answer to a new client, and the client.
    fn answered() -> (Box<dyn ActiveKeyExchange>, CompletedKeyExchange) {
        let client = X25519MLKEM768.start().unwrap();
        let server = X25519MLKEM768.start_and_complete(client.pub_key());
        (client, server.unwrap())
    }

    /// Returns the error of an exchange without a secret.
    fn refusal<T>(outcome: Result<T, Error>) -> Error {
        outcome.err().unwrap()
    }

    #[test]
    fn both_ends_have_the_same_secret_and_shares_have_the_length_of_the_draft() {
        let (client, server) = answered();
        assert_eq!(client.group(), NamedGroup::X25519MLKEM768);
        assert_eq!(server.group, NamedGroup::X25519MLKEM768);
        assert_eq!(client.pub_key().len(), 1_216);
        assert_eq!(server.pub_key.len(), 1_120);
        let secret = client.complete(&server.pub_key).unwrap();
        assert_eq!(secret.secret_bytes(), server.secret.secret_bytes());
        assert_eq!(secret.secret_bytes().len(), 64);
    }

    #[test]
    fn every_exchange_has_its_own_keys() {
        let (first, first_answer) = answered();
        let (second, second_answer) = answered();
        let equal_bytes = |a: &[u8], b: &[u8]| a.iter().zip(b).filter(|(a, b)| a == b).count();
        // A half drawn twice alike would be equal in 1,184, 1,088 or 32 bytes.
        for (a, b) in [
            (first.pub_key(), second.pub_key()),
            (&first_answer.pub_key[..], &second_answer.pub_key[..]),
        ] {
            assert!(equal_bytes(a, b) < 64);
            let (a, b) = (&a[a.len() - 32..], &b[b.len() - 32..]);
            assert!(equal_bytes(a, b) < 16);
        }
    }

    #[test]
    fn the_share_of_x25519_alone_completes_with_a_server_of_x25519() {
        let client = X25519MLKEM768.start().unwrap();
        let (group, share) = client.hybrid_component().unwrap();
        assert_eq!(group, NamedGroup::X25519);
        assert_eq!(share, &client.pub_key()[ENCAPSULATION_KEY_BYTES..]);
        let server = X25519.start_and_complete(share).unwrap();
        let secret = client.complete_hybrid_component(&server.pub_key).unwrap();
        assert_eq!(secret.secret_bytes(), server.secret.secret_bytes());
    }

    #[test]
    fn shares_of_another_length_are_refused() {
        let (client, server) = answered();
        let long = [client.pub_key(), &[0; 64]].concat();
        for length in [0, 32, 1_184, 1_215, 1_217, 1_280] {
            let outcome = X25519MLKEM768.start_and_complete(&long[..length]);
            assert_eq!(refusal(outcome), INVALID_SHARE, "{length}");
        }
        let long = [&server.pub_key[..], &[0; 64]].concat();
        for length in [0, 32, 1_088, 1_119, 1_121, 1_184] {
            let outcome = answered().0.complete(&long[..length]);
            assert_eq!(refusal(outcome), INVALID_SHARE, "{length}");
        }
    }

    #[test]
    fn an_encapsulation_key_with_a_coefficient_of_the_modulus_is_refused() {
        // Coefficients have twelve bits, lowest first; the last one ends at byte 1,152.
        for last in [1, ENCAPSULATION_KEY_BYTES - 33] {
            let mut share = X25519MLKEM768.start().unwrap().pub_key().to_vec();
            for (coefficient, is_valid) in [(3_328_u16, true), (3_329, false), (4_095, false)] {
                // The second byte of three has the upper bits of one, the lower bits of the next.
                let bytes = if last == 1 {
                    [coefficient as u8, (coefficient >> 8) as u8]
                } else {
                    [(coefficient << 4) as u8, (coefficient >> 4) as u8]
                };
                share[last - 1..=last].copy_from_slice(&bytes);
                let outcome = X25519MLKEM768.start_and_complete(&share);
                assert_eq!(outcome.is_ok(), is_valid, "{coefficient} at {last}");
                if !is_valid {
                    assert_eq!(refusal(outcome), INVALID_SHARE);
                }
            }
        }
    }

    #[test]
    fn a_half_of_x25519_without_a_secret_is_refused() {
        // The point 0 has a low order (RFC 7748 section 6.1).
        let mut share = X25519MLKEM768.start().unwrap().pub_key().to_vec();
        share[ENCAPSULATION_KEY_BYTES..].fill(0);
        let outcome = X25519MLKEM768.start_and_complete(&share);
        assert_eq!(refusal(outcome), INVALID_SHARE);
        let (client, mut server) = answered();
        server.pub_key[CIPHERTEXT_BYTES..].fill(0);
        assert_eq!(refusal(client.complete(&server.pub_key)), INVALID_SHARE);
    }

    #[test]
    fn a_changed_ciphertext_gives_another_secret() {
        let (client, mut server) = answered();
        server.pub_key[0] ^= 1;
        let secret = client.complete(&server.pub_key).unwrap();
        let (ours, theirs) = (secret.secret_bytes(), server.secret.secret_bytes());
        assert_ne!(ours[..32], theirs[..32]);
        assert_eq!(ours[32..], theirs[32..]);
    }

    #[test]
    fn the_group_is_of_tls_1_3_alone() {
        assert!(X25519MLKEM768.usable_for_version(ProtocolVersion::TLSv1_3));
        assert!(!X25519MLKEM768.usable_for_version(ProtocolVersion::TLSv1_2));
    }

    /// The accumulated vectors of C2SP's CCTV (ML-KEM): keys, ciphertexts, secrets and the secrets
    /// of random ciphertexts of 100 rounds, all in one hash.
    #[test]
    fn the_half_of_mlkem_has_the_known_answers() {
        const ROUND_BYTES: usize = 64 + 32 + CIPHERTEXT_BYTES;
        let stream = libcrux_sha3::shake128::<{ 100 * ROUND_BYTES }>(&[]);
        let mut seen = Vec::new();
        for round in stream.chunks_exact(ROUND_BYTES) {
            let (seed, rest) = round.split_at(64);
            let (randomness, random_ciphertext) = rest.split_at(32);
            let pair = mlkem768::generate_key_pair(seed.try_into().unwrap());
            let randomness = randomness.try_into().unwrap();
            let (ciphertext, secret) = encapsulate(pair.pk(), randomness).unwrap();
            let decapsulated = mlkem768::decapsulate(pair.private_key(), &ciphertext);
            assert_eq!(decapsulated, secret);
            let random_ciphertext = random_ciphertext.try_into().unwrap();
            let rejected = mlkem768::decapsulate(pair.private_key(), &random_ciphertext);
            seen.extend([pair.pk(), ciphertext.as_ref(), &secret[..], &rejected].concat());
        }
        let hash = libcrux_sha3::shake128::<32>(&seen);
        let hash = hash.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
        assert_eq!(
            hash,
            "1114b1b6699ed191734fa339376afa7e285c9e6acf6ff0177d346696ce564415"
        );
    }
}
