//! The connection against a server made of frames.

use super::*;

const OK: ResponseHead = ResponseHead {
    status: 200,
    is_dns_message: true,
};
/// Status 200 and the content type, both put where one octet names them from then on.
const FIRST_HEAD: &[u8] = b"\x88\x5f\x17application/dns-message";
const HEAD: &[u8] = b"\x88\xbe";

#[derive(Debug, PartialEq, Eq)]
enum Seen {
    Answered(u32, ResponseHead, Vec<u8>),
    Refused(u32),
    Failed(u32),
}

struct Client {
    http: Http2,
    out: Vec<u8>,
}

impl Client {
    fn with(block: RequestBlock) -> Self {
        let mut out = Vec::new();
        let http = Http2::new(block, &mut out);
        Self { http, out }
    }

    fn get() -> Self {
        Self::with(RequestBlock::get("dns.example"))
    }

    fn ask(&mut self, token: u32) -> u32 {
        let request = DohRequest::Get(b"\x02/a");
        assert!(self.http.room(0) > 0);
        self.http.open(request, token, &mut self.out)
    }

    fn receive(&mut self, bytes: &[u8]) -> Result<Vec<Seen>, Http2Error> {
        let mut seen = Vec::new();
        let mut on = |event: RequestEnd<'_>| {
            seen.push(match event {
                RequestEnd::Answered { token, head, body } => {
                    Seen::Answered(token, head, body.to_vec())
                }
                RequestEnd::Refused { token } => Seen::Refused(token),
                RequestEnd::Failed { token } => Seen::Failed(token),
            });
        };
        self.http.receive(bytes, &mut self.out, &mut on)?;
        Ok(seen)
    }

    /// What was written since the last time, frame by frame.
    fn written(&mut self) -> Vec<(FrameHeader, Vec<u8>)> {
        let mut rest = &std::mem::take(&mut self.out)[..];
        rest = rest.strip_prefix(frame::PREFACE).unwrap_or(rest);
        let mut frames = Vec::new();
        while let Some(header) = FrameHeader::read(rest) {
            let end = frame::HEADER_BYTES + header.length;
            frames.push((header, rest[frame::HEADER_BYTES..end].to_vec()));
            rest = &rest[end..];
        }
        assert!(rest.is_empty());
        frames
    }
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let length = payload.len();
    let header = FrameHeader {
        length,
        kind,
        flags,
        stream,
    };
    header.write(&mut out);
    out.extend_from_slice(payload);
    out
}

fn answer(stream: u32, head: &[u8], body: &[u8]) -> Vec<u8> {
    [
        frame(frame::HEADERS, frame::END_HEADERS, stream, head),
        frame(frame::DATA, frame::END_STREAM, stream, body),
    ]
    .concat()
}

fn setting(name: u16, value: u32) -> Vec<u8> {
    let mut out = Vec::new();
    frame::write_settings(&mut out, &[(name, value)]);
    out
}

#[test]
fn begins_with_preface_settings_and_a_request_in_one_flight() {
    let mut client = Client::get();
    assert!(client.out.starts_with(frame::PREFACE));
    assert_eq!((client.ask(7), client.ask(8)), (1, 3));
    let written = client.written();
    let kinds: Vec<u8> = written.iter().map(|(header, _)| header.kind).collect();
    assert_eq!(
        kinds,
        [
            frame::SETTINGS,
            frame::WINDOW_UPDATE,
            frame::HEADERS,
            frame::HEADERS
        ]
    );
    let (header, block) = &written[3];
    assert!(header.has(frame::END_STREAM) && header.has(frame::END_HEADERS));
    assert_eq!(
        (header.stream, block.as_slice()),
        (3, &b"\x82\x87\xbf\x04\x02/a\xbe"[..])
    );
}

