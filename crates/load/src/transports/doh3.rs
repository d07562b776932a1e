//! Load over DNS in HTTP/3 (RFC 8484, RFC 9114), by the h3 crate. Not for: HTTP/2 (`doh`).

use crate::counting::{LiveCounters, Tally};
use crate::error::LoadError;
use crate::names::QueryTemplates;
use crate::plan::{LoadPlan, WorkerPlan};
use crate::transports::doh_path;
use crate::transports::http2::{DNS_MESSAGE, is_dns_message};
use crate::transports::quic::{self, LoadExchangeError, QuicProtocol};
use bytes::{Buf, Bytes, BytesMut};
use h3::client::SendRequest;
use h3::error::{Code, StreamError};
use h3_quinn::OpenStreams;
use http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE};
use http::{Request, Response, StatusCode};
use quinn::Connection;
use resolab_record::{DohMethod, Failure};
use std::future::poll_fn;
use std::rc::Rc;

/// The longest possible DNS message.
const BODY_MAX_BYTES: usize = 65_535;

/// Runs a worker's share of the load.
pub fn run(worker: &WorkerPlan, live: &LiveCounters) -> Result<Tally, LoadError> {
    quic::run(worker, live, Doh3::new(&worker.plan)?)
}

/// The requests ready to send; with a body for POST.
struct Doh3 {
    requests: Vec<(Request<()>, Option<Bytes>)>,
}

impl Doh3 {
    fn new(plan: &LoadPlan) -> Result<Self, LoadError> {
        let uri = format!(
            "https://{}{}",
            plan.resolver.authority(),
            plan.resolver.path
        );
        let names: &QueryTemplates = &plan.names;
        let requests = (0..names.count() as u32).map(|index| {
            let message = names.get(index).message;
            request(&uri, plan.doh_method, message)
        });
        let requests: Result<_, http::Error> = requests.collect();
        // The address was a URL before.
        let requests =
            requests.map_err(|_| LoadError::Unsupported("put the resolver's path in a request"))?;
        Ok(Self { requests })
    }
}

fn request(
    uri: &str,
    method: DohMethod,
    message: &[u8],
) -> Result<(Request<()>, Option<Bytes>), http::Error> {
    Ok(match method {
        DohMethod::Get => {
            let uri = doh_path::build_get_path(uri, message);
            let request = Request::get(uri).header(ACCEPT, DNS_MESSAGE).body(())?;
            (request, None)
        }
        DohMethod::Post => {
            let request = Request::post(uri)
                .header(ACCEPT, DNS_MESSAGE)
                .header(CONTENT_TYPE, DNS_MESSAGE)
                .header(CONTENT_LENGTH, message.len())
                .body(())?;
            (request, Some(Bytes::copy_from_slice(message)))
        }
    })
}

impl QuicProtocol for Doh3 {
    type Conversation = SendRequest<OpenStreams, Bytes>;
    const CLOSE_CODE: u32 = Code::H3_NO_ERROR.value() as u32;

    async fn open(self: &Rc<Self>, connection: Connection) -> Result<Self::Conversation, String> {
        let built = h3::client::builder()
            // Reserved frames would be bytes of random length in every exchange.
            .send_grease(false)
            .build(h3_quinn::Connection::new(connection))
            .await;
        let (mut control, requests) = built.map_err(|error| error.to_string())?;
        tokio::task::spawn_local(async move {
            // What ends the connection reaches every exchange on it.
            let _ = poll_fn(|cx| control.poll_close(cx)).await;
        });
        Ok(requests)
    }

