//! Reads facts from a ClientHello (RFC 8446 section 4.1.2) before a TLS stack is chosen: server
//! name, offer of early data, and length.
//!
//! For: choosing a ticket policy by name. Pure; bytes in, facts out.
//! Not for: judging a ClientHello. Unreadable ClientHellos go to the TLS stack for the correct
//! alert.

use std::net::IpAddr;

const CLIENT_HELLO: u8 = 1;
const RECORD_HANDSHAKE: u8 = 22;
const EXTENSION_SERVER_NAME: u16 = 0;
const EXTENSION_EARLY_DATA: u16 = 42;
/// The maximum length of a ClientHello, in bytes; real ClientHellos stay below 4 kB.
const LIMIT_BYTES: usize = 65_536;

/// The facts of a ClientHello.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClientHello {
    /// The server name (RFC 6066) in lower case.
    pub server_name: Option<String>,
    /// True when early data follows (RFC 8446 section 4.2.10).
    pub early_data_offered: bool,
    /// The length of the message with its header, in bytes; 0 for unreadable messages.
    pub message_bytes: u32,
}

/// The progress of reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HelloProgress {
    /// More bytes are needed.
    Incomplete,
    /// The ClientHello is complete. Unreadable ClientHellos are empty here; the TLS stack refuses
    /// them.
    Complete(ClientHello),
}

impl ClientHello {
    /// Reads a ClientHello from handshake messages, as in QUIC's CRYPTO frames.
    pub fn from_handshake(bytes: &[u8]) -> HelloProgress {
        if bytes.len() > LIMIT_BYTES || bytes.first().is_some_and(|&kind| kind != CLIENT_HELLO) {
            return HelloProgress::Complete(Self::default());
        }
        let Some(header) = bytes.get(..4) else {
            return HelloProgress::Incomplete;
        };
        let length = u32::from_be_bytes([0, header[1], header[2], header[3]]) as usize;
        match bytes.get(4..4 + length) {
            Some(body) => {
                let hello = parse_body(body).map(|hello| Self {
                    message_bytes: 4 + length as u32,
                    ..hello
                });
                HelloProgress::Complete(hello.unwrap_or_default())
            }
            None if length > LIMIT_BYTES => HelloProgress::Complete(Self::default()),
            None => HelloProgress::Incomplete,
        }
    }
}

/// Reads a ClientHello from TLS records over TCP. Each byte is read once, in any segmentation.
#[derive(Debug, Default)]
pub struct RecordReader {
    /// The joined fragments of the records read.
    handshake: Vec<u8>,
    /// The start of the next record in the received bytes.
    position: usize,
}

impl RecordReader {
    /// Returns the number of bytes of the records read, with their headers.
    pub fn wire_bytes(&self) -> usize {
        self.position
    }

    /// Continues reading; `received` has all bytes since the start of the connection. A record
    /// without handshake bytes (forbidden by RFC 8446 section 5.1) ends the reading. The received
    /// bytes thus have a bound: [`LIMIT_BYTES`] in records of one byte each.
    pub fn read(&mut self, received: &[u8]) -> HelloProgress {
        loop {
            let mut rest = HelloReader(received.get(self.position..).unwrap_or_default());
            match rest.0.first() {
                Some(&RECORD_HANDSHAKE) => {}
                Some(_) => return HelloProgress::Complete(ClientHello::default()),
                None => return HelloProgress::Incomplete,
            }
            let fragment = rest.take(3).and_then(|_| rest.take_prefixed_u16());
            let Some(fragment) = fragment else {
                return HelloProgress::Incomplete;
            };
            if fragment.is_empty() {
                return HelloProgress::Complete(ClientHello::default());
            }
            self.position = received.len() - rest.0.len();
            self.handshake.extend_from_slice(fragment);
            match ClientHello::from_handshake(&self.handshake) {
                HelloProgress::Incomplete => {}
                complete @ HelloProgress::Complete(_) => return complete,
            }
        }
    }
}

fn parse_body(body: &[u8]) -> Option<ClientHello> {
    let mut reader = HelloReader(body);
    reader.take(2 + 32)?; // legacy_version, random
    reader.take_prefixed_u8()?; // legacy_session_id
    reader.take_prefixed_u16()?; // cipher_suites
    reader.take_prefixed_u8()?; // legacy_compression_methods
    let mut extensions = HelloReader(reader.take_prefixed_u16()?);
    let mut hello = ClientHello::default();
    while !extensions.0.is_empty() {
        let kind = extensions.take_u16()?;
        let content = extensions.take_prefixed_u16()?;
        match kind {
            EXTENSION_SERVER_NAME => hello.server_name = parse_server_name(content),
            EXTENSION_EARLY_DATA => hello.early_data_offered = true,
            _ => {}
        }
    }
    Some(hello)
}

/// Returns the host name. A literal address is no host name (RFC 6066 section 3), though some
/// clients send an address. An address counts as no name, as with correct clients.
fn parse_server_name(content: &[u8]) -> Option<String> {
    let mut list = HelloReader(HelloReader(content).take_prefixed_u16()?);
    let kind = list.take(1)?[0];
    let name = list.take_prefixed_u16()?;
    let text = std::str::from_utf8(name).ok()?;
    let is_name = kind == 0 && text.parse::<IpAddr>().is_err();
    is_name.then(|| text.to_ascii_lowercase())
}

/// The unread rest of a byte string.
struct HelloReader<'a>(&'a [u8]);

