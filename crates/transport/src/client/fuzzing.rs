//! Access to private functions for the fuzz targets, only in their build (`--cfg fuzzing`).
//! Not for: any other caller.

use super::server_hello::ServerHelloReader;

/// Reads a server's handshake in these pieces. Returns the cipher suite, and true when the server
/// took a ticket.
pub fn read_server_hello<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Option<(u16, bool)> {
    let mut reader = ServerHelloReader::default();
    pieces.for_each(|piece| reader.feed(piece));
    let hello = reader.found()?;
    Some((hello.cipher_suite, hello.resumed))
}
