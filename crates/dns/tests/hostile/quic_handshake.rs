//! DoQ and DoH3: peers that spoil the QUIC handshake.

use crate::hostile::family::{Expected, Family, Peer, fails, run, times_out, url};
use crate::hostile::pki::Pki;
use crate::hostile::quic_server::{endpoint, good_endpoint};
use quinn::{Incoming, VarInt};
use resolab_record::Failure;
use std::future::{Future, pending};
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::task::JoinSet;

pub const QUIC_SCHEMES: [(&str, &str); 2] = [("quic", "doq"), ("h3", "h3")];

/// A peer that answers each datagram with these.
async fn raw(scheme: &'static str, reply: fn(&[u8]) -> Vec<Vec<u8>>) -> Peer {
    let udp = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let url = url(scheme, udp.local_addr().unwrap());
    let task = tokio::spawn(async move {
        let mut datagram = [0; 2048];
        loop {
            let (length, from) = udp.recv_from(&mut datagram).await.unwrap();
            for reply in reply(&datagram[..length]) {
                let _ = udp.send_to(&reply, from).await;
            }
        }
    });
    Peer { url, task }
}

/// Version Negotiation (RFC 9000 section 17.2.1), the client's ids in their places.
fn version_negotiation(datagram: &[u8], versions: &[u32]) -> Vec<u8> {
    let take = |at: usize| {
        let length = usize::from(datagram[at]);
        (&datagram[at..=at + length], at + 1 + length)
    };
    let (destination, next) = take(5);
    let (source, _) = take(next);
    let versions = versions.iter().flat_map(|version| version.to_be_bytes());
    let mut packet = vec![0xc0, 0, 0, 0, 0];
    packet.extend(source);
    packet.extend(destination);
    packet.extend(versions);
    packet
}

fn broken(detail: &'static str) -> Expected {
    fails(Failure::QuicHandshakeFailed, detail)
}

#[test]
fn datagrams_that_are_no_handshake() {
    run(async || {
        let mut family = Family::default();
        let silence = times_out(Failure::QuicHandshakeTimeout);
        for (scheme, _) in QUIC_SCHEMES {
            let mut case = |name: &str, expected, reply| {
                family.case(format!("{scheme}: {name}"), expected, raw(scheme, reply));
            };
            case("silence", silence, |_| vec![]);
            case("garbage", silence, |_| {
                vec![
                    vec![0x55; 1200],
                    vec![0xff; 40],
                    vec![],
                    vec![0xc0, 0, 0, 0, 1, 255],
                ]
            });
            case("its own packets", silence, |datagram| {
                vec![datagram.to_vec()]
            });
            // A client that sent no short header yet knows no reset token.
            case("a stateless reset out of nothing", silence, |_| {
                vec![vec![0x41; 43]]
            });
            case("a version nobody knows", broken("version"), |datagram| {
                vec![version_negotiation(datagram, &[0x1a2a_3a4a, 0xff00_00ff])]
            });
            // RFC 9000 section 6.2: one that lists the version in use is passed over.
            case("the version it has, negotiated", silence, |datagram| {
                vec![version_negotiation(datagram, &[1, 0x1a2a_3a4a])]
            });
        }
        family
    });
}

/// A QUIC server that does `serve` with each client.
async fn server<F>(
    (scheme, endpoint): (&'static str, quinn::Endpoint),
    serve: impl Fn(Incoming) -> F + Send + 'static,
) -> Peer
where
    F: Future<Output = ()> + Send + 'static,
{
    let url = url(scheme, endpoint.local_addr().unwrap());
    let task = tokio::spawn(async move {
        let mut clients = JoinSet::new();
        while let Some(incoming) = endpoint.accept().await {
            clients.spawn(serve(incoming));
        }
    });
    Peer { url, task }
}

#[test]
fn closed_within_the_handshake() {
    run(async || {
        let mut family = Family::default();
        for (scheme, alpn) in QUIC_SCHEMES {
            let good = (scheme, good_endpoint(alpn));
            family.case(
                format!("{scheme}: refused at the first packet"),
                broken("refused"),
                server(good, async |incoming: Incoming| {
                    incoming.refuse();
                }),
            );
            let good = (scheme, good_endpoint(alpn));
            family.case(
                format!("{scheme}: a Retry, then refused"),
                broken("refused"),
                server(good, async |incoming: Incoming| {
                    if incoming.remote_address_validated() {
                        incoming.refuse();
                    } else {
                        incoming.retry().unwrap();
                    }
                }),
            );
            let good = (scheme, good_endpoint(alpn));
            // The close leaves with the ServerHello, in Initial and Handshake packets.
            family.case(
                format!("{scheme}: closed with the ServerHello"),
                broken(""),
                server(good, async |incoming: Incoming| {
                    let connection = incoming.accept().unwrap().into_0rtt().map(|(c, _)| c).ok();
                    connection.unwrap().close(VarInt::from_u32(7), b"go away");
                }),
            );
            let other = (scheme, endpoint(&Pki::shared().good, "smtp"));
            family.case(
                format!("{scheme}: no protocol in common"),
                // The alert no_application_protocol, as over TCP (RFC 9001 section 8.1).
                fails(Failure::TlsAlpnMismatch, ""),
                server(other, async |incoming: Incoming| {
                    let _ = incoming.await;
                }),
            );
            let good = (scheme, good_endpoint(alpn));
            let silence = times_out(Failure::QuicHandshakeTimeout);
            family.case(
                format!("{scheme}: never accepted"),
                silence,
                server(good, async |incoming: Incoming| {
                    let _incoming = incoming;
                    tokio::time::sleep(Duration::from_secs(2)).await;
                }),
            );
        }
        family
    });
}

#[test]
fn certificates_nobody_should_trust() {
    run(async || {
        let mut family = Family::default();
        let pki = Pki::shared();
        for (what, certificate) in [
            ("another name", &pki.other_name),
            ("expired", &pki.expired),
            ("not yet valid", &pki.not_yet_valid),
            ("an unknown authority", &pki.unknown_authority),
        ] {
            for (scheme, alpn) in QUIC_SCHEMES {
                let expected = fails(Failure::TlsCertificateInvalid, "certificate");
                let bad = (scheme, endpoint(certificate, alpn));
                family.case(
                    format!("{scheme}: {what}"),
                    expected,
                    server(bad, async |incoming: Incoming| {
                        let _ = incoming.await;
                        pending::<()>().await;
                    }),
                );
            }
        }
        family
    });
}
