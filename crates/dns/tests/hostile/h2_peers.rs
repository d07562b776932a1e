//! DoH on HTTP/2: peers that answer with something else than a DNS message, or break the rules of
//! HTTP/2.

use crate::hostile::family::{Expected, Family, Peer, fails, is_answered, run, times_out, url};
use crate::hostile::h2_frames::{
    CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, PING, PUSH_PROMISE, SETTINGS,
    WINDOW_UPDATE, body, fields, frame, go_away, good_head, head, reset, settings,
};
use crate::hostile::script::{SPOILT, Step, good, play};
use crate::hostile::tls_server::TlsPeer;
use resolab_record::Failure;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

const PREFACE_BYTES: usize = 24;

/// When the steps begin.
#[derive(Clone, Copy, PartialEq)]
enum When {
    /// As soon as TLS is up.
    AtOnce,
    /// When the whole request is there.
    AfterTheQuery,
}

async fn peer(when: When, steps: impl Fn(&[u8]) -> Vec<Step> + Send + Sync + 'static) -> Peer {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = url("https", listener.local_addr().unwrap());
    let task = tokio::spawn(async move {
        let (tcp, _) = listener.accept().await.unwrap();
        let mut tls = TlsPeer::accept(tcp, "h2").await.unwrap();
        let query = match when {
            When::AtOnce => Vec::new(),
            When::AfterTheQuery => read_request(&mut tls).await.unwrap(),
        };
        // What the client says must be taken, or its own window fills.
        let (mut reader, mut writer) = tokio::io::split(tls);
        let sink = async { tokio::io::copy(&mut reader, &mut tokio::io::sink()).await };
        let script = async { play(&mut writer, &steps(&query)).await };
        tokio::select! {
            _ = script => (),
            () = async { let _ = sink.await; std::future::pending::<()>().await } => (),
        }
    });
    Peer { url, task }
}

/// The body of the first request.
async fn read_request(tls: &mut TlsPeer) -> std::io::Result<Vec<u8>> {
    tls.read_exact(&mut [0; PREFACE_BYTES]).await?;
    let mut query = Vec::new();
    loop {
        let mut header = [0; 9];
        tls.read_exact(&mut header).await?;
        let length = u32::from_be_bytes([0, header[0], header[1], header[2]]);
        let mut payload = vec![0; length as usize];
        tls.read_exact(&mut payload).await?;
        if header[3] == DATA {
            query.extend(payload);
        }
        if header[3] <= HEADERS && header[4] & END_STREAM != 0 {
            return Ok(query);
        }
    }
}

/// Answers the query with these frames after its SETTINGS, and then keeps still.
fn frames(
    frames: impl Fn(&[u8]) -> Vec<Vec<u8>> + Send + Sync + 'static,
) -> impl Future<Output = Peer> + Send {
    peer(When::AfterTheQuery, move |query| {
        let frames = frames(query).concat();
        vec![Step::Send([settings(), frames].concat()), Step::Hold]
    })
}

fn http(detail: &'static str) -> Expected {
    fails(Failure::HttpProtocol, detail)
}

#[test]
fn responses_that_are_no_dns_message() {
    run(async || {
        let mut family = Family::default();
        for status in [
            "301", "302", "307", "400", "401", "404", "415", "429", "500", "502", "503",
        ] {
            let expected = fails(Failure::HttpStatus, status);
            family.case(
                format!("status {status}"),
                expected,
                frames(move |query| {
                    vec![
                        head(status, Some("application/dns-message")),
                        body(&good(query)),
                    ]
                }),
            );
        }
        family.case(
            "status 204 without a body",
            fails(Failure::HttpStatus, "204"),
            frames(|_| {
                vec![frame(
                    HEADERS,
                    END_HEADERS | END_STREAM,
                    1,
                    &fields(&[(":status", "204")]),
                )]
            }),
        );
        for media_type in [
            Some("text/html"),
            Some("application/dns-json"),
            Some("application/dns-message-not"),
            Some(""),
            None,
        ] {
            let expected = fails(Failure::QueryMalformed, "media type");
            family.case(
                format!("media type {media_type:?}"),
                expected,
                frames(move |query| vec![head("200", media_type), body(&good(query))]),
            );
        }
        family.case(
            "a media type with a parameter",
            is_answered(),
            frames(|query| {
                vec![
                    head("200", Some("Application/DNS-message; charset=utf-8")),
                    body(&good(query)),
                ]
            }),
        );
        family.case(
            "an empty body",
            fails(Failure::QueryMalformed, "0 bytes"),
            frames(|_| vec![good_head(), body(&[])]),
        );
        for (what, spoil) in SPOILT {
            let expected = fails(Failure::QueryMalformed, "the ");
            family.case(
                what,
                expected,
                frames(move |query| vec![good_head(), body(&spoil(good(query)))]),
            );
        }
        family.case(
            "trailers",
            is_answered(),
            frames(|query| {
                vec![
                    good_head(),
                    frame(DATA, 0, 1, &good(query)),
                    frame(
                        HEADERS,
                        END_HEADERS | END_STREAM,
                        1,
                        &fields(&[("x-checksum", "0")]),
                    ),
                ]
            }),
        );
        family.case(
            "103, then the answer",
            is_answered(),
            frames(|query| {
                vec![
                    frame(HEADERS, END_HEADERS, 1, &fields(&[(":status", "103")])),
                    good_head(),
                    body(&good(query)),
                ]
            }),
        );
        family
    });
}

