//! DoH3: peers that answer with something else than a DNS message, or break the rules of HTTP/3.

use crate::hostile::family::{Expected, Family, Peer, fails, is_answered, run, times_out, url};
use crate::hostile::quic_server::good_endpoint;
use crate::hostile::script::{SPOILT, good};
use quinn::{Connection, SendStream, VarInt};
use resolab_record::Failure;
use std::future::{Future, pending};
use std::time::Duration;

const DATA: u64 = 0;
const HEADERS: u64 = 1;
const SETTINGS: u64 = 4;
const GOAWAY: u64 = 7;
const CONTROL_STREAM: u8 = 0;
/// H3_INTERNAL_ERROR and H3_REQUEST_REJECTED (RFC 9114 section 8.1).
const INTERNAL_ERROR: VarInt = VarInt::from_u32(0x102);
const REQUEST_REJECTED: VarInt = VarInt::from_u32(0x10b);

/// RFC 9000 section 16, four bytes long.
fn integer(value: u64) -> [u8; 4] {
    (value as u32 | 0x8000_0000).to_be_bytes()
}

fn frame(kind: u64, payload: &[u8]) -> Vec<u8> {
    [&integer(kind)[..], &integer(payload.len() as u64), payload].concat()
}

/// Fields without compression (RFC 9204 section 4.5.6), after the prefix of two zeros.
fn fields(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = vec![0, 0];
    for (name, value) in fields {
        push_length(&mut block, 0x20, 3, name.len());
        block.extend(name.as_bytes());
        push_length(&mut block, 0, 7, value.len());
        block.extend(value.as_bytes());
    }
    block
}

/// RFC 7541 section 5.1 with a prefix of a number of bits behind a pattern.
fn push_length(block: &mut Vec<u8>, pattern: u8, bits: u32, length: usize) {
    let most = (1 << bits) - 1;
    if length < most {
        block.push(pattern | length as u8);
        return;
    }
    block.push(pattern | most as u8);
    let mut rest = length - most;
    while rest >= 128 {
        block.push((rest % 128) as u8 | 0x80);
        rest /= 128;
    }
    block.push(rest as u8);
}

fn head(status: &str, media_type: Option<&str>) -> Vec<u8> {
    let mut list = vec![(":status", status)];
    list.extend(media_type.map(|media_type| ("content-type", media_type)));
    frame(HEADERS, &fields(&list))
}

fn good_head() -> Vec<u8> {
    head("200", Some("application/dns-message"))
}

/// An accepted connection with a control stream, on which these bytes follow the type.
async fn peer<F>(
    control: Vec<u8>,
    serve: impl FnOnce(Connection, SendStream, Option<SendStream>, Vec<u8>) -> F + Send + 'static,
) -> Peer
where
    F: Future<Output = ()> + Send,
{
    let endpoint = good_endpoint("h3");
    let url = url("h3", endpoint.local_addr().unwrap());
    let task = tokio::spawn(async move {
        let connection = endpoint.accept().await.unwrap().await.unwrap();
        let mut stream = connection.open_uni().await.unwrap();
        let _ = stream
            .write_all(&[&[CONTROL_STREAM][..], &control].concat())
            .await;
        let Ok((send, mut receive)) = connection.accept_bi().await else {
            return;
        };
        let request = receive.read_to_end(1 << 16).await.unwrap_or_default();
        serve(connection, send, Some(stream), query_of(&request)).await;
        pending::<()>().await;
    });
    Peer { url, task }
}

/// The body of a request: of its last frame, DATA.
fn query_of(request: &[u8]) -> Vec<u8> {
    let mut rest = request;
    let mut body = Vec::new();
    while let Some((kind, after)) = take_integer(rest) {
        let Some((length, after)) = take_integer(after) else {
            break;
        };
        let (payload, after) = after.split_at((length as usize).min(after.len()));
        if kind == DATA {
            body = payload.to_vec();
        }
        rest = after;
    }
    body
}

fn take_integer(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let length = 1_usize << (bytes.first()? >> 6);
    let (integer, rest) = bytes.split_at_checked(length)?;
    let value = integer
        .iter()
        .fold(0, |value, byte| value << 8 | u64::from(*byte));
    Some((value & (u64::MAX >> (66 - 8 * length as u32)), rest))
}

fn settings() -> Vec<u8> {
    frame(SETTINGS, &[])
}

/// Answers the query's stream with these frames, and with a FIN if asked.
fn frames(
    frames: impl Fn(&[u8]) -> Vec<Vec<u8>> + Send + Sync + 'static,
    finish: bool,
) -> impl Future<Output = Peer> + Send {
    peer(
        settings(),
        async move |_connection, mut send: SendStream, _control, query: Vec<u8>| {
            for frame in frames(&query) {
                if send.write_all(&frame).await.is_err() {
                    return;
                }
            }
            if finish {
                let _ = send.finish();
            }
            pending::<()>().await;
        },
    )
}

/// The same, with these frames on the control stream in place of SETTINGS.
fn control(frames: Vec<u8>) -> impl Future<Output = Peer> + Send {
    peer(
        frames,
        async |_connection, _send: SendStream, _control, _query: Vec<u8>| pending().await,
    )
}

