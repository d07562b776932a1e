//! Address tokens of servers (RFC 9000 section 8.1.3). Quinn does not report the use of a token, so
//! the store notes each use.

use bytes::Bytes;
use quinn::{TokenMemoryCache, TokenStore};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The tokens of one client. The client opens its connections in sequence.
#[derive(Default)]
pub struct ClientAddressTokens {
    /// The tokens kept; `forget` replaces the cache.
    tokens: Mutex<Arc<TokenMemoryCache>>,
    are_forgotten: bool,
    was_used: AtomicBool,
}

impl ClientAddressTokens {
    /// Returns a store without memory: every connection is a first contact.
    pub fn without_memory() -> Self {
        Self {
            are_forgotten: true,
            ..Self::default()
        }
    }

    /// Drops all tokens: the next connection is a first contact.
    pub fn forget(&self) {
        *self.tokens.lock().unwrap_or_else(PoisonError::into_inner) = Arc::default();
    }

    fn tokens(&self) -> Arc<TokenMemoryCache> {
        let tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&tokens)
    }

    /// Returns true when the last connection had a token.
    pub fn was_used(&self) -> bool {
        self.was_used.load(Ordering::Relaxed)
    }
}

impl TokenStore for ClientAddressTokens {
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
            (ClientAddressTokens::default(), true),
            (ClientAddressTokens::without_memory(), false),
        ] {
            tokens.insert("dns.example", Bytes::from_static(b"token"));
            assert_eq!(tokens.take("dns.example").is_some(), keeps);
            assert_eq!(tokens.was_used(), keeps);
            assert!(tokens.take("dns.example").is_none() && !tokens.was_used());
        }
    }

    #[test]
    fn tokens_can_be_forgotten() {
        let tokens = ClientAddressTokens::default();
        tokens.insert("dns.example", Bytes::from_static(b"token"));
        tokens.forget();
        assert!(tokens.take("dns.example").is_none());
        tokens.insert("dns.example", Bytes::from_static(b"another"));
        assert!(tokens.take("dns.example").is_some());
    }
}
