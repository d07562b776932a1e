//! DoQ exchanges by a client that is not ours.

use super::{RESOLVER, framed, query};
use quinn::{Connection, Endpoint};
use std::net::SocketAddr;

pub async fn open_doq(client: &Endpoint, server: SocketAddr) -> Connection {
    client.connect(server, RESOLVER).unwrap().await.unwrap()
}

/// One query; its answer without the length.
pub async fn ask_doq(quic: &Connection) -> Result<Vec<u8>, String> {
    let (mut send, mut receive) = quic.open_bi().await.map_err(|e| e.to_string())?;
    let written = send.write_all(&framed(&query())).await;
    written.map_err(|e| e.to_string())?;
    send.finish().map_err(|e| e.to_string())?;
    let answer = receive.read_to_end(65_537).await;
    let answer = answer.map_err(|e| e.to_string())?;
    answer
        .get(2..)
        .map(<[u8]>::to_vec)
        .ok_or("no answer".to_owned())
}