#[test]
fn answers_come_whole_however_they_are_cut() {
    let bytes = [
        setting(frame::SETTINGS_MAX_CONCURRENT_STREAMS, 50),
        answer(3, FIRST_HEAD, b"three"),
        frame(frame::HEADERS, frame::END_HEADERS, 1, HEAD),
        frame(frame::DATA, 0, 1, b"o"),
        frame(frame::DATA, frame::PADDED, 1, b"\x02nexx"),
        frame(frame::DATA, frame::END_STREAM, 1, b""),
    ]
    .concat();
    let expected = [
        Seen::Answered(30, OK, b"three".to_vec()),
        Seen::Answered(10, OK, b"one".to_vec()),
    ];
    for step in 1..=bytes.len() {
        let mut client = Client::get();
        client.ask(10);
        client.ask(30);
        let seen = bytes
            .chunks(step)
            .flat_map(|piece| client.receive(piece).unwrap());
        assert_eq!(seen.collect::<Vec<_>>(), expected, "{step}");
        assert_eq!(client.http.open_count(), 0);
    }
}

#[test]
fn header_blocks_may_be_continued_padded_announced_and_trailed() {
    let mut client = Client::get();
    client.ask(1);
    let bytes = [
        frame(frame::HEADERS, frame::END_HEADERS, 1, b"\x08\x03103"),
        frame(
            frame::HEADERS,
            frame::PADDED | frame::PRIORITY,
            1,
            &[&[1, 0, 0, 0, 0, 9][..], &FIRST_HEAD[..5], &[0]].concat(),
        ),
        frame(frame::CONTINUATION, 0, 1, &FIRST_HEAD[5..9]),
        frame(frame::CONTINUATION, frame::END_HEADERS, 1, &FIRST_HEAD[9..]),
        frame(frame::DATA, 0, 1, b"m"),
        frame(
            frame::HEADERS,
            frame::END_HEADERS | frame::END_STREAM,
            1,
            b"\x00\x01x\x01y",
        ),
    ];
    let seen = client.receive(&bytes.concat()).unwrap();
    assert_eq!(seen, [Seen::Answered(1, OK, b"m".to_vec())]);
}

#[test]
fn refused_streams_are_told_from_failed_ones() {
    let mut client = Client::get();
    for token in 0..4 {
        client.ask(token);
    }
    let reset = |stream, code: u32| frame(frame::RST_STREAM, 0, stream, &code.to_be_bytes());
    let seen = client
        .receive(&[reset(3, 7), reset(1, 2)].concat())
        .unwrap();
    assert_eq!(seen, [Seen::Refused(1), Seen::Failed(0)]);
    // Streams above 5 were not processed (RFC 9113 section 6.8); the others may still be answered.
    let seen = client.receive(&frame(frame::GOAWAY, 0, 0, &[0, 0, 0, 5, 0, 0, 0, 0]));
    assert_eq!(seen.unwrap(), [Seen::Refused(3)]);
    assert!(client.http.is_ending() && client.http.room(0) == 0);
    let seen = client.receive(&answer(5, FIRST_HEAD, b"m")).unwrap();
    assert_eq!(seen, [Seen::Answered(2, OK, b"m".to_vec())]);
}

#[test]
fn the_server_s_limits_hold() {
    let mut client = Client::with(RequestBlock::post("dns.example", "/q"));
    let message = [7; 40];
    let settings = [
        setting(frame::SETTINGS_MAX_CONCURRENT_STREAMS, 3),
        setting(frame::SETTINGS_INITIAL_WINDOW_SIZE, 39),
    ];
    client.receive(&settings.concat()).unwrap();
    let acks = client.written();
    assert_eq!(acks.iter().filter(|(h, _)| h.has(frame::ACK)).count(), 2);
    assert!(client.http.room(message.len()) == 0);
    let window = setting(frame::SETTINGS_INITIAL_WINDOW_SIZE, 40);
    client.receive(&window).unwrap();
    client.written();
    for token in 0..3 {
        assert!(client.http.room(message.len()) > 0);
        client
            .http
            .open(DohRequest::Post(&message), token, &mut client.out);
    }
    assert!(client.http.room(message.len()) == 0, "3 streams");
    // Header and content of a request leave side by side.
    let written = client.written();
    let order: Vec<_> = written.iter().map(|(h, _)| (h.kind, h.stream)).collect();
    let requests = [(1, 1), (0, 1), (1, 3), (0, 3), (1, 5), (0, 5)];
    assert_eq!(order, requests);
    assert!(written[1].0.has(frame::END_STREAM) && written[1].1 == message);
}

