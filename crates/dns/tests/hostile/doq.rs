//! DoQ: peers that break the connection or the query's stream after the handshake.

use crate::hostile::family::{Expected, Family, Peer, fails, is_answered, run, times_out, url};
use crate::hostile::quic_server::{MutableSocket, endpoint_on, good_endpoint};
use crate::hostile::script::{SPOILT, framed, good};
use hickory_proto::op::Message;
use hickory_proto::rr::rdata::opt::{EdnsCode, EdnsOption};
use quinn::crypto::HmacKey;
use quinn::{Connection, EndpointConfig, RecvStream, SendStream, VarInt};
use resolab_record::Failure;
use std::future::{Future, pending};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

const CODE: VarInt = VarInt::from_u32(5);

/// A server that does `serve` with its first connection and keeps it.
async fn peer<F>(serve: impl FnOnce(Connection) -> F + Send + 'static) -> Peer
where
    F: Future<Output = ()> + Send,
{
    let endpoint = good_endpoint("doq");
    let url = url("quic", endpoint.local_addr().unwrap());
    let task = tokio::spawn(async move {
        let connection = endpoint.accept().await.unwrap().await.unwrap();
        serve(connection).await;
        pending::<()>().await;
    });
    Peer { url, task }
}

async fn query_of(connection: &Connection) -> (SendStream, RecvStream, Vec<u8>) {
    let (send, mut receive) = connection.accept_bi().await.unwrap();
    let framed = receive.read_to_end(65_537).await.unwrap();
    (send, receive, framed[2..].to_vec())
}

/// A server that answers the query's stream with these bytes, and with a FIN if asked.
async fn bytes(answer: impl Fn(&[u8]) -> Vec<u8> + Send + Sync + 'static, finish: bool) -> Peer {
    peer(async move |connection: Connection| {
        let (mut send, _receive, query) = query_of(&connection).await;
        let _ = send.write_all(&answer(&query)).await;
        if finish {
            send.finish().unwrap();
        }
        pending::<()>().await;
    })
    .await
}

fn with_keepalive(answer: &[u8]) -> Vec<u8> {
    let mut answer = Message::from_vec(answer).unwrap();
    let option = EdnsOption::Unknown(EdnsCode::Keepalive.into(), vec![0, 100]);
    let edns = answer.edns.get_or_insert_default();
    edns.options_mut().insert(option);
    answer.to_vec().unwrap()
}

fn closed(detail: &'static str) -> Expected {
    fails(Failure::QueryConnectionClosed, detail)
}

#[test]
fn responses_that_are_no_answer() {
    run(async || {
        let mut family = Family::default();
        for (what, spoil) in SPOILT {
            let expected = fails(Failure::QueryMalformed, "the ");
            family.case(
                what,
                expected,
                bytes(move |query| framed(&spoil(good(query))), true),
            );
        }
        let expected = fails(Failure::QueryMalformed, "edns-tcp-keepalive");
        family.case(
            "an edns-tcp-keepalive option",
            expected,
            bytes(|query| framed(&with_keepalive(&good(query))), true),
        );
        let expected = fails(Failure::QueryMalformed, "id");
        family.case(
            "an id other than 0",
            expected,
            bytes(
                |query| {
                    let mut answer = good(query);
                    answer[0] = 9;
                    framed(&answer)
                },
                true,
            ),
        );
        family
    });
}

#[test]
fn streams_that_break_or_never_end() {
    run(async || {
        let mut family = Family::default();
        let silence = times_out(Failure::QueryTimeout);
        family.case("nothing", silence, bytes(|_| vec![], false));
        family.case(
            "a FIN without a response",
            closed("ended before"),
            bytes(|_| vec![], true),
        );
        family.case(
            "half a length",
            closed("ended before"),
            bytes(|_| vec![0], true),
        );
        family.case(
            "half a message",
            closed("ended before"),
            bytes(|query| framed(&good(query))[..20].to_vec(), true),
        );
        family.case(
            "a length beyond the message",
            closed("ended before"),
            bytes(
                |query| {
                    let mut bytes = framed(&good(query));
                    bytes[0] = 0xff;
                    bytes
                },
                true,
            ),
        );
        family.case(
            "a length beyond the message, and no end",
            silence,
            bytes(
                |query| {
                    let mut bytes = framed(&good(query));
                    bytes[0] = 0xff;
                    bytes
                },
                false,
            ),
        );
        family.case(
            "a response without a FIN",
            is_answered(),
            bytes(|query| framed(&good(query)), false),
        );
        let two = |query: &[u8]| [framed(&good(query)), framed(&good(query))].concat();
        family.case(
            "two responses",
            fails(Failure::QueryMalformed, "more than one"),
            bytes(two, true),
        );
        family.case(
            "a response and a megabyte",
            fails(Failure::QueryMalformed, "more than one"),
            bytes(
                |query| [framed(&good(query)), vec![0; 1 << 20]].concat(),
                true,
            ),
        );
        family.case(
            "a slow drip",
            silence,
            peer(async |connection: Connection| {
                let (mut send, _receive, query) = query_of(&connection).await;
                for byte in framed(&good(&query)) {
                    if send.write_all(&[byte]).await.is_err() {
                        return;
                    }
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }),
        );
        family.case(
            "a reset stream",
            closed("code 5"),
            peer(async |connection: Connection| {
                let (mut send, _receive, _) = query_of(&connection).await;
                send.reset(CODE).unwrap();
                pending::<()>().await;
            }),
        );
        family.case(
            "a stream stopped and reset",
            closed("code 5"),
            peer(async |connection: Connection| {
                let (mut send, mut receive) = connection.accept_bi().await.unwrap();
                let _ = receive.stop(CODE);
                send.reset(CODE).unwrap();
                pending::<()>().await;
            }),
        );
        family.case(
            "a stream reset in the response",
            closed("code 5"),
            peer(async |connection: Connection| {
                let (mut send, _receive, query) = query_of(&connection).await;
                send.write_all(&framed(&good(&query))[..20]).await.unwrap();
                tokio::time::sleep(Duration::from_millis(20)).await;
                send.reset(CODE).unwrap();
                pending::<()>().await;
            }),
        );
        family
    });
}

#[test]
fn connections_that_are_closed() {
    run(async || {
        let mut family = Family::default();
        family.case(
            "after the handshake",
            closed("by peer"),
            peer(async |connection: Connection| {
                connection.close(CODE, b"no more");
            }),
        );
        family.case(
            "after the query",
            closed("by peer"),
            peer(async |connection: Connection| {
                let _stream = query_of(&connection).await;
                connection.close(CODE, b"no more");
            }),
        );
        family.case(
            "in the response",
            closed("by peer"),
            peer(async |connection: Connection| {
                let (mut send, _receive, query) = query_of(&connection).await;
                send.write_all(&framed(&good(&query))[..20]).await.unwrap();
                tokio::time::sleep(Duration::from_millis(20)).await;
                connection.close(CODE, b"no more");
            }),
        );
        family.case("by a stateless reset", closed("reset"), stateless_reset());
        family.case(
            "a reason of many lines",
            closed("by peer"),
            peer(async |connection: Connection| {
                connection.close(CODE, b"one\r\ntwo\x1b[31m\nthree\0");
            }),
        );
        family
    });
}

/// Keys the tokens of stateless resets; nothing is secret here.
struct OpenKey;

impl HmacKey for OpenKey {
    fn sign(&self, data: &[u8], signature_out: &mut [u8]) {
        signature_out.fill(0x5a);
        let length = data.len().min(signature_out.len());
        signature_out[..length].copy_from_slice(&data[..length]);
    }

    fn signature_len(&self) -> usize {
        64
    }

    fn verify(&self, _data: &[u8], _signature: &[u8]) -> Result<(), quinn::crypto::CryptoError> {
        Ok(())
    }
}

fn endpoint_config() -> EndpointConfig {
    let mut config = EndpointConfig::new(Arc::new(OpenKey));
    // Ids that a server which forgot everything still takes for its own.
    config.cid_generator(|| Box::new(quinn_proto::RandomConnectionIdGenerator::new(8)));
    config
}

/// A server that forgets its connections (RFC 9000 section 10.3) when the query comes.
async fn stateless_reset() -> Peer {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let url = url("quic", socket.local_addr().unwrap());
    let task = tokio::spawn(async move {
        let after = socket.try_clone().unwrap();
        let before = MutableSocket::new(socket);
        let first = endpoint_on(Arc::clone(&before), "doq", endpoint_config());
        let connection = first.accept().await.unwrap().await.unwrap();
        let _ = connection.accept_bi().await.unwrap();
        before.is_muted.store(true, Ordering::SeqCst);
        drop((first, connection));
        let second = endpoint_on(MutableSocket::new(after), "doq", endpoint_config());
        let _ = second.accept().await;
        pending::<()>().await;
    });
    Peer { url, task }
}
