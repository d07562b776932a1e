//! DNS cookies of a client (RFC 7873): the cookie for each resolver, and the check of a response's
//! cookie. Not for: servers.

use hickory_proto::op::Message;
use hickory_proto::rr::rdata::opt::{EdnsCode, EdnsOption};
use resolab_record::CookieState;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::sync::{Mutex, OnceLock, PoisonError};
use thiserror::Error;

const CLIENT_COOKIE_BYTES: usize = 8;
/// Length of client and server cookie together (RFC 7873 section 4).
const BOTH_COOKIES_BYTES: RangeInclusive<usize> = 16..=40;

/// The reason to discard a response because of its cookie option (RFC 7873 section 5.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum CookieMismatch {
    /// A length not allowed for a cookie option.
    #[error("the response's COOKIE option has {0} bytes")]
    Length(usize),
    /// A client cookie different from the query's.
    #[error("the response's client cookie is not the query's")]
    Client,
    /// No server cookie, although the resolver gave a server cookie before.
    #[error("the response has no COOKIE option, though the resolver sent one before")]
    Missing,
}

/// The cookie option of one query: the client cookie, then any server cookie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentCookie(Vec<u8>);

impl SentCookie {
    /// Joins the two cookies; `server` is empty when unknown.
    pub fn new(client: [u8; CLIENT_COOKIE_BYTES], server: &[u8]) -> Self {
        Self([&client, server].concat())
    }

    /// Returns the option's bytes as sent.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the option's contents: client cookie alone, or with server cookie.
    pub fn state(&self) -> CookieState {
        state_of(Some(&self.0))
    }

    /// Checks a response's option: a legal length, and this query's client cookie.
    pub fn check(&self, received: &[u8]) -> Result<(), CookieMismatch> {
        let length = received.len();
        if length != CLIENT_COOKIE_BYTES && !BOTH_COOKIES_BYTES.contains(&length) {
            return Err(CookieMismatch::Length(length));
        }
        if received[..CLIENT_COOKIE_BYTES] == self.0[..CLIENT_COOKIE_BYTES] {
            Ok(())
        } else {
            Err(CookieMismatch::Client)
        }
    }

    /// Checks a response without a connection, possibly sent by an attacker. A resolver known to
    /// send cookies must have sent the option; otherwise leaving the option out would evade the
    /// check.
    pub fn check_unconnected(&self, received: Option<&[u8]>) -> Result<(), CookieMismatch> {
        match received {
            Some(received) => self.check(received),
            None if self.state() == CookieState::Server => Err(CookieMismatch::Missing),
            None => Ok(()),
        }
    }
}

/// Returns the cookie option of a message; the first of several (RFC 7873 section 5.3).
pub fn cookie_of(message: &Message) -> Option<&[u8]> {
    let option = message.edns.as_ref()?.option(EdnsCode::Cookie)?;
    if let EdnsOption::Unknown(_, bytes) = option {
        Some(bytes)
    } else {
        None
    }
}

/// Returns the contents of a message's cookie option: none, client cookie alone, or with server
/// cookie.
pub fn state_of(option: Option<&[u8]>) -> CookieState {
    match option {
        None => CookieState::None,
        Some(bytes) if bytes.len() <= CLIENT_COOKIE_BYTES => CookieState::ClientOnly,
        Some(_) => CookieState::Server,
    }
}

/// The cookies between one client and one address of its resolver.
#[derive(Debug)]
pub(crate) struct CookieJar {
    client: [u8; CLIENT_COOKIE_BYTES],
    server: Mutex<Vec<u8>>,
}

impl CookieJar {
    /// Makes a jar without a server cookie.
    pub(crate) fn new(resolver: IpAddr) -> Self {
        Self {
            client: client_cookie(resolver),
            server: Mutex::default(),
        }
    }

    /// Returns the cookie for the next query.
    pub(crate) fn next(&self) -> SentCookie {
        let server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        SentCookie::new(self.client, &server)
    }

    /// Keeps the server cookie of a checked response, independent of the response code.
    pub(crate) fn keep(&self, received: &[u8]) {
        if let Some(server) = received
            .get(CLIENT_COOKIE_BYTES..)
            .filter(|s| !s.is_empty())
        {
            let mut kept = self.server.lock().unwrap_or_else(PoisonError::into_inner);
            kept.clear();
            kept.extend_from_slice(server);
        }
    }
}

/// Returns a keyed hash of the resolver's address under a random secret of this process (RFC 7873
/// section 4.1). All clients of one resolver share the cookie; other resolvers cannot use it.
fn client_cookie(resolver: IpAddr) -> [u8; CLIENT_COOKIE_BYTES] {
    static SECRET: OnceLock<RandomState> = OnceLock::new();
    let secret = SECRET.get_or_init(RandomState::new);
    secret.hash_one(resolver).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESOLVER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));

    #[test]
    fn a_resolver_has_its_cookie_in_all_clients() {
        let (first, second) = (CookieJar::new(RESOLVER), CookieJar::new(RESOLVER));
        assert_eq!(first.next(), second.next());
        assert_eq!(first.next().bytes().len(), 8);
        let elsewhere = CookieJar::new("192.0.2.2".parse().unwrap());
        assert_ne!(first.next(), elsewhere.next());
    }

    #[test]
    fn the_server_cookie_is_sent_back_until_another_comes() {
        let jar = CookieJar::new(RESOLVER);
        let client = jar.next().bytes().to_vec();
        assert_eq!(jar.next().state(), CookieState::ClientOnly);
        for server in [&b"12345678"[..], b"12345678901234567890123456789012"] {
            let both = [&client[..], server].concat();
            jar.keep(&both);
            assert_eq!(jar.next().bytes(), both);
            assert_eq!(jar.next().state(), CookieState::Server);
        }
        let before = jar.next();
        jar.keep(&client);
        assert_eq!(jar.next(), before);
    }

    #[test]
    fn only_the_query_s_own_cookie_of_a_legal_length_is_believed() {
        let sent = SentCookie::new([1; 8], &[]);
        for length in 0..=48 {
            let legal = length == 8 || (16..=40).contains(&length);
            let expected = if legal {
                Ok(())
            } else {
                Err(CookieMismatch::Length(length))
            };
            assert_eq!(sent.check(&vec![1; length]), expected);
        }
        let mut forged = [1; 24];
        forged[7] = 2;
        assert_eq!(sent.check(&forged), Err(CookieMismatch::Client));
    }

    #[test]
    fn a_response_may_lack_the_option_until_the_resolver_sent_one() {
        let new = SentCookie::new([1; 8], &[]);
        assert_eq!(new.check_unconnected(None), Ok(()));
        let known = SentCookie::new([1; 8], &[2; 8]);
        let missing = Err(CookieMismatch::Missing);
        assert_eq!(known.check_unconnected(None), missing);
        assert_eq!(known.check_unconnected(Some(&[1; 16])), Ok(()));
    }
}
