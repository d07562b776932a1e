//! The unencrypted beginning of one direction of TLS over TCP. The reader extracts the handshake
//! messages of the records as the bytes pass.
//! Not for: decisions. Unreadable bytes end only the reading.

use crate::client::ServerHelloReader;

const RECORD_CHANGE_CIPHER_SPEC: u8 = 20;
const RECORD_HANDSHAKE: u8 = 22;
const RECORD_HEADER_BYTES: usize = 5;
/// The maximum of bytes kept: longer than the beginning of any hello.
const LIMIT_BYTES: usize = 65_536;

/// Joins the fragments of handshake records.
#[derive(Debug, Default)]
pub(crate) struct PlainHandshake {
    pending: Vec<u8>,
    /// The bytes of the records read, with the headers.
    wire_bytes: usize,
    /// Handshake bytes not yet taken.
    messages: Vec<u8>,
    is_over: bool,
}

impl PlainHandshake {
    /// Takes the next bytes of the stream.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        if self.is_over {
            return;
        }
        self.pending.extend_from_slice(bytes);
        while let Some((kind, length)) = record_header(&self.pending) {
            self.is_over = !matches!(kind, RECORD_HANDSHAKE | RECORD_CHANGE_CIPHER_SPEC)
                || self.messages.len() > LIMIT_BYTES;
            if self.is_over {
                self.pending = Vec::new();
                return;
            }
            let Some(record) = self.pending.get(RECORD_HEADER_BYTES..length) else {
                return;
            };
            if kind == RECORD_HANDSHAKE {
                self.messages.extend_from_slice(record);
            }
            self.pending.drain(..length);
            self.wire_bytes += length;
        }
    }

    /// Returns the length of the first message, and of its records. `None` until the message is
    /// whole.
    pub(crate) fn first_message(&self) -> Option<(u32, u32)> {
        let length = message_bytes(&self.messages)?;
        (self.messages.len() >= length as usize).then_some((length, self.wire_bytes as u32))
    }

    /// Passes the messages read so far to `reader`.
    pub(crate) fn hand_to(&mut self, reader: &mut ServerHelloReader) {
        reader.feed(&std::mem::take(&mut self.messages));
    }
}

fn record_header(bytes: &[u8]) -> Option<(u8, usize)> {
    let header = bytes.get(..RECORD_HEADER_BYTES)?;
    let content = usize::from(u16::from_be_bytes([header[3], header[4]]));
    Some((header[0], RECORD_HEADER_BYTES + content))
}

/// Returns the length of the handshake message at the front, with its header, in bytes.
pub(crate) fn message_bytes(message: &[u8]) -> Option<u32> {
    let header: [u8; 4] = message.get(..4)?.try_into().ok()?;
    Some(4 + (u32::from_be_bytes(header) & 0x00ff_ffff))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a message of 300 bytes in records of 100 bytes, with a change of cipher spec between
    /// the records.
    fn stream() -> Vec<u8> {
        let mut message = vec![1, 0, 1, 40];
        message.resize(300, 7);
        let mut out = Vec::new();
        for fragment in message.chunks(100) {
            out.extend_from_slice(&[20, 3, 3, 0, 1, 1, 22, 3, 1, 0, 100]);
            out.extend_from_slice(fragment);
        }
        out
    }

    #[test]
    fn a_message_is_found_however_its_bytes_come() {
        for size in [1, 7, 333, 1000] {
            let mut reading = PlainHandshake::default();
            for piece in stream().chunks(size) {
                assert_eq!(reading.first_message(), None);
                reading.feed(piece);
            }
            assert_eq!(reading.first_message(), Some((300, 333)), "{size}");
        }
    }

    #[test]
    fn encrypted_records_end_the_reading() {
        let mut reading = PlainHandshake::default();
        reading.feed(&[23, 3, 3, 0, 1, 9]);
        reading.feed(&stream());
        assert_eq!(reading.first_message(), None);
        assert!(reading.pending.is_empty());
    }
}