fn http(detail: &'static str) -> Expected {
    fails(Failure::HttpProtocol, detail)
}

#[test]
fn responses_that_are_no_dns_message() {
    run(async || {
        let mut family = Family::default();
        for status in ["301", "404", "415", "500", "503"] {
            let expected = fails(Failure::HttpStatus, status);
            family.case(
                format!("status {status}"),
                expected,
                frames(
                    move |query| {
                        vec![
                            head(status, Some("application/dns-message")),
                            frame(DATA, &good(query)),
                        ]
                    },
                    true,
                ),
            );
        }
        for media_type in [Some("text/html"), Some(""), None] {
            let expected = fails(Failure::QueryMalformed, "media type");
            family.case(
                format!("media type {media_type:?}"),
                expected,
                frames(
                    move |query| vec![head("200", media_type), frame(DATA, &good(query))],
                    true,
                ),
            );
        }
        let expected = fails(Failure::QueryMalformed, "0 bytes");
        family.case(
            "an empty body",
            expected,
            frames(|_| vec![good_head()], true),
        );
        for (what, spoil) in SPOILT {
            let expected = fails(Failure::QueryMalformed, "the ");
            family.case(
                what,
                expected,
                frames(
                    move |query| vec![good_head(), frame(DATA, &spoil(good(query)))],
                    true,
                ),
            );
        }
        family.case(
            "103, then the answer",
            is_answered(),
            frames(
                |query| vec![head("103", None), good_head(), frame(DATA, &good(query))],
                true,
            ),
        );
        family.case(
            "trailers",
            is_answered(),
            frames(
                |query| {
                    vec![
                        good_head(),
                        frame(DATA, &good(query)),
                        frame(HEADERS, &fields(&[("x-checksum", "0")])),
                    ]
                },
                true,
            ),
        );
        family
    });
}

