//! HTTP/2 frames (RFC 9113 section 6) made by hand, as no library would send them.

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PUSH_PROMISE: u8 = 5;
pub const PING: u8 = 6;
pub const GOAWAY: u8 = 7;
pub const WINDOW_UPDATE: u8 = 8;
pub const CONTINUATION: u8 = 9;
pub const END_STREAM: u8 = 1;
pub const END_HEADERS: u8 = 4;

pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    let mut bytes = length[1..].to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// Fields without compression or indexing (RFC 7541 section 6.2.2).
pub fn fields(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in fields {
        block.push(0);
        for text in [name, value] {
            push_length(&mut block, text.len());
            block.extend(text.as_bytes());
        }
    }
    block
}

/// RFC 7541 section 5.1 with a prefix of seven bits.
fn push_length(block: &mut Vec<u8>, length: usize) {
    if length < 127 {
        block.push(length as u8);
        return;
    }
    block.push(127);
    let mut rest = length - 127;
    while rest >= 128 {
        block.push((rest % 128) as u8 | 0x80);
        rest /= 128;
    }
    block.push(rest as u8);
}

/// The head of a response on the first stream.
pub fn head(status: &str, media_type: Option<&str>) -> Vec<u8> {
    let mut list = vec![(":status", status)];
    list.extend(media_type.map(|media_type| ("content-type", media_type)));
    frame(HEADERS, END_HEADERS, 1, &fields(&list))
}

pub fn good_head() -> Vec<u8> {
    head("200", Some("application/dns-message"))
}

pub fn body(bytes: &[u8]) -> Vec<u8> {
    frame(DATA, END_STREAM, 1, bytes)
}

pub fn settings() -> Vec<u8> {
    frame(SETTINGS, 0, 0, &[])
}

pub fn go_away(last_stream: u32, code: u32) -> Vec<u8> {
    frame(
        GOAWAY,
        0,
        0,
        &[last_stream.to_be_bytes(), code.to_be_bytes()].concat(),
    )
}

pub fn reset(code: u32) -> Vec<u8> {
    frame(RST_STREAM, 0, 1, &code.to_be_bytes())
}
