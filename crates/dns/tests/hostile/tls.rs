//! DoT and DoH: peers that spoil the TLS handshake, or break the connection by an alert later.

use crate::hostile::family::{Expected, Family, Peer, fails, run, times_out, url};
use crate::hostile::framed::read_query;
use crate::hostile::pki::Pki;
use crate::hostile::script::{framed, good};
use crate::hostile::tls_server::{HandshakePeer, TlsPeer, config};
use resolab_record::Failure;
use std::future::{Future, pending};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const TLS_SCHEMES: [(&str, &str); 2] = [("tls", "dot"), ("https", "h2")];
/// handshake_failure, fatal, in the clear.
const ALERT: [u8; 7] = [0x15, 3, 3, 0, 2, 2, 40];

/// A peer that does `serve` with the first connection and then keeps what it returns.
async fn peer<F, Keep>(
    scheme: &'static str,
    serve: impl FnOnce(TcpStream) -> F + Send + 'static,
) -> Peer
where
    F: Future<Output = std::io::Result<Keep>> + Send,
    Keep: Send,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = url(scheme, listener.local_addr().unwrap());
    let task = tokio::spawn(async move {
        let (tcp, _) = listener.accept().await.unwrap();
        let _kept = serve(tcp).await;
        pending::<()>().await;
    });
    Peer { url, task }
}

async fn read_hello(tcp: &mut TcpStream) -> std::io::Result<()> {
    tcp.read(&mut [0; 4096]).await.map(|_| ())
}

fn broken() -> Expected {
    fails(Failure::TlsHandshakeFailed, "")
}

#[test]
fn before_the_server_hello() {
    run(async || {
        let mut family = Family::default();
        for (scheme, _) in TLS_SCHEMES {
            family.case(
                format!("{scheme}: an alert"),
                broken(),
                peer(scheme, async |mut tcp| {
                    read_hello(&mut tcp).await?;
                    tcp.write_all(&ALERT).await?;
                    Ok(tcp)
                }),
            );
            family.case(
                format!("{scheme}: closed"),
                broken(),
                peer(scheme, async |mut tcp| read_hello(&mut tcp).await),
            );
            family.case(
                format!("{scheme}: garbage"),
                broken(),
                peer(scheme, async |mut tcp| {
                    read_hello(&mut tcp).await?;
                    tcp.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await?;
                    Ok(tcp)
                }),
            );
            family.case(
                format!("{scheme}: a handshake message without end"),
                broken(),
                peer(scheme, async |mut tcp| {
                    read_hello(&mut tcp).await?;
                    // A record may not be that long; a ServerHello neither.
                    let record = [
                        &[0x16, 3, 3, 0x40, 0][..],
                        &[2, 0xff, 0xff, 0xff],
                        &[0; 0x4000 - 4],
                    ]
                    .concat();
                    loop {
                        tcp.write_all(&record).await?;
                        if false {
                            return Ok(tcp);
                        }
                    }
                }),
            );
            let silent = times_out(Failure::TlsHandshakeTimeout);
            family.case(
                format!("{scheme}: silence"),
                silent,
                peer(scheme, async |mut tcp| {
                    read_hello(&mut tcp).await?;
                    Ok(tcp)
                }),
            );
        }
        family
    });
}