#[test]
fn bodies_that_are_too_long_or_never_end() {
    run(async || {
        let mut family = Family::default();
        let silence = times_out(Failure::QueryTimeout);
        family.case(
            "an endless body",
            http("too large"),
            peer(
                settings(),
                async |_connection, mut send: SendStream, _control, _query: Vec<u8>| {
                    let _ = send.write_all(&good_head()).await;
                    while send.write_all(&frame(DATA, &[0; 16_384])).await.is_ok() {}
                },
            ),
        );
        family.case(
            "a frame of a gigabyte",
            http("too large"),
            peer(
                settings(),
                async |_connection, mut send: SendStream, _control, _query: Vec<u8>| {
                    let header = [integer(DATA), integer(1 << 29)].concat();
                    let _ = send.write_all(&[good_head(), header].concat()).await;
                    while send.write_all(&[0; 16_384]).await.is_ok() {}
                },
            ),
        );
        family.case(
            "a head without a body",
            silence,
            frames(|_| vec![good_head()], false),
        );
        family.case(
            "half a body",
            silence,
            frames(
                |query| vec![good_head(), frame(DATA, &good(query)[..20])],
                false,
            ),
        );
        family.case(
            "a frame that ends early",
            http(""),
            frames(
                |query| {
                    let mut bytes = frame(DATA, &good(query));
                    bytes.truncate(30);
                    vec![good_head(), bytes]
                },
                true,
            ),
        );
        family.case(
            "a frame that ends early, the end later than its bytes",
            http("within a frame"),
            peer(
                settings(),
                async |_connection, mut send: SendStream, _control, query: Vec<u8>| {
                    let mut bytes = frame(DATA, &good(&query));
                    bytes.truncate(30);
                    let _ = send.write_all(&[good_head(), bytes].concat()).await;
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    let _ = send.finish();
                    pending::<()>().await;
                },
            ),
        );
        for (name, differs_by) in [("shorter", -1), ("longer", 1)] {
            family.case(
                format!("a body {name} than its content-length"),
                http("content-length"),
                frames(
                    move |query| {
                        let body = good(query);
                        let length = (body.len() as i64 - differs_by).to_string();
                        let list = [
                            (":status", "200"),
                            ("content-type", "application/dns-message"),
                            ("content-length", &length),
                        ];
                        vec![frame(HEADERS, &fields(&list)), frame(DATA, &body)]
                    },
                    true,
                ),
            );
        }
        family.case(
            "a slow drip",
            silence,
            peer(
                settings(),
                async |_connection, mut send: SendStream, _control, query: Vec<u8>| {
                    for byte in [good_head(), frame(DATA, &good(&query))].concat() {
                        if send.write_all(&[byte]).await.is_err() {
                            return;
                        }
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                },
            ),
        );
        family.case(
            "frames of unknown types, for ever",
            http("too large").within(Duration::from_secs(10)),
            peer(
                settings(),
                async |_connection, mut send: SendStream, _control, _query: Vec<u8>| {
                    while send.write_all(&frame(0x21, &[0; 100])).await.is_ok() {}
                },
            ),
        );
        family
    });
}

#[test]
fn frames_against_the_rules() {
    run(async || {
        let mut family = Family::default();
        let mut case = |name: &str, make: fn(&[u8]) -> Vec<Vec<u8>>| {
            family.case(name, http(""), frames(make, true));
        };
        case("a FIN without a response", |_| vec![]);
        case("half a frame header", |_| vec![vec![0x80, 0]]);
        case("DATA before the head", |query| {
            vec![frame(DATA, &good(query))]
        });
        case("SETTINGS on the query's stream", |_| vec![settings()]);
        case("a frame type of HTTP/2", |_| vec![frame(6, &[0; 8])]);
        case("a head that cannot be decompressed", |_| {
            vec![frame(HEADERS, &[0xff; 40])]
        });
        case("a head of no bytes", |_| vec![frame(HEADERS, &[])]);
        case("no status", |_| {
            vec![frame(HEADERS, &fields(&[("x", "y")]))]
        });
        case("a status that is no number", |_| vec![head("okay", None)]);
        case("field names in upper case", |_| {
            vec![frame(
                HEADERS,
                &fields(&[(":status", "200"), ("Content-Type", "x")]),
            )]
        });
        for (name, frames) in [
            ("DATA on the control stream", frame(DATA, b"x")),
            ("no SETTINGS first", frame(GOAWAY, &integer(0))),
            ("SETTINGS cut", frame(SETTINGS, &[1])),
            ("a setting of HTTP/2", frame(SETTINGS, &[3, 1])),
            ("SETTINGS twice", [settings(), settings()].concat()),
        ] {
            family.case(name, http(""), control(frames));
        }
        family
    });
}

#[test]
fn heads_without_bound() {
    run(async || {
        let mut family = Family::default();
        family.case(
            "a head of 64 MB",
            http("too large").within(Duration::from_secs(10)),
            peer(
                settings(),
                async |_connection, mut send: SendStream, _control, _query: Vec<u8>| {
                    let header = [integer(HEADERS), integer(64 << 20)].concat();
                    let _ = send.write_all(&header).await;
                    for _ in 0..(64 << 20) / 16_384 {
                        if send.write_all(&[0; 16_384]).await.is_err() {
                            return;
                        }
                    }
                },
            ),
        );
        family
    });
}

#[test]
fn connections_and_streams_that_are_ended() {
    run(async || {
        let mut family = Family::default();
        let refused = fails(Failure::QueryConnectionClosed, "H3_REQUEST_REJECTED");
        for (name, code, expected) in [
            ("H3_INTERNAL_ERROR", INTERNAL_ERROR, http("")),
            ("H3_REQUEST_REJECTED", REQUEST_REJECTED, refused),
        ] {
            family.case(
                format!("reset with {name}"),
                expected,
                peer(
                    settings(),
                    async move |_connection, mut send: SendStream, _control, _query: Vec<u8>| {
                        let _ = send.reset(code);
                        pending::<()>().await;
                    },
                ),
            );
            family.case(
                format!("a head, then reset with {name}"),
                http(""),
                peer(
                    settings(),
                    async move |_connection, mut send: SendStream, _control, _query: Vec<u8>| {
                        let _ = send.write_all(&good_head()).await;
                        tokio::time::sleep(Duration::from_millis(20)).await;
                        let _ = send.reset(code);
                        pending::<()>().await;
                    },
                ),
            );
            let closed = fails(Failure::QueryConnectionClosed, "by peer");
            family.case(
                format!("closed with {name}"),
                closed,
                peer(
                    settings(),
                    async move |connection: Connection, _send, _control, _query: Vec<u8>| {
                        connection.close(code, b"no more");
                    },
                ),
            );
            family.case(
                format!("closed with {name} in the response"),
                closed,
                peer(
                    settings(),
                    async move |connection: Connection,
                                mut send: SendStream,
                                _control,
                                query: Vec<u8>| {
                        let half = [good_head(), frame(DATA, &good(&query)[..20])].concat();
                        let _ = send.write_all(&half).await;
                        tokio::time::sleep(Duration::from_millis(20)).await;
                        connection.close(code, b"no more");
                    },
                ),
            );
        }
        let go_away = |id| [settings(), frame(GOAWAY, &integer(id))].concat();
        family.case(
            "GOAWAY, then the answer",
            is_answered(),
            peer(
                go_away(4),
                async |_connection, mut send: SendStream, _control, query: Vec<u8>| {
                    let _ = send
                        .write_all(&[good_head(), frame(DATA, &good(&query))].concat())
                        .await;
                    let _ = send.finish();
                    pending::<()>().await;
                },
            ),
        );
        family.case(
            "GOAWAY that leaves the query out",
            refused,
            peer(
                go_away(0),
                async |_connection, mut send: SendStream, _control, _query: Vec<u8>| {
                    let _ = send.reset(REQUEST_REJECTED);
                    pending::<()>().await;
                },
            ),
        );
        family.case(
            "a control stream that ends",
            http(""),
            peer(
                settings(),
                async |_connection,
                       _send: SendStream,
                       control: Option<SendStream>,
                       _query: Vec<u8>| {
                    let _ = control.unwrap().finish();
                    pending::<()>().await;
                },
            ),
        );
        family
    });
}
