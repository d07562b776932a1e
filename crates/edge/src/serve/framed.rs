//! DNS over a byte stream, each message behind its length (RFC 1035 section 4.2.2): DoTCP and DoT.

use crate::connections::OpenConnection;
use crate::ending::Ending;
use crate::world::{Arrival, World};
use resolab_record::{DnsTransport, Failure};
use resolab_transport::clock::monotonic_ns;
use std::io;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;

/// Serve until the client, the idle timeout or a command ends it.
pub async fn serve<S>(
    world: &World,
    connection: &OpenConnection,
    mut stream: S,
    transport: DnsTransport,
) -> Ending
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let ending = tokio::select! {
        () = connection.close_wanted() => Ok(Ending::noted("closed by command")),
        ending = exchange(world, connection, &mut stream, transport) => ending,
    };
    // The peer may be gone already; what matters was said in `ending`.
    let _ = stream.shutdown().await;
    ending.unwrap_or_else(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => Ending::noted("ended without close_notify").by_client(true),
        _ => Ending::failed(Failure::Other, error.to_string()),
    })
}

async fn exchange<S>(
    world: &World,
    connection: &OpenConnection,
    stream: &mut S,
    transport: DnsTransport,
) -> io::Result<Ending>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut buffer = Vec::new();
    loop {
        let mut first = [0];
        match timeout(connection.limits.idle_timeout, stream.read(&mut first)).await {
            Err(_) => return Ok(Ending::noted("idle")),
            Ok(Ok(0)) => return Ok(Ending::orderly()),
            Ok(read) => read.map(drop)?,
        }
        let reading = read_message(stream, first[0], &mut buffer);
        let Ok(read) = timeout(connection.limits.message_timeout, reading).await else {
            connection.tallies.slow_peers.add();
            return Ok(Ending::noted("a query did not become complete in time"));
        };
        read?;
        answer_one(world, connection, stream, transport, &buffer).await?;
    }
}

/// The message whose length begins with `first`.
async fn read_message<S: AsyncRead + Unpin>(
    stream: &mut S,
    first: u8,
    buffer: &mut Vec<u8>,
) -> io::Result<usize> {
    let mut prefix = [first, 0];
    stream.read_exact(&mut prefix[1..]).await?;
    let length = usize::from(u16::from_be_bytes(prefix));
    if length == 0 {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "empty DNS message",
        ));
    }
    buffer.resize(length, 0);
    stream.read_exact(buffer).await
}

async fn answer_one<S: AsyncWrite + Unpin>(
    world: &World,
    connection: &OpenConnection,
    stream: &mut S,
    transport: DnsTransport,
    message: &[u8],
) -> io::Result<()> {
    let arrival = Arrival {
        message,
        transport,
        peer: connection.peer,
        connection: Some(connection),
        in_early_data: connection.in_early_data(),
        received_ns: monotonic_ns(),
    };
    let (answer, record) = world.answer(&arrival);
    let Some(answer) = answer else {
        world.write_query(record, false);
        return Ok(());
    };
    let mut framed = Vec::with_capacity(answer.message.len() + 2);
    framed.extend_from_slice(&(answer.message.len() as u16).to_be_bytes());
    framed.extend_from_slice(&answer.message);
    let written = stream.write_all(&framed).await;
    world.write_query(record, written.is_ok());
    written
}
