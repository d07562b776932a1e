//! Doors for the fuzz targets to what is private, open only in their build (`--cfg fuzzing`).
//! Not for: anybody else.

use super::server_hello::ServerHelloReader;

/// Cipher suite, and whether a ticket was taken, of a server's handshake that comes in these
/// pieces.
pub fn read_server_hello<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Option<(u16, bool)> {
    let mut reader = ServerHelloReader::default();
    pieces.for_each(|piece| reader.feed(piece));
    let hello = reader.found()?;
    Some((hello.cipher_suite, hello.resumed))
}
