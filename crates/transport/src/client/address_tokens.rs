//! Address tokens a server gave (RFC 9000 section 8.1.3), and whether a connection came back with
//! one: quinn does not tell.

use bytes::Bytes;
use quinn::{TokenMemoryCache, TokenStore};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Tokens of one client, whose connections are opened one after the other.
#[derive(Default)]
pub struct AddressTokens {
    /// Replaced when all are forgotten.
    tokens: Mutex<Arc<TokenMemoryCache>>,
    are_forgotten: bool,
    was_used: AtomicBool,
}

impl AddressTokens {
    /// Tokens are not kept: every connection is a first contact.
    pub fn forgotten() -> Self {
        Self {
            are_forgotten: true,
            ..Self::default()
        }
    }

    /// Drop all tokens: the next connection is a first contact.
    pub fn forget(&self) {
        *self.tokens.lock().unwrap_or_else(PoisonError::into_inner) = Arc::default();
    }

    fn tokens(&self) -> Arc<TokenMemoryCache> {
        let tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&tokens)
    }

    /// Whether the last connection had one.
    pub fn was_used(&self) -> bool {
        self.was_used.load(Ordering::Relaxed)
    }
}

impl TokenStore for AddressTokens {
    fn insert(&self, server_name: &str, token: Bytes) {
        if !self.are_forgotten {
            self.tokens().insert(server_name, token);
        }
    }

    fn take(&self, server_name: &str) -> Option<Bytes> {
        let token = self.tokens().take(server_name);
        self.was_used.store(token.is_some(), Ordering::Relaxed);
        token
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_used_once_and_only_where_they_are_kept() {
        for (tokens, keeps) in [
            (AddressTokens::default(), true),
            (AddressTokens::forgotten(), false),
        ] {
            tokens.insert("dns.example", Bytes::from_static(b"token"));
            assert_eq!(tokens.take("dns.example").is_some(), keeps);
            assert_eq!(tokens.was_used(), keeps);
            assert!(tokens.take("dns.example").is_none() && !tokens.was_used());
        }
    }

    #[test]
    fn tokens_can_be_forgotten() {
        let tokens = AddressTokens::default();
        tokens.insert("dns.example", Bytes::from_static(b"token"));
        tokens.forget();
        assert!(tokens.take("dns.example").is_none());
        tokens.insert("dns.example", Bytes::from_static(b"another"));
        assert!(tokens.take("dns.example").is_some());
    }
}
