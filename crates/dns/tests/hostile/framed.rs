//! DoTCP and DoT: messages behind their length on a stream that breaks.

use crate::hostile::family::{Family, Peer, fails, is_answered, run, times_out, url};
use crate::hostile::script::{SPOILT, Step, framed, good, play};
use crate::hostile::tls_server::TlsPeer;
use resolab_record::Failure;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

type Steps = Box<dyn Fn(&[u8]) -> Vec<Step> + Send>;

pub async fn read_query<S: AsyncRead + Unpin>(stream: &mut S) -> std::io::Result<Vec<u8>> {
    let length = stream.read_u16().await?;
    let mut query = vec![0; usize::from(length)];
    stream.read_exact(&mut query).await?;
    Ok(query)
}

async fn listen() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").await.unwrap()
}

async fn peer(scheme: &'static str, steps: Steps) -> Peer {
    let listener = listen().await;
    let url = url(scheme, listener.local_addr().unwrap());
    let task = tokio::spawn(async move {
        let (mut tcp, _) = listener.accept().await.unwrap();
        if scheme == "tcp" {
            let query = read_query(&mut tcp).await.unwrap();
            let _ = play(&mut tcp, &steps(&query)).await;
            return;
        }
        let mut tls = TlsPeer::accept(tcp, "dot").await.unwrap();
        let query = read_query(&mut tls).await.unwrap();
        let _ = play(&mut tls, &steps(&query)).await;
    });
    Peer { url, task }
}

#[test]
fn responses_that_are_no_answer() {
    run(async || {
        let mut family = Family::default();
        for scheme in ["tcp", "tls"] {
            for (what, spoil) in SPOILT {
                let expected = fails(Failure::QueryMalformed, "the ");
                let steps =
                    move |query: &[u8]| vec![Step::Send(framed(&spoil(good(query)))), Step::Hold];
                family.case(
                    format!("{scheme}: {what}"),
                    expected,
                    peer(scheme, Box::new(steps)),
                );
            }
        }
        family
    });
}

/// Name, steps, whether it only ends at the deadline.
type Stream = (&'static str, fn(&[u8]) -> Vec<Step>, bool);

const STREAMS: [Stream; 10] = [
    ("closed at once", |_| vec![], false),
    ("closed in the length", |_| vec![Step::Send(vec![0])], false),
    (
        "closed in the message",
        |query| vec![Step::Send(framed(&good(query))[..9].to_vec())],
        false,
    ),
    (
        "an announced message that never comes",
        |_| vec![Step::Send(vec![0xff, 0xff]), Step::Hold],
        true,
    ),
    (
        "a length beyond the message",
        |query| {
            let mut bytes = framed(&good(query));
            bytes[0] = 0xff;
            vec![Step::Send(bytes), Step::Hold]
        },
        true,
    ),
    (
        "a length beyond the message, then closed",
        |query| {
            let mut bytes = framed(&good(query));
            bytes[0] = 0xff;
            vec![Step::Send(bytes)]
        },
        false,
    ),
    (
        "another id",
        |query| {
            let mut bytes = framed(&good(query));
            bytes[2] ^= 1;
            vec![Step::Send(bytes), Step::Hold]
        },
        true,
    ),
    (
        "answers to nothing, for ever",
        |query| {
            let mut bytes = framed(&[&good(query)[..], &[0; 60_000]].concat());
            bytes[2] ^= 1;
            vec![Step::Repeat(bytes)]
        },
        true,
    ),
    (
        "empty messages, for ever",
        |_| vec![Step::Repeat(vec![0; 4096])],
        true,
    ),
    (
        "a slow drip",
        |query| {
            vec![
                Step::Drip(framed(&good(query)), Duration::from_millis(50)),
                Step::Hold,
            ]
        },
        true,
    ),
];

#[test]
fn streams_that_break_or_never_end() {
    run(async || {
        let mut family = Family::default();
        for scheme in ["tcp", "tls"] {
            for (what, steps, at_deadline) in STREAMS {
                let expected = if at_deadline {
                    times_out(Failure::QueryTimeout)
                } else {
                    fails(Failure::QueryConnectionClosed, "")
                };
                family.case(
                    format!("{scheme}: {what}"),
                    expected,
                    peer(scheme, Box::new(steps)),
                );
            }
            let long = |query: &[u8]| {
                let padded = [&good(query)[..], &vec![0; 65_535 - good(query).len()]].concat();
                vec![Step::Send(framed(&padded)), Step::Hold]
            };
            // Trailing bytes are no part of the message.
            family.case(
                format!("{scheme}: 65,535 bytes"),
                is_answered(),
                peer(scheme, Box::new(long)),
            );
        }
        family
    });
}

/// A reset instead of a FIN.
fn reset(stream: &TcpStream) {
    stream.set_zero_linger().unwrap();
}

#[test]
fn resets() {
    run(async || {
        let mut family = Family::default();
        let closed = fails(Failure::QueryConnectionClosed, "");
        for (name, sent_bytes) in [("before", 0), ("within", 9)] {
            family.case(format!("tcp: {name} the response"), closed, async move {
                let listener = listen().await;
                let url = url("tcp", listener.local_addr().unwrap());
                let task = tokio::spawn(async move {
                    let (mut tcp, _) = listener.accept().await.unwrap();
                    let query = read_query(&mut tcp).await.unwrap();
                    let bytes = framed(&good(&query))[..sent_bytes].to_vec();
                    play(
                        &mut tcp,
                        &[Step::Send(bytes), Step::Wait(Duration::from_millis(20))],
                    )
                    .await
                    .unwrap();
                    reset(&tcp);
                });
                Peer { url, task }
            });
        }
        family.case("tcp: after the response", is_answered(), async move {
            let listener = listen().await;
            let url = url("tcp", listener.local_addr().unwrap());
            let task = tokio::spawn(async move {
                let (mut tcp, _) = listener.accept().await.unwrap();
                let query = read_query(&mut tcp).await.unwrap();
                play(
                    &mut tcp,
                    &[
                        Step::Send(framed(&good(&query))),
                        Step::Wait(Duration::from_millis(50)),
                    ],
                )
                .await
                .unwrap();
                reset(&tcp);
            });
            Peer { url, task }
        });
        for (scheme, expected) in [
            ("tcp", closed),
            ("tls", fails(Failure::TlsHandshakeFailed, "")),
            ("https", fails(Failure::TlsHandshakeFailed, "")),
        ] {
            family.case(
                format!("{scheme}: reset after the connect"),
                expected,
                async move {
                    let listener = listen().await;
                    let url = url(scheme, listener.local_addr().unwrap());
                    let task = tokio::spawn(async move {
                        let (tcp, _) = listener.accept().await.unwrap();
                        tokio::time::sleep(Duration::from_millis(50)).await;
                        reset(&tcp);
                    });
                    Peer { url, task }
                },
            );
        }
        for scheme in ["tcp", "tls", "https"] {
            family.case(
                format!("{scheme}: nobody listens"),
                fails(Failure::TcpConnectRefused, "refused"),
                async move {
                    // Bound and never listening, so that nobody else gets the port.
                    let socket = TcpSocket::new_v4().unwrap();
                    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
                    let url = url(scheme, socket.local_addr().unwrap());
                    let task = tokio::spawn(async move {
                        let _socket = socket;
                        std::future::pending::<()>().await;
                    });
                    Peer { url, task }
                },
            );
        }
        family
    });
}