impl<'a> HelloReader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(count)?;
        self.0 = tail;
        Some(head)
    }

    fn take_u16(&mut self) -> Option<u16> {
        self.take(2)
            .map(|bytes| u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    fn take_prefixed_u8(&mut self) -> Option<&'a [u8]> {
        let length = self.take(1)?[0];
        self.take(usize::from(length))
    }

    fn take_prefixed_u16(&mut self) -> Option<&'a [u8]> {
        let length = self.take_u16()?;
        self.take(usize::from(length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello(extensions: &[(u16, Vec<u8>)]) -> Vec<u8> {
        let mut list = Vec::new();
        for (kind, content) in extensions {
            list.extend_from_slice(&kind.to_be_bytes());
            list.extend_from_slice(&(content.len() as u16).to_be_bytes());
            list.extend_from_slice(content);
        }
        let mut body = vec![3, 3];
        body.extend_from_slice(&[7; 32]);
        body.extend_from_slice(&[1, 0xAA]); // session id
        body.extend_from_slice(&[0, 2, 0x13, 1]); // cipher suites
        body.extend_from_slice(&[1, 0]); // compression
        body.extend_from_slice(&(list.len() as u16).to_be_bytes());
        body.extend_from_slice(&list);
        let mut message = vec![1, 0, 0, 0];
        message[2..4].copy_from_slice(&(body.len() as u16).to_be_bytes());
        message.extend_from_slice(&body);
        message
    }

    fn name(text: &str) -> (u16, Vec<u8>) {
        let mut content = ((text.len() + 3) as u16).to_be_bytes().to_vec();
        content.push(0);
        content.extend_from_slice(&(text.len() as u16).to_be_bytes());
        content.extend_from_slice(text.as_bytes());
        (0, content)
    }

    fn records(message: &[u8], size: usize) -> Vec<u8> {
        let mut out = Vec::new();
        for fragment in message.chunks(size) {
            out.extend_from_slice(&[22, 3, 1]);
            out.extend_from_slice(&(fragment.len() as u16).to_be_bytes());
            out.extend_from_slice(fragment);
        }
        out
    }

    fn from_records(bytes: &[u8]) -> HelloProgress {
        RecordReader::default().read(bytes)
    }

    #[test]
    fn name_and_early_data_are_read_whatever_stands_between() {
        let bytes = hello(&[(51, vec![1; 1200]), name("DNS.resolab.test"), (42, vec![])]);
        let expected = HelloProgress::Complete(ClientHello {
            server_name: Some("dns.resolab.test".into()),
            early_data_offered: true,
            message_bytes: bytes.len() as u32,
        });
        assert_eq!(ClientHello::from_handshake(&bytes), expected);
        assert_eq!(from_records(&records(&bytes, 400)), expected);
    }

    #[test]
    fn an_address_is_no_server_name() {
        for address in ["127.0.0.1", "::1", "fd77::1"] {
            let read = ClientHello::from_handshake(&hello(&[name(address)]));
            let HelloProgress::Complete(read) = read else {
                panic!("{address}: incomplete");
            };
            assert_eq!(read.server_name, None, "{address}");
        }
    }

    #[test]
    fn every_prefix_is_incomplete() {
        let bytes = hello(&[name("a.test")]);
        for end in 0..bytes.len() {
            assert_eq!(
                ClientHello::from_handshake(&bytes[..end]),
                HelloProgress::Incomplete,
                "{end}"
            );
        }
        let wire = records(&bytes, 16);
        let mut reader = RecordReader::default();
        for end in 0..wire.len() {
            assert_eq!(
                reader.read(&wire[..end]),
                HelloProgress::Incomplete,
                "{end}"
            );
            assert_eq!(
                from_records(&wire[..end]),
                HelloProgress::Incomplete,
                "{end}"
            );
        }
        assert_eq!(reader.read(&wire), ClientHello::from_handshake(&bytes));
        assert_eq!(reader.wire_bytes(), wire.len());
    }

    #[test]
    fn a_client_hello_that_never_ends_is_not_waited_for() {
        let refused = HelloProgress::Complete(ClientHello::default());
        // Records without a byte of handshake, alone and after a beginning.
        let empty = [22, 3, 1, 0, 0];
        assert_eq!(from_records(&empty), refused);
        let begun = records(&[1, 0, 0xFF, 0], 4);
        assert_eq!(from_records(&begun), HelloProgress::Incomplete);
        assert_eq!(from_records(&[&begun[..], &empty].concat()), refused);
        // The longest that is waited for, in the smallest records.
        let mut message = vec![1, 1, 0, 0];
        message.resize(LIMIT_BYTES, 0);
        let longest = records(&message, 1);
        assert_eq!(from_records(&longest), HelloProgress::Incomplete);
        assert_eq!(
            from_records(&[&longest[..], &records(&[0], 1)].concat()),
            refused
        );
    }

    #[test]
    fn what_is_no_client_hello_is_complete_and_empty() {
        let empty = HelloProgress::Complete(ClientHello::default());
        assert_eq!(ClientHello::from_handshake(&[2, 0, 0, 0]), empty);
        assert_eq!(from_records(b"GET / HTTP/1.1\r\n"), empty);
        assert_eq!(ClientHello::from_handshake(&[1, 0, 0, 2, 3, 3]), empty);
        assert_eq!(ClientHello::from_handshake(&[1, 0xFF, 0xFF, 0xFF]), empty);
    }
}