#[test]
fn the_connection_s_window_is_spent_and_given_back() {
    let mut client = Client::with(RequestBlock::post("dns.example", "/q"));
    let message = [7; 10_000];
    let mut token = 0;
    while client.http.room(message.len()) > 0 {
        client
            .http
            .open(DohRequest::Post(&message), token, &mut client.out);
        token += 1;
    }
    assert_eq!(token, 6, "of 65,535 octets");
    let update = |bytes: u32| frame(frame::WINDOW_UPDATE, 0, 0, &bytes.to_be_bytes());
    client.receive(&update(10_000)).unwrap();
    assert!(client.http.room(message.len()) > 0);
    assert!(client.receive(&update(0)).is_err());
    assert!(client.receive(&update(0x7fff_ffff)).is_err());
}

#[test]
fn pings_are_answered_and_cancelled_streams_forgotten() {
    let mut client = Client::get();
    let stream = client.ask(1);
    client.written();
    assert_eq!(stream, 1);
    for _ in 0..2 {
        client
            .http
            .cancel_where(|token| token == 1, &mut client.out);
    }
    client
        .receive(&frame(frame::PING, 0, 0, b"12345678"))
        .unwrap();
    client
        .receive(&frame(frame::PING, frame::ACK, 0, b"12345678"))
        .unwrap();
    let written = client.written();
    assert_eq!(written.len(), 2);
    assert_eq!(written[0].0.kind, frame::RST_STREAM);
    assert_eq!(
        (written[1].0.kind, written[1].1.as_slice()),
        (frame::PING, &b"12345678"[..])
    );
    // The header still counts for the table, the answer for nothing.
    assert_eq!(client.receive(&answer(1, FIRST_HEAD, b"m")).unwrap(), []);
    client.ask(2);
    let seen = client.receive(&answer(3, HEAD, b"m")).unwrap();
    assert_eq!(seen, [Seen::Answered(2, OK, b"m".to_vec())]);
}

#[test]
fn what_breaks_the_protocol_ends_the_connection() {
    let long = frame(frame::DATA, 0, 1, &vec![0; frame::MAX_FRAME_BYTES + 1]);
    let head = frame(frame::HEADERS, frame::END_HEADERS, 1, FIRST_HEAD);
    let open_block = frame(frame::HEADERS, 0, 1, FIRST_HEAD);
    let endless = frame(frame::CONTINUATION, 0, 1, &[0; 16_000]).repeat(5);
    let flood = frame(frame::DATA, 0, 1, &[0; 16_000]).repeat(5);
    for (bytes, what) in [
        (long, "a longer frame"),
        (frame(frame::DATA, 0, 1, b"m"), "content first"),
        (answer(3, FIRST_HEAD, b""), "a stream never opened"),
        (answer(2, FIRST_HEAD, b""), "a stream of the server's"),
        (frame(frame::PUSH_PROMISE, 4, 1, &[0; 8]), "a push"),
        (frame(frame::CONTINUATION, 4, 1, HEAD), "a continuation"),
        ([&open_block[..], &head].concat(), "no continuation"),
        ([open_block, endless].concat(), "an endless block"),
        ([head, flood].concat(), "an endless body"),
        (frame(frame::HEADERS, 4, 1, b"\xff"), "no header block"),
        (frame(frame::HEADERS, 12, 1, b"\x05ab"), "padding"),
        (frame(frame::SETTINGS, 0, 0, b"12345"), "settings"),
        (frame(frame::SETTINGS, 0, 1, b""), "a stream's settings"),
        (frame(frame::PING, 0, 0, b"1"), "a ping"),
        (frame(frame::GOAWAY, 0, 0, b"1"), "a GOAWAY"),
        (frame(frame::RST_STREAM, 0, 1, b"1"), "a reset"),
    ] {
        let mut client = Client::get();
        client.ask(1);
        assert!(client.receive(&bytes).is_err(), "{what}");
    }
    let mut client = Client::get();
    client.ask(1);
    let unknown = frame(0xfa, 0xff, 0, b"x");
    assert_eq!(client.receive(&unknown).unwrap(), []);
    let empty = frame(frame::HEADERS, 5, 1, FIRST_HEAD);
    let seen = client.receive(&empty).unwrap();
    assert_eq!(seen, [Seen::Answered(1, OK, Vec::new())]);
}
