//! DoUDP. What does not answer the query is passed over, as anybody can send a datagram (RFC 5452
//! section 9.1), so most wrongs end as no response at all.

use crate::hostile::family::{Expected, Family, Peer, fails, is_answered, run, times_out, url};
use crate::hostile::script::{SPOILT, Step, framed, good, play};
use resolab_record::Failure;
use std::future::Future;
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, UdpSocket};

/// A resolver that answers the first query with these datagrams, and TCP with these steps.
async fn peer(
    datagrams: impl Fn(&[u8]) -> Vec<Vec<u8>> + Send + 'static,
    steps: impl Fn(&[u8]) -> Vec<Step> + Send + 'static,
) -> Peer {
    let (udp, tcp) = loop {
        let udp = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        if let Ok(tcp) = TcpListener::bind(udp.local_addr().unwrap()).await {
            break (udp, tcp);
        }
    };
    let url = url("udp", udp.local_addr().unwrap());
    let task = tokio::spawn(async move {
        let mut query = [0; 512];
        let (length, from) = udp.recv_from(&mut query).await.unwrap();
        for datagram in datagrams(&query[..length]) {
            udp.send_to(&datagram, from).await.unwrap();
        }
        let (mut stream, _) = tcp.accept().await.unwrap();
        let length = stream.read_u16().await.unwrap();
        let mut query = vec![0; usize::from(length)];
        stream.read_exact(&mut query).await.unwrap();
        let _ = play(&mut stream, &steps(&query)).await;
    });
    Peer { url, task }
}

fn datagrams(
    datagrams: impl Fn(&[u8]) -> Vec<Vec<u8>> + Send + 'static,
) -> impl Future<Output = Peer> + Send {
    peer(datagrams, |_| vec![Step::Hold])
}

fn truncated(query: &[u8]) -> Vec<u8> {
    let mut answer = good(query);
    answer[2] |= 0x02;
    answer
}

#[test]
fn datagrams_that_are_no_answer() {
    run(async || {
        let mut family = Family::default();
        let silence = times_out(Failure::QueryTimeout);
        family.case("nothing", silence, datagrams(|_| vec![]));
        family.case("an empty datagram", silence, datagrams(|_| vec![vec![]]));
        family.case(
            "another id",
            silence,
            datagrams(|query| {
                let mut answer = good(query);
                answer[0] ^= 1;
                vec![answer]
            }),
        );
        family.case(
            "65,507 bytes",
            silence,
            datagrams(|_| vec![vec![0x55; 65_507]]),
        );
        family.case(
            "wrong ones, then the right one",
            is_answered(),
            datagrams(|query| {
                let spoilt = SPOILT[..4].iter().map(|(_, spoil)| spoil(good(query)));
                spoilt.chain([good(query)]).collect()
            }),
        );
        for (what, spoil) in SPOILT {
            let expected = expected_of(what);
            family.case(
                what,
                expected,
                datagrams(move |query| vec![spoil(good(query))]),
            );
        }
        family
    });
}

/// The kernel and the echo let through only what comes from the resolver and names the query.
fn expected_of(what: &str) -> Expected {
    let is_echo = !matches!(
        what,
        "nothing but the id"
            | "half a header"
            | "a header only"
            | "cut in the question"
            | "a query (QR is 0)"
            | "another question"
    );
    if is_echo {
        fails(Failure::QueryMalformed, "no DNS message")
    } else {
        times_out(Failure::QueryTimeout)
    }
}

#[test]
fn truncated_and_then_wrong_over_tcp() {
    run(async || {
        let mut family = Family::default();
        let mut case = |name, detail, steps: fn(&[u8]) -> Vec<Step>| {
            let expected = fails(Failure::QueryTruncated, detail);
            family.case(name, expected, peer(|query| vec![truncated(query)], steps));
        };
        case("closed", "query_connection_closed", |_| vec![]);
        case("cut", "query_connection_closed", |query| {
            let framed = framed(&good(query));
            vec![Step::Send(framed[..20].to_vec())]
        });
        case("truncated again", "TC bit", |query| {
            vec![Step::Send(framed(&truncated(query))), Step::Hold]
        });
        family.case(
            "another question by TCP",
            fails(Failure::QueryMalformed, "another question"),
            peer(
                |query| vec![truncated(query)],
                |query| {
                    let mut answer = good(query);
                    answer[13] ^= 1;
                    vec![Step::Send(framed(&answer)), Step::Hold]
                },
            ),
        );
        family.case(
            "silence by TCP",
            times_out(Failure::QueryTimeout),
            peer(|query| vec![truncated(query)], |_| vec![Step::Hold]),
        );
        family
    });
}
