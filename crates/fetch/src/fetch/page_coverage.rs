//! The rule for using a connection for a page it was not opened for (RFC 9114 section 3.3, RFC 8336
//! section 2.4). The certificate must cover the host, and the connection's Origin Set must contain
//! the origin. Without an Origin Set, the name's address must be the connection's address. After a
//! 421 answer, the page is not asked for on the resolver's connections again.
//!
//! Without I/O. Not for: collecting the facts (`sharing`).

use resolab_record::SharedBecause;
use std::net::{IpAddr, SocketAddr};

/// The facts about a page, learnt from connections to a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PageCoverage {
    /// True when the certificate covers the host; `None` while no handshake has ended.
    pub certificate_covers: Option<bool>,
    /// True when the connection's Origin Set contains the page's origin; `None` without an Origin
    /// Set.
    pub origin_named: Option<bool>,
    /// True after a 421 answer for the page. No certificate and no Origin Set overrides the answer.
    pub is_misdirected: bool,
}

impl PageCoverage {
    /// Fills the gaps with facts from an earlier connection.
    #[must_use]
    pub fn or(self, earlier: Self) -> Self {
        Self {
            certificate_covers: self.certificate_covers.or(earlier.certificate_covers),
            origin_named: self.origin_named.or(earlier.origin_named),
            is_misdirected: self.is_misdirected || earlier.is_misdirected,
        }
    }

    /// Returns the facts valid on a connection with a full handshake. The new connection has its
    /// own certificate and Origin Set.
    #[must_use]
    pub fn keep_server_facts(self) -> Self {
        Self {
            is_misdirected: self.is_misdirected,
            ..Self::default()
        }
    }

    /// Applies the rule after the name is known.
    pub fn shared_because(
        self,
        addresses: &[IpAddr],
        page_port: u16,
        server: SocketAddr,
    ) -> Option<SharedBecause> {
        if self.certificate_covers != Some(true) || self.is_misdirected {
            return None;
        }
        let is_same = page_port == server.port() && addresses.contains(&server.ip());
        match (self.origin_named, is_same) {
            (Some(false), _) | (None, false) => None,
            (_, true) => Some(SharedBecause::Address),
            (Some(true), false) => Some(SharedBecause::Origin),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(covers: Option<bool>, origin_named: Option<bool>) -> PageCoverage {
        PageCoverage {
            certificate_covers: covers,
            origin_named,
            is_misdirected: false,
        }
    }

    #[test]
    fn a_connection_is_shared_by_certificate_and_address_or_origin() {
        let server: SocketAddr = "192.0.2.1:443".parse().unwrap();
        let (same, other) = ([server.ip()], ["192.0.2.9".parse().unwrap()]);
        let (yes, no) = (Some(true), Some(false));
        let by_address = Some(SharedBecause::Address);
        for (known, addresses, port, expected) in [
            (known(yes, None), same, 443, by_address),
            (known(yes, yes), same, 443, by_address),
            (known(yes, None), same, 8443, None),
            (known(yes, None), other, 443, None),
            (known(yes, yes), other, 443, Some(SharedBecause::Origin)),
            (known(yes, yes), same, 8443, Some(SharedBecause::Origin)),
            // What an Origin Set does not name, it forbids.
            (known(yes, no), same, 443, None),
            (known(yes, no), other, 443, None),
            (known(no, yes), same, 443, None),
            (known(None, yes), same, 443, None),
        ] {
            let shared_because =
                |known: PageCoverage| known.shared_because(&addresses, port, server);
            assert_eq!(shared_because(known), expected, "{known:?}");
            let misdirected = PageCoverage {
                is_misdirected: true,
                ..known
            };
            assert_eq!(shared_because(misdirected), None, "{known:?}");
        }
    }

    #[test]
    fn what_this_connection_says_goes_before_what_an_earlier_one_said() {
        let (yes, no) = (Some(true), Some(false));
        assert_eq!(known(no, no).or(known(yes, yes)), known(no, no));
        assert_eq!(known(None, None).or(known(yes, yes)), known(yes, yes));
        assert_eq!(known(yes, None).or(known(None, no)), known(yes, no));
    }

    #[test]
    fn a_421_is_no_connection_s_to_take_back() {
        let misdirected = PageCoverage {
            is_misdirected: true,
            ..known(Some(true), Some(true))
        };
        let later = known(Some(true), Some(true));
        assert!(later.or(misdirected).is_misdirected);
        let own = later.or(misdirected.keep_server_facts());
        assert_eq!(own, misdirected);
        assert_eq!(
            known(None, None).or(later.keep_server_facts()),
            known(None, None)
        );
    }
}
