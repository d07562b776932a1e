//! Reads facts from a ServerHello (RFC 8446 section 4.1.3) not reported by TLS and QUIC libraries:
//! use of the ticket, cipher suite, group, and a request for another ClientHello.
//! Not for: checking the handshake; TLS checks the handshake.

use crate::plain_handshake::message_bytes;

/// The handshake type of ServerHello and HelloRetryRequest.
const SERVER_HELLO: u8 = 2;
/// The number of the extension `pre_shared_key`.
const PRE_SHARED_KEY: u16 = 41;
/// The number of the extension `key_share`; in a ServerHello the content begins with the group's
/// number.
const KEY_SHARE: u16 = 51;
/// The random value of every HelloRetryRequest (RFC 8446 section 4.1.3).
const RETRY_RANDOM: [u8; 32] = [
    0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91,
    0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
];

/// The server's choices in the ServerHello.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ServerHello {
    /// The number of the cipher suite.
    pub cipher_suite: u16,
    /// True when the server took a ticket.
    pub resumed: bool,
    /// The number of the key exchange group; `None` in TLS 1.2.
    pub group_code: Option<u16>,
    /// The length of the message with its header, in bytes.
    pub message_bytes: u32,
}

/// Finds the ServerHello at the beginning of a server's handshake bytes. The bytes come in pieces.
#[derive(Debug, Default)]
pub(crate) struct ServerHelloReader {
    pending: Vec<u8>,
    found: Option<ServerHello>,
    retry_was_requested: bool,
    done: bool,
}

impl ServerHelloReader {
    /// Takes the next handshake bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        if self.done {
            return;
        }
        self.pending.extend_from_slice(bytes);
        while let Some(length) = message_bytes(&self.pending) {
            let length = length as usize;
            if self.pending.len() < length {
                return;
            }
            let message: Vec<u8> = self.pending.drain(..length).collect();
            let is_retry = message.get(6..38) == Some(&RETRY_RANDOM[..]);
            if !is_retry {
                self.found = parse(&message);
                self.done = true;
                self.pending = Vec::new();
                return;
            }
            self.retry_was_requested = true;
        }
    }

    /// Returns true when the server sent a HelloRetryRequest.
    pub fn retry_was_requested(&self) -> bool {
        self.retry_was_requested
    }

    /// Returns the ServerHello after its arrival.
    pub fn found(&self) -> Option<ServerHello> {
        self.found
    }
}

fn parse(message: &[u8]) -> Option<ServerHello> {
    if *message.first()? != SERVER_HELLO {
        return None;
    }
    let session_id_length = usize::from(*message.get(38)?);
    let rest = message.get(39 + session_id_length..)?;
    let cipher_suite = u16_at(rest, 0)?;
    // The legacy compression method stands between.
    let mut extensions = rest.get(5..)?;
    if extensions.len() != usize::from(u16_at(rest, 3)?) {
        return None;
    }
    let (mut resumed, mut group_code) = (false, None);
    while !extensions.is_empty() {
        match u16_at(extensions, 0)? {
            PRE_SHARED_KEY => resumed = true,
            KEY_SHARE => group_code = u16_at(extensions, 4),
            _ => {}
        }
        let length = usize::from(u16_at(extensions, 2)?);
        extensions = extensions.get(4 + length..)?;
    }
    Some(ServerHello {
        cipher_suite,
        resumed,
        group_code,
        message_bytes: message.len() as u32,
    })
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server_hello(random: [u8; 32], extensions: &[u8]) -> Vec<u8> {
        let mut body = vec![3, 3];
        body.extend(random);
        body.extend([0, 0x13, 0x01, 0]);
        body.extend((extensions.len() as u16).to_be_bytes());
        body.extend(extensions);
        let mut message = vec![SERVER_HELLO, 0, 0, body.len() as u8];
        message.extend(body);
        message
    }

    const VERSION: [u8; 6] = [0, 43, 0, 2, 3, 4];
    const TICKET: [u8; 6] = [0, 41, 0, 2, 0, 0];
    const SHARE: [u8; 10] = [0, 51, 0, 6, 0x11, 0xec, 0, 2, 7, 7];

    #[test]
    fn tells_resumed_from_full() {
        for (extensions, resumed) in [
            ([&VERSION[..], &SHARE].concat(), false),
            ([&VERSION[..], &SHARE, &TICKET].concat(), true),
        ] {
            let mut reader = ServerHelloReader::default();
            let message = server_hello([7; 32], &extensions);
            reader.feed(&message);
            assert_eq!(
                reader.found(),
                Some(ServerHello {
                    cipher_suite: 0x1301,
                    resumed,
                    group_code: Some(0x11ec),
                    message_bytes: message.len() as u32,
                })
            );
            assert!(!reader.retry_was_requested());
        }
    }

    #[test]
    fn reads_byte_by_byte_past_a_retry_request() {
        let bytes = [
            server_hello(RETRY_RANDOM, &VERSION),
            server_hello([1; 32], &TICKET),
        ]
        .concat();
        let mut reader = ServerHelloReader::default();
        for (index, byte) in bytes.iter().enumerate() {
            assert_eq!(reader.found(), None, "at byte {index}");
            reader.feed(&[*byte]);
        }
        assert!(reader.found().unwrap().resumed);
        assert!(reader.retry_was_requested());
    }

    #[test]
    fn nonsense_is_nothing() {
        let whole = server_hello([7; 32], &VERSION);
        for cut in 4..whole.len() {
            let mut short = whole[..cut].to_vec();
            short[3] = (cut - 4) as u8;
            let mut reader = ServerHelloReader::default();
            reader.feed(&short);
            assert_eq!(reader.found(), None, "cut at {cut}");
        }
    }
}
