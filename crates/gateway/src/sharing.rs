//! The rule for sending a request on a connection, with the reason for or against (RFC 9113 section
//! 9.1.1, RFC 9114 section 3.3, RFC 8336, RFC 9412).
//!
//! The conditions on a connection are the rule of name and page together (`resolab_fetch::fetch`).
//! This module adds the limits of each setting. Without I/O. Not for: collecting the facts of a
//! connection, or choosing among several.

use resolab_fetch::fetch::PageCoverage;
use resolab_record::{ConnectionReason, ConnectionSharing, SharedBecause};
use std::net::{IpAddr, SocketAddr};

/// The destination of a request.
#[derive(Debug, Clone, Copy)]
pub struct RequestTarget<'a> {
    /// The host of the request.
    pub host: &'a str,
    /// The addresses of the host.
    pub addresses: &'a [IpAddr],
    /// The port of the request's origin.
    pub port: u16,
}

/// The facts about a connection and one host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionFactsForHost<'a> {
    /// The name the connection was opened for.
    pub opened_for: &'a str,
    /// The server's address of the connection.
    pub address: SocketAddr,
    /// True when the certificate covers the host; `None` before the certificate has arrived.
    pub certificate_covers: Option<bool>,
    /// True when the Origin Set contains the host's origin; `None` without an ORIGIN frame.
    pub origin_named: Option<bool>,
    /// True when the server answered 421 for the host.
    pub is_misdirected: bool,
    /// True for the resolver's connection.
    pub is_resolvers: bool,
}

impl ConnectionFactsForHost<'_> {
    /// Returns the facts used by the rule of name and page together.
    fn coverage(&self) -> PageCoverage {
        PageCoverage {
            certificate_covers: self.certificate_covers,
            origin_named: self.origin_named,
            is_misdirected: self.is_misdirected,
        }
    }
}

/// The reason against sending a request on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SharingRefusal {
    /// The setting does not share connections between names.
    BySetting,
    /// The server answered 421 for the host.
    Misdirected,
    /// The certificate has not arrived.
    HandshakeUnderWay,
    /// The certificate does not cover the host.
    Certificate,
    /// The Origin Set does not contain the origin.
    OriginSet,
    /// The host has another address or port, and nothing else allows the connection.
    Address,
}