#[test]
fn within_the_handshake() {
    run(async || {
        let mut family = Family::default();
        for (scheme, alpn) in TLS_SCHEMES {
            // Where the server's first flight is cut: the ServerHello is its first record.
            for (what, part) in [("in", 0.5), ("after", 1.0)] {
                for (end, alert) in [("an alert", true), ("closed", false)] {
                    let name = format!("{scheme}: {end} {what} the ServerHello");
                    // Within a record an alert cannot be told from the record's rest.
                    let expected = if alert && part < 1.0 {
                        times_out(Failure::TlsHandshakeTimeout)
                    } else {
                        broken()
                    };
                    family.case(
                        name,
                        expected,
                        peer(scheme, async move |tcp| {
                            let mut server =
                                HandshakePeer::new(tcp, config(&Pki::shared().good, alpn));
                            let flight = server.flight().await?;
                            let hello_bytes =
                                5 + usize::from(u16::from_be_bytes([flight[3], flight[4]]));
                            let cut = (hello_bytes as f64 * part) as usize;
                            server.tcp.write_all(&flight[..cut]).await?;
                            if alert {
                                server.tcp.write_all(&ALERT).await?;
                                return Ok(Some(server));
                            }
                            Ok(None)
                        }),
                    );
                }
            }
            let name = format!("{scheme}: a drip");
            family.case(
                name,
                times_out(Failure::TlsHandshakeTimeout),
                peer(scheme, async move |tcp| {
                    let mut server = HandshakePeer::new(tcp, config(&Pki::shared().good, alpn));
                    for byte in server.flight().await? {
                        server.tcp.write_all(&[byte]).await?;
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                    Ok(server)
                }),
            );
            let name = format!("{scheme}: a flight that was tampered with");
            family.case(
                name,
                broken(),
                peer(scheme, async move |tcp| {
                    let mut server = HandshakePeer::new(tcp, config(&Pki::shared().good, alpn));
                    let mut flight = server.flight().await?;
                    let end = flight.len() - 3;
                    flight[end] ^= 1;
                    server.tcp.write_all(&flight).await?;
                    Ok(server)
                }),
            );
        }
        family
    });
}

#[test]
fn after_the_handshake() {
    run(async || {
        let mut family = Family::default();
        for (scheme, alpn) in TLS_SCHEMES {
            let closed = fails(Failure::QueryConnectionClosed, "");
            family.case(
                format!("{scheme}: an alert at once"),
                closed,
                peer(scheme, async move |tcp| {
                    TlsPeer::accept(tcp, alpn).await?.send_alert().await
                }),
            );
            family.case(
                format!("{scheme}: an alert to the query"),
                closed,
                peer(scheme, async move |tcp| {
                    let mut tls = TlsPeer::accept(tcp, alpn).await?;
                    tls.read_u8().await?;
                    tls.send_alert().await
                }),
            );
            family.case(
                format!("{scheme}: cut off without close_notify"),
                closed,
                peer(scheme, async move |tcp| {
                    let mut tls = TlsPeer::accept(tcp, alpn).await?;
                    tls.read_u8().await?;
                    drop(tls.into_tcp());
                    Ok(())
                }),
            );
            family.case(
                format!("{scheme}: garbage in the stream"),
                closed,
                peer(scheme, async move |tcp| {
                    let mut tls = TlsPeer::accept(tcp, alpn).await?;
                    tls.read_u8().await?;
                    let mut tcp = tls.into_tcp();
                    tcp.write_all(&[0x17, 3, 3, 0, 4, 1, 2, 3, 4]).await?;
                    Ok(tcp)
                }),
            );
        }
        let closed = fails(Failure::QueryConnectionClosed, "");
        family.case(
            "tls: an alert in the response",
            closed,
            peer("tls", async |tcp| {
                let mut tls = TlsPeer::accept(tcp, "dot").await?;
                let query = read_query(&mut tls).await?;
                tls.write_all(&framed(&good(&query))[..20]).await?;
                tls.flush().await?;
                tls.send_alert().await
            }),
        );
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
            for (scheme, alpn) in TLS_SCHEMES {
                let expected = fails(Failure::TlsCertificateInvalid, "certificate");
                family.case(
                    format!("{scheme}: {what}"),
                    expected,
                    peer(scheme, async move |tcp| {
                        let mut server = HandshakePeer::new(tcp, config(certificate, alpn));
                        let flight = server.flight().await?;
                        server.tcp.write_all(&flight).await?;
                        Ok(server)
                    }),
                );
            }
        }
        for (scheme, _) in TLS_SCHEMES {
            let expected = fails(Failure::TlsAlpnMismatch, "");
            family.case(
                format!("{scheme}: no protocol in common"),
                expected,
                peer(scheme, async |tcp| {
                    let mut server = HandshakePeer::new(tcp, config(&Pki::shared().good, "smtp"));
                    let flight = server.flight().await?;
                    server.tcp.write_all(&flight).await?;
                    Ok(server)
                }),
            );
        }
        family
    });
}
