//! Bodies and responses over HTTP/2, between both ends of a pipe.

use super::{BodyReader, BodyWriter, ResetReason, ResponseReader};
use crate::H2Client;
use bytes::Bytes;
use h2::server::SendResponse;
use http::{HeaderMap, Request, Response};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::timeout;

const LONG: Duration = Duration::from_secs(20);

type AcceptedRequest = (Request<h2::RecvStream>, SendResponse<Bytes>);

/// A client, and the one request its server gets.
async fn pair() -> (H2Client, oneshot::Receiver<AcceptedRequest>) {
    let (near, far) = tokio::io::duplex(1 << 16);
    let (sender, taken) = oneshot::channel();
    tokio::spawn(async move {
        let mut server = h2::server::handshake(far).await.unwrap();
        let mut sender = Some(sender);
        while let Some(Ok(request)) = server.accept().await {
            if let Some(sender) = sender.take() {
                let _ = sender.send(request);
            }
        }
    });
    (H2Client::open(near, Arc::default()).await.unwrap(), taken)
}

async fn begun(ends: bool) -> (H2Client, BodyWriter, ResponseReader, AcceptedRequest) {
    let (client, taken) = pair().await;
    let request = Request::post("https://a.test/").body(()).unwrap();
    let (writer, reader) = client.begin(request, ends).await.unwrap();
    (client, writer, reader, taken.await.unwrap())
}

#[tokio::test]
async fn a_message_passes_with_interim_heads_and_trailers() {
    let (_client, mut up, mut response, (request, mut respond)) = begun(false).await;
    let mut body = BodyReader::h2(request.into_body());
    assert!(!body.is_empty_by_now());
    up.send(Bytes::from_static(b"abc")).await.unwrap();
    let mut after = HeaderMap::new();
    after.insert("x-after", "1".parse().unwrap());
    up.finish(Some(after.clone())).await.unwrap();
    assert_eq!(body.data().await.unwrap().unwrap(), "abc");
    assert_eq!(body.data().await.unwrap(), None);
    assert_eq!(body.trailers().await.unwrap(), Some(after));
    let mut hints = Response::new(());
    *hints.status_mut() = http::StatusCode::EARLY_HINTS;
    respond.send_informational(hints).unwrap();
    let (interim, none) = response.head().await.unwrap();
    assert!(interim.status() == 103 && none.is_none());
    let mut down = BodyWriter::h2(respond.send_response(Response::new(()), false).unwrap());
    down.send(Bytes::from_static(b"def")).await.unwrap();
    down.finish(None).await.unwrap();
    let (head, body) = response.head().await.unwrap();
    let mut body = body.unwrap();
    assert_eq!(head.status(), 200);
    assert_eq!(body.data().await.unwrap().unwrap(), "def");
    assert_eq!(body.data().await.unwrap(), None);
    assert_eq!(body.trailers().await.unwrap(), None);
}

#[tokio::test]
async fn what_ends_with_its_head_is_known_to_be_empty() {
    let (_client, up, mut response, (request, mut respond)) = begun(true).await;
    assert!(BodyReader::h2(request.into_body()).is_empty_by_now());
    drop(up);
    respond.send_response(Response::new(()), true).unwrap();
    let (_, body) = response.head().await.unwrap();
    assert!(body.unwrap().is_empty_by_now());
}

#[tokio::test]
async fn a_writer_waits_for_its_reader() {
    let (_client, mut up, _response, (request, _respond)) = begun(false).await;
    let mut body = BodyReader::h2(request.into_body());
    // More than a window, which is 65,535 bytes.
    let mut sending = std::pin::pin!(up.send(Bytes::from(vec![b'x'; 200_000])));
    let waits = timeout(Duration::from_millis(200), &mut sending).await;
    assert!(waits.is_err());
    let reading = async {
        let mut bytes = 0;
        while bytes < 200_000 {
            bytes += body.data().await.unwrap().unwrap().len();
        }
        bytes
    };
    let (sent, bytes) = timeout(LONG, async { tokio::join!(sending, reading) })
        .await
        .unwrap();
    assert!(sent.is_ok() && bytes == 200_000);
}

#[tokio::test]
async fn a_reason_is_told_and_what_is_dropped_is_cancelled() {
    for (reason, expected) in [
        (Some(ResetReason::Refused), ResetReason::Refused),
        (Some(ResetReason::Failed), ResetReason::Failed),
        (None, ResetReason::Cancelled),
    ] {
        let (_client, mut up, _response, (request, _respond)) = begun(false).await;
        let mut body = BodyReader::h2(request.into_body());
        up.send(Bytes::from_static(b"half")).await.unwrap();
        assert_eq!(body.data().await.unwrap().unwrap(), "half");
        match reason {
            Some(reason) => up.reset(reason),
            None => drop(up),
        }
        let broken = body.data().await.unwrap_err();
        assert_eq!(broken.reason, expected, "{broken}");
    }
}

#[tokio::test]
async fn a_writer_learns_that_nobody_wants_it() {
    let (_client, up, response, (request, mut respond)) = begun(true).await;
    let mut down = BodyWriter::h2(respond.send_response(Response::new(()), false).unwrap());
    drop((up, response, request));
    timeout(LONG, down.wait_until_unwanted()).await.unwrap();
    let sent = down.send(Bytes::from_static(b"late")).await;
    assert_eq!(sent.unwrap_err().reason, ResetReason::Cancelled);
}