    async fn exchange(
        &self,
        conversation: &mut Self::Conversation,
        index: u32,
        leaves: &dyn Fn(),
    ) -> Result<Bytes, LoadExchangeError> {
        let (request, body) = &self.requests[index as usize];
        let opened = conversation.send_request(request.clone()).await;
        let mut stream = opened.map_err(|error| convert_open_error(&error))?;
        leaves();
        if let Some(body) = body {
            stream
                .send_data(body.clone())
                .await
                .map_err(|error| convert_stream_error(&error))?;
        }
        stream
            .finish()
            .await
            .map_err(|error| convert_stream_error(&error))?;
        let head = stream
            .recv_response()
            .await
            .map_err(|error| convert_stream_error(&error))?;
        check_head(&head)?;
        let mut whole = Bytes::new();
        while let Some(mut chunk) = stream
            .recv_data()
            .await
            .map_err(|error| convert_stream_error(&error))?
        {
            let chunk = chunk.copy_to_bytes(chunk.remaining());
            if whole.len() + chunk.len() > BODY_MAX_BYTES {
                return Err(LoadExchangeError::Failed(Failure::HttpProtocol));
            }
            whole = join_pieces(&whole, chunk);
        }
        Ok(whole)
    }
}

fn join_pieces(first: &Bytes, second: Bytes) -> Bytes {
    if first.is_empty() {
        return second;
    }
    let mut both = BytesMut::with_capacity(first.len() + second.len());
    both.extend_from_slice(first);
    both.extend_from_slice(&second);
    both.freeze()
}

fn check_head(head: &Response<()>) -> Result<(), LoadExchangeError> {
    if head.status() != StatusCode::OK {
        return Err(LoadExchangeError::Failed(Failure::HttpStatus));
    }
    let media_type = head.headers().get(CONTENT_TYPE);
    if media_type.is_some_and(|value| is_dns_message(value.as_bytes())) {
        Ok(())
    } else {
        Err(LoadExchangeError::Failed(Failure::QueryMalformed))
    }
}

/// Converts an error of opening a stream: no request has left yet.
fn convert_open_error(error: &StreamError) -> LoadExchangeError {
    match convert_stream_error(error) {
        LoadExchangeError::Ended { .. } => LoadExchangeError::Ended {
            may_be_processed: false,
        },
        trouble @ (LoadExchangeError::Refused | LoadExchangeError::Failed(_)) => trouble,
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the h3 crate's list may grow; all of the rest is HTTP going wrong"
)]
fn convert_stream_error(error: &StreamError) -> LoadExchangeError {
    match error {
        StreamError::RemoteTerminate { code, .. } if *code == Code::H3_REQUEST_REJECTED => {
            LoadExchangeError::Refused
        }
        StreamError::ConnectionError { .. } => LoadExchangeError::Ended {
            may_be_processed: true,
        },
        StreamError::RemoteClosing { .. } => LoadExchangeError::Ended {
            may_be_processed: false,
        },
        _ => LoadExchangeError::Failed(Failure::HttpProtocol),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_carry_the_query() {
        let uri = "https://dns.example/q";
        let (get, body) = request(uri, DohMethod::Get, b"\x00\x01\xfb\xff").unwrap();
        assert_eq!(get.uri(), "https://dns.example/q?dns=AAH7_w");
        assert_eq!(body, None);
        let (post, body) = request(uri, DohMethod::Post, b"abc").unwrap();
        assert_eq!(post.headers()[CONTENT_LENGTH], "3");
        assert_eq!(body.as_deref(), Some(&b"abc"[..]));
    }

    #[test]
    fn only_a_200_with_a_dns_message_is_an_answer() {
        let head = |status: u16, media_type: &[u8]| {
            let response = Response::builder()
                .status(status)
                .header(CONTENT_TYPE, media_type);
            check_head(&response.body(()).unwrap())
        };
        assert_eq!(head(200, DNS_MESSAGE), Ok(()));
        assert_eq!(
            head(503, DNS_MESSAGE),
            Err(LoadExchangeError::Failed(Failure::HttpStatus))
        );
        assert_eq!(
            head(200, b"text/html"),
            Err(LoadExchangeError::Failed(Failure::QueryMalformed))
        );
    }

    #[test]
    fn pieces_of_a_body_are_joined() {
        let piece = |text: &'static str| Bytes::from_static(text.as_bytes());
        assert_eq!(
            join_pieces(&join_pieces(&Bytes::new(), piece("ab")), piece("c")),
            "abc"
        );
    }
}