#[test]
fn bodies_that_are_too_long_or_never_end() {
    run(async || {
        let mut family = Family::default();
        let chunk = frame(DATA, 0, 1, &[0; 16_384]);
        let endless = chunk.clone();
        family.case(
            "an endless body",
            http("too large"),
            peer(When::AfterTheQuery, move |_| {
                vec![
                    Step::Send([settings(), good_head()].concat()),
                    Step::Repeat(endless.clone()),
                ]
            }),
        );
        family.case(
            "more than the window",
            http("flow-control"),
            frames(move |_| vec![good_head(), chunk.repeat(3), body(&[0; 16_384])]),
        );
        let silence = times_out(Failure::QueryTimeout);
        family.case(
            "a head without a body",
            silence,
            frames(|_| vec![good_head()]),
        );
        family.case(
            "half a body",
            silence,
            frames(|query| vec![good_head(), frame(DATA, 0, 1, &good(query)[..20])]),
        );
        family.case(
            "a slow drip",
            silence,
            peer(When::AfterTheQuery, |query| {
                let bytes = [settings(), good_head(), body(&good(query))].concat();
                vec![Step::Drip(bytes, Duration::from_millis(50))]
            }),
        );
        family.case(
            "empty DATA frames, for ever",
            http("too_many_data_frames"),
            peer(When::AfterTheQuery, |_| {
                let bytes = [settings(), good_head()].concat();
                vec![Step::Send(bytes), Step::Repeat(frame(DATA, 0, 1, &[]))]
            }),
        );
        family.case(
            "a content-length that lies",
            http("protocol error"),
            frames(|query| {
                let list = [
                    (":status", "200"),
                    ("content-type", "application/dns-message"),
                    ("content-length", "5"),
                ];
                vec![
                    frame(HEADERS, END_HEADERS, 1, &fields(&list)),
                    body(&good(query)),
                ]
            }),
        );
        family
    });
}

#[test]
fn connections_and_streams_that_are_ended() {
    run(async || {
        let mut family = Family::default();
        let refused = fails(Failure::QueryConnectionClosed, "refused");
        for (name, code, expected, detail) in [
            ("REFUSED_STREAM", 7, refused, "refused"),
            ("INTERNAL_ERROR", 2, http("internal"), "internal"),
            ("CANCEL", 8, http("no longer needed"), "no longer needed"),
        ] {
            family.case(
                format!("RST_STREAM {name}"),
                expected,
                frames(move |_| vec![reset(code)]),
            );
            family.case(
                format!("a head, then RST_STREAM {name}"),
                http(detail),
                frames(move |_| vec![good_head(), reset(code)]),
            );
        }
        family.case("RST_STREAM NO_ERROR", http(""), frames(|_| vec![reset(0)]));
        let closed = fails(Failure::QueryConnectionClosed, "");
        // The last stream is 0: the query was not processed (RFC 9113 section 6.8).
        let closed_by = |detail| fails(Failure::QueryConnectionClosed, detail);
        for (name, code, expected) in [
            ("NO_ERROR", 0, closed),
            ("INTERNAL_ERROR", 2, closed_by("internal")),
            ("ENHANCE_YOUR_CALM", 11, closed_by("excessive load")),
        ] {
            family.case(
                format!("GOAWAY {name} at once"),
                expected,
                peer(When::AtOnce, move |_| {
                    vec![
                        Step::Send([settings(), go_away(0, code)].concat()),
                        Step::Wait(Duration::from_millis(100)),
                    ]
                }),
            );
            family.case(
                format!("GOAWAY {name} to the query"),
                expected,
                peer(When::AfterTheQuery, move |_| {
                    vec![
                        Step::Send([settings(), go_away(0, code)].concat()),
                        Step::Hold,
                    ]
                }),
            );
            family.case(
                format!("GOAWAY {name} in the response, then closed"),
                closed,
                peer(When::AfterTheQuery, move |query| {
                    let bytes = [
                        settings(),
                        good_head(),
                        frame(DATA, 0, 1, &good(query)[..20]),
                        go_away(1, code),
                    ];
                    vec![Step::Send(bytes.concat())]
                }),
            );
        }
        family.case(
            "GOAWAY that lets the query through",
            is_answered(),
            frames(|query| vec![go_away(1, 0), good_head(), body(&good(query))]),
        );
        family.case(
            "closed to the query",
            closed,
            peer(When::AfterTheQuery, |_| vec![]),
        );
        family.case(
            "closed after SETTINGS",
            closed,
            peer(When::AtOnce, |_| vec![Step::Send(settings()), Step::Finish]),
        );
        family.case(
            "closed in the response",
            closed,
            peer(When::AfterTheQuery, |query| {
                vec![
                    Step::Send(
                        [
                            settings(),
                            good_head(),
                            frame(DATA, 0, 1, &good(query)[..20]),
                        ]
                        .concat(),
                    ),
                    Step::Finish,
                ]
            }),
        );
        family.case(
            "no SETTINGS, nothing",
            times_out(Failure::QueryTimeout),
            peer(When::AtOnce, |_| vec![Step::Hold]),
        );
        family
    });
}

