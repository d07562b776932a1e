//! HTTP/1.1 towards the browser: one exchange after another on a connection. Interim responses do
//! not pass, because hyper cannot send them. Not for: upgrades.

use super::queue::RequestQueue;
use super::{DownstreamConnection, IncomingRequest, RequestBody, ResponseSink};
use bytes::Bytes;
use http::header::{CONNECTION, HOST, HeaderName, TE, TRANSFER_ENCODING, UPGRADE};
use http::uri::{Authority, Scheme};
use http::{HeaderMap, Request, Response, Uri};
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use resolab_http::HEAD_MAX_BYTES;
use resolab_http::streaming::BrokenMessage;
use resolab_record::HttpVersion;
use resolab_transport::clock::monotonic_ns;
use resolab_transport::server::TlsStream;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::{mpsc, oneshot};

const BUFFER_BYTES: usize = 128 * 1_024;

/// A part of a response's body, or the body's failure.
pub(crate) type BodyPiece = Result<Frame<Bytes>, BrokenMessage>;

/// A response's body in hyper's form.
pub(crate) struct Http1Body {
    pieces: mpsc::Receiver<BodyPiece>,
    is_empty: bool,
}

impl Http1Body {
    pub fn new(pieces: mpsc::Receiver<BodyPiece>, is_empty: bool) -> Self {
        Self { pieces, is_empty }
    }
}

impl hyper::body::Body for Http1Body {
    type Data = Bytes;
    type Error = BrokenResponse;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BrokenResponse>>> {
        let piece = self.pieces.poll_recv(cx);
        piece.map(|piece| piece.map(|piece| piece.map_err(|error| BrokenResponse(error.detail))))
    }

    fn is_end_stream(&self) -> bool {
        self.is_empty
    }

    fn size_hint(&self) -> SizeHint {
        if self.is_empty {
            SizeHint::with_exact(0)
        } else {
            SizeHint::default()
        }
    }
}

/// The failure of a response's rest.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct BrokenResponse(String);

/// Serves the connection until the browser or the end of the load ends it.
pub(super) async fn serve(downstream: &Arc<DownstreamConnection>, stream: TlsStream) {
    let queue = RequestQueue::start(downstream);
    let service = service_fn(|request| answer(&queue, request));
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(None)
        .max_header_size(HEAD_MAX_BYTES as usize)
        .max_buf_size(BUFFER_BYTES)
        .auto_date_header(false);
    // However it ends, the records of its requests tell.
    let _ = builder
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

async fn answer(
    queue: &RequestQueue,
    request: Request<Incoming>,
) -> Result<Response<Http1Body>, BrokenResponse> {
    let received_ns = monotonic_ns();
    let (mut head, body) = request.into_parts();
    let authority = head.headers.remove(HOST);
    let authority = authority.and_then(|host| host.to_str().ok()?.parse().ok());
    let authority: Authority = authority.ok_or_else(|| BrokenResponse("no host".to_owned()))?;
    head.uri = absolute(&head.uri, authority)?;
    remove_hop_by_hop(&mut head.headers);
    let (response_sink, response) = oneshot::channel();
    let incoming = IncomingRequest {
        head: Request::from_parts(head, ()),
        request_body: RequestBody::H1(body, None),
        response_sink: ResponseSink::H1(response_sink),
        version: HttpVersion::H1,
        priority: None,
        received_ns,
    };
    queue.push(incoming).await;
    let response = response
        .await
        .map_err(|_| BrokenResponse("no answer".to_owned()))?;
    let (mut head, body) = response.into_parts();
    remove_hop_by_hop(&mut head.headers);
    Ok(Response::from_parts(head, body))
}

fn absolute(target: &Uri, authority: Authority) -> Result<Uri, BrokenResponse> {
    let mut parts = target.clone().into_parts();
    parts.scheme = Some(Scheme::HTTPS);
    parts.authority = Some(authority);
    parts
        .path_and_query
        .get_or_insert_with(|| http::uri::PathAndQuery::from_static("/"));
    Uri::from_parts(parts).map_err(|error| BrokenResponse(error.to_string()))
}

/// Removes fields between neighbours only (RFC 9110 section 7.6.1); HTTP/2 forbids these fields
/// (RFC 9113 section 8.2.2).
fn remove_hop_by_hop(fields: &mut HeaderMap) {
    let named: Vec<HeaderName> = fields
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named {
        fields.remove(name);
    }
    for name in [CONNECTION, TRANSFER_ENCODING, UPGRADE] {
        fields.remove(name);
    }
    for name in ["keep-alive", "proxy-connection", "http2-settings"] {
        fields.remove(name);
    }
    if fields.get(TE).is_some_and(|value| value != "trailers") {
        fields.remove(TE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_between_neighbours_stops_here() {
        let mut fields = HeaderMap::new();
        for (name, value) in [
            ("connection", "keep-alive, X-Own"),
            ("keep-alive", "timeout=5"),
            ("x-own", "1"),
            ("te", "gzip"),
            ("transfer-encoding", "chunked"),
            ("accept", "*/*"),
        ] {
            let name: HeaderName = name.parse().unwrap();
            fields.append(name, value.parse().unwrap());
        }
        remove_hop_by_hop(&mut fields);
        let left: Vec<_> = fields.keys().map(HeaderName::as_str).collect();
        assert_eq!(left, ["accept"]);
        fields.insert(TE, "trailers".parse().unwrap());
        remove_hop_by_hop(&mut fields);
        assert!(fields.contains_key(TE));
    }

    #[test]
    fn a_target_becomes_absolute() {
        let uri = absolute(&"/a?b".parse().unwrap(), "a.test:8443".parse().unwrap());
        assert_eq!(uri.unwrap(), "https://a.test:8443/a?b");
    }
}