/// Applies the rule for the setting.
pub fn may_carry(
    sharing: ConnectionSharing,
    wanted: &RequestTarget<'_>,
    known: &ConnectionFactsForHost<'_>,
) -> Result<ConnectionReason, SharingRefusal> {
    if known.opened_for.eq_ignore_ascii_case(wanted.host) && known.address.port() == wanted.port {
        // An Origin Set holds what the connection was opened for without naming it (RFC 8336
        // section 2.3), and there is no other to go to after a 421.
        return Ok(ConnectionReason::OwnName);
    }
    let is_resolver_setting = sharing == ConnectionSharing::ResolverConnection;
    if sharing == ConnectionSharing::Separate || known.is_resolvers != is_resolver_setting {
        return Err(SharingRefusal::BySetting);
    }
    if known.is_misdirected {
        return Err(SharingRefusal::Misdirected);
    }
    match known.certificate_covers {
        None => return Err(SharingRefusal::HandshakeUnderWay),
        Some(false) => return Err(SharingRefusal::Certificate),
        Some(true) => (),
    }
    if known.origin_named == Some(false) {
        // What a set does not name it forbids, whatever the address (RFC 8336 section 2.4).
        return Err(SharingRefusal::OriginSet);
    }
    let because = known
        .coverage()
        .shared_because(wanted.addresses, wanted.port, known.address);
    match (sharing, because) {
        (_, Some(SharedBecause::Address)) => Ok(ConnectionReason::Address),
        (
            ConnectionSharing::OriginFrame
            | ConnectionSharing::Certificate
            | ConnectionSharing::ResolverConnection,
            Some(SharedBecause::Origin),
        ) => Ok(ConnectionReason::Origin),
        (ConnectionSharing::Certificate, None) if wanted.port == known.address.port() => {
            Ok(ConnectionReason::Certificate)
        }
        (
            ConnectionSharing::Separate
            | ConnectionSharing::BrowserRule
            | ConnectionSharing::OriginFrame
            | ConnectionSharing::Certificate
            | ConnectionSharing::ResolverConnection,
            Some(SharedBecause::Origin) | None,
        ) => Err(SharingRefusal::Address),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ConnectionSharing::{BrowserRule, Certificate, OriginFrame, Separate};
    use std::net::Ipv4Addr;

    const ALL: [ConnectionSharing; 4] = [Separate, BrowserRule, OriginFrame, Certificate];

    /// Calls `judge` with all combinations of facts about a connection, and with a host's address
    /// and port.
    fn judge_each_case(mut judge: impl FnMut(ConnectionFactsForHost<'static>, IpAddr, u16)) {
        let address: SocketAddr = "192.0.2.1:443".parse().unwrap();
        let choices = [None, Some(false), Some(true)];
        for opened_for in ["a.test", "b.test"] {
            for (certificate_covers, origin_named) in choices
                .into_iter()
                .flat_map(|covers| choices.map(|named| (covers, named)))
            {
                for is_misdirected in [false, true] {
                    for ip in ["192.0.2.1", "192.0.2.9"] {
                        for port in [443, 8443] {
                            let known = ConnectionFactsForHost {
                                opened_for,
                                address,
                                certificate_covers,
                                origin_named,
                                is_misdirected,
                                is_resolvers: false,
                            };
                            judge(known, ip.parse().unwrap(), port);
                        }
                    }
                }
            }
        }
    }

    fn judge(
        sharing: ConnectionSharing,
        known: &ConnectionFactsForHost<'_>,
        ip: IpAddr,
        port: u16,
    ) -> Result<ConnectionReason, SharingRefusal> {
        let wanted = RequestTarget {
            host: "A.test",
            addresses: &[ip],
            port,
        };
        may_carry(sharing, &wanted, known)
    }

    /// Checks the rules of docs/method/coalescing.md from the other direction: the conditions on
    /// every shared connection.
    #[test]
    fn what_may_not_be_shared_is_not() {
        let mut shared_count = 0;
        judge_each_case(|known, ip, port| {
            for sharing in ALL {
                let Ok(reason) = judge(sharing, &known, ip, port) else {
                    continue;
                };
                if reason == ConnectionReason::OwnName {
                    assert_eq!((known.opened_for, port), ("a.test", 443));
                    continue;
                }
                shared_count += 1;
                assert_ne!(sharing, Separate);
                assert_eq!(known.certificate_covers, Some(true), "{known:?}");
                assert_ne!(known.origin_named, Some(false), "{known:?}");
                assert!(!known.is_misdirected);
                let is_there = known.address == SocketAddr::new(ip, port);
                match reason {
                    ConnectionReason::Address => assert!(is_there),
                    ConnectionReason::Origin => {
                        assert_eq!(known.origin_named, Some(true));
                        assert_ne!(sharing, BrowserRule);
                    }
                    ConnectionReason::Certificate => {
                        assert_eq!((sharing, port), (Certificate, 443));
                    }
                    ConnectionReason::OwnName => unreachable!(),
                }
            }
        });
        assert!(shared_count > 0);
    }

    /// Checks that every setting shares at least as much as the previous setting.
    #[test]
    fn each_setting_goes_further_than_the_one_before() {
        judge_each_case(|known, ip, port| {
            for pair in ALL.windows(2) {
                if judge(pair[0], &known, ip, port).is_ok() {
                    let reason = judge(pair[1], &known, ip, port);
                    assert_eq!(reason, judge(pair[0], &known, ip, port), "{known:?}");
                }
            }
        });
    }

    /// Checks that ORIGIN frames are the limit on the resolver's connection, with no sharing on
    /// other connections. Other settings share nothing on the resolver's connection.
    #[test]
    fn the_resolver_s_connection_is_a_setting_of_its_own() {
        let setting = ConnectionSharing::ResolverConnection;
        judge_each_case(|known, ip, port| {
            let resolvers = ConnectionFactsForHost {
                is_resolvers: true,
                ..known
            };
            let is_own = known.opened_for == "a.test" && port == 443;
            if !is_own {
                assert_eq!(
                    judge(setting, &known, ip, port),
                    Err(SharingRefusal::BySetting)
                );
                for other in ALL {
                    let judged = judge(other, &resolvers, ip, port);
                    assert_eq!(judged, Err(SharingRefusal::BySetting));
                }
            }
            assert_eq!(
                judge(setting, &resolvers, ip, port),
                judge(OriginFrame, &known, ip, port)
            );
        });
    }

    /// Opened for b.test at 192.0.2.1, with a certificate for a.test, too, and without an Origin
    /// Set.
    const GOOD: ConnectionFactsForHost<'static> = ConnectionFactsForHost {
        opened_for: "b.test",
        address: SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 443),
        certificate_covers: Some(true),
        origin_named: None,
        is_misdirected: false,
        is_resolvers: false,
    };
    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
    const ELSEWHERE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 9));

    fn named(origin_named: bool) -> ConnectionFactsForHost<'static> {
        ConnectionFactsForHost {
            origin_named: Some(origin_named),
            ..GOOD
        }
    }

    fn misdirected() -> ConnectionFactsForHost<'static> {
        ConnectionFactsForHost {
            is_misdirected: true,
            ..GOOD
        }
    }

    #[test]
    fn browsers_go_by_address_and_certificate() {
        let covers = |certificate_covers| ConnectionFactsForHost {
            certificate_covers,
            ..GOOD
        };
        let at = |known: ConnectionFactsForHost<'_>, ip| judge(BrowserRule, &known, ip, 443);
        assert_eq!(at(GOOD, HERE), Ok(ConnectionReason::Address));
        assert_eq!(at(GOOD, ELSEWHERE), Err(SharingRefusal::Address));
        assert_eq!(at(named(true), ELSEWHERE), Err(SharingRefusal::Address));
        assert_eq!(at(named(false), HERE), Err(SharingRefusal::OriginSet));
        assert_eq!(
            at(covers(Some(false)), HERE),
            Err(SharingRefusal::Certificate)
        );
        assert_eq!(
            at(covers(None), HERE),
            Err(SharingRefusal::HandshakeUnderWay)
        );
        assert_eq!(at(misdirected(), HERE), Err(SharingRefusal::Misdirected));
        let other_port = judge(BrowserRule, &GOOD, HERE, 8443);
        assert_eq!(other_port, Err(SharingRefusal::Address));
        let separate = judge(Separate, &GOOD, HERE, 443);
        assert_eq!(separate, Err(SharingRefusal::BySetting));
    }

    #[test]
    fn origin_frames_and_certificates_reach_further() {
        let (origin, certificate) = (ConnectionReason::Origin, ConnectionReason::Certificate);
        for (sharing, known, port, expected) in [
            (OriginFrame, named(true), 443, Ok(origin)),
            (OriginFrame, named(true), 8443, Ok(origin)),
            (OriginFrame, GOOD, 443, Err(SharingRefusal::Address)),
            (Certificate, named(true), 443, Ok(origin)),
            (Certificate, GOOD, 443, Ok(certificate)),
            (Certificate, GOOD, 8443, Err(SharingRefusal::Address)),
            (
                Certificate,
                named(false),
                443,
                Err(SharingRefusal::OriginSet),
            ),
            (
                Certificate,
                misdirected(),
                443,
                Err(SharingRefusal::Misdirected),
            ),
        ] {
            let judged = judge(sharing, &known, ELSEWHERE, port);
            assert_eq!(judged, expected, "{sharing:?} {known:?}");
        }
    }

    #[test]
    fn a_connection_is_its_own_name_s_whatever_is_said_of_others() {
        let own = ConnectionFactsForHost {
            opened_for: "a.test",
            is_misdirected: true,
            ..named(false)
        };
        let reason = Ok(ConnectionReason::OwnName);
        assert_eq!(judge(Separate, &own, ELSEWHERE, 443), reason);
        let other_port = judge(Certificate, &own, ELSEWHERE, 8443);
        assert_eq!(other_port, Err(SharingRefusal::Misdirected));
    }
}