#[test]
fn frames_against_the_rules() {
    run(async || {
        let mut family = Family::default();
        let mut case = |name: &str, make: fn(&[u8]) -> Vec<Vec<u8>>| {
            family.case(name, http(""), frames(make));
        };
        case("HTTP/1.1", |_| {
            vec![b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n".to_vec()]
        });
        case("a frame longer than agreed", |_| {
            vec![frame(DATA, 0, 1, &[0; 20_000])]
        });
        case("DATA before the head", |query| vec![body(&good(query))]);
        case("DATA on a stream nobody opened", |query| {
            vec![frame(DATA, END_STREAM, 9, &good(query))]
        });
        case("a head on stream 0", |_| {
            vec![frame(
                HEADERS,
                END_HEADERS,
                0,
                &fields(&[(":status", "200")]),
            )]
        });
        case("a head that cannot be decompressed", |_| {
            vec![frame(HEADERS, END_HEADERS, 1, &[0xff; 40])]
        });
        case("no status", |_| {
            vec![frame(
                HEADERS,
                END_HEADERS | END_STREAM,
                1,
                &fields(&[("x", "y")]),
            )]
        });
        case("a status that is no number", |_| vec![head("okay", None)]);
        case("field names in upper case", |_| {
            vec![frame(
                HEADERS,
                END_HEADERS,
                1,
                &fields(&[(":status", "200"), ("Content-Type", "x")]),
            )]
        });
        case("SETTINGS of a broken length", |_| {
            vec![frame(SETTINGS, 0, 0, &[0; 5])]
        });
        case("a push nobody asked for", |_| {
            vec![frame(
                PUSH_PROMISE,
                END_HEADERS,
                1,
                &[&[0, 0, 0, 2][..], &fields(&[(":path", "/")])].concat(),
            )]
        });
        case("a window that overflows", |_| {
            vec![frame(WINDOW_UPDATE, 0, 0, &[0x7f, 0xff, 0xff, 0xff])]
        });
        case("a window update of 0", |_| {
            vec![frame(WINDOW_UPDATE, 0, 0, &[0; 4])]
        });
        case("a head of 17 MB", |_| {
            let value = "x".repeat(16_000);
            let mut list = vec![frame(HEADERS, 0, 1, &fields(&[(":status", "200")]))];
            list.extend(
                (0..1_100).map(|_| frame(CONTINUATION, 0, 1, &fields(&[("x-long", &value)]))),
            );
            list
        });
        family
    });
}

#[test]
fn floods() {
    run(async || {
        let mut family = Family::default();
        let flood = |bytes: Vec<u8>| {
            peer(When::AfterTheQuery, move |_| {
                vec![Step::Send(settings()), Step::Repeat(bytes.clone())]
            })
        };
        let silence = times_out(Failure::QueryTimeout);
        family.case(
            "PING",
            silence,
            flood(frame(PING, 0, 0, &[1; 8]).repeat(100)),
        );
        family.case("SETTINGS", silence, flood(settings().repeat(100)));
        family.case(
            "WINDOW_UPDATE",
            http(""),
            flood(frame(WINDOW_UPDATE, 0, 0, &[0x10, 0, 0, 0]).repeat(10)),
        );
        family.case(
            "frames of unknown types",
            silence,
            flood(frame(0x55, 0, 0, &[0; 100]).repeat(10)),
        );
        family.case(
            "CONTINUATION without end",
            http(""),
            peer(When::AfterTheQuery, |_| {
                let begin = [
                    settings(),
                    frame(HEADERS, 0, 1, &fields(&[(":status", "200")])),
                ]
                .concat();
                vec![
                    Step::Send(begin),
                    Step::Repeat(frame(CONTINUATION, 0, 1, &fields(&[("x", "y")]))),
                ]
            }),
        );
        family.case(
            "empty CONTINUATION without end",
            http(""),
            peer(When::AfterTheQuery, |_| {
                let begin = [
                    settings(),
                    frame(HEADERS, 0, 1, &fields(&[(":status", "200")])),
                ]
                .concat();
                vec![
                    Step::Send(begin),
                    Step::Repeat(frame(CONTINUATION, 0, 1, &[])),
                ]
            }),
        );
        family
    });
}
