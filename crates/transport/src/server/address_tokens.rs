//! Keys and memory of QUIC address tokens (RFC 9000 section 8.1), shared by all listeners.
//!
//! For: use of a listener's NEW_TOKEN or Retry token at the other listeners. A NEW_TOKEN token is
//! valid once.
//! Not for: deciding to require a token.

use quinn::crypto::HandshakeTokenKey;
use quinn::{BloomTokenLog, ServerConfig, TokenLog, ValidationTokenConfig};
use ring::hkdf::{HKDF_SHA256, Salt};
use ring::rand::{SecureRandom, SystemRandom};
use std::sync::Arc;

/// The maximum memory of the token log, in bytes.
const LOG_BYTES: usize = 4 << 20;
const LOG_EXPECTED_COUNT: u64 = 1_000_000;

/// The token state shared by all listeners.
pub(super) struct ServerAddressTokens {
    key: Arc<dyn HandshakeTokenKey>,
    log: Arc<dyn TokenLog>,
}

impl ServerAddressTokens {
    pub(super) fn new() -> Self {
        let mut secret = [0; 64];
        // Only ever fails where nothing else would work; the salt then is the key.
        let _ = SystemRandom::new().fill(&mut secret);
        Self {
            key: Arc::new(Salt::new(HKDF_SHA256, &[]).extract(&secret)),
            log: Arc::new(BloomTokenLog::new_expected_items(
                LOG_BYTES,
                LOG_EXPECTED_COUNT,
            )),
        }
    }

    /// Configures a listener with the shared tokens.
    pub(super) fn put_into(&self, config: &mut ServerConfig) {
        let mut tokens = ValidationTokenConfig::default();
        tokens.log(Arc::clone(&self.log));
        config
            .token_key(Arc::clone(&self.key))
            .validation_token_config(tokens);
    }
}
