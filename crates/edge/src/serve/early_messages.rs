//! Sends messages ahead of a response on its connection: a 103 (RFC 8297) and pushed DoH responses
//! (RFC 9113 section 8.4, RFC 8484 section 5.3).
//!
//! For: HTTP/2, and the 103 of HTTP/3. Not for: the content of the messages, see
//! `web::early_messages`, nor for HTTP/1.1, where nothing is sent ahead.

use super::exchange;
use crate::connections::OpenConnection;
use crate::http_message::{HttpReply, HttpRequest};
use crate::state::EdgeState;
use crate::web::EarlyMessages;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use h2::server::{SendPushedResponse, SendResponse};
use http::header::{ACCEPT, LINK};
use http::{Request, Response, StatusCode};
use resolab_dns::edns::QueryEdns;
use resolab_dns::iana::DNS_MESSAGE;
use resolab_dns::message::build_query;
use resolab_dns::{EdnsOptions, Question};
use resolab_record::HttpVersion;
use resolab_transport::clock::monotonic_ns;
use std::future::poll_fn;
use std::sync::Arc;

/// Returns the 103 response, if there are hints.
pub fn interim(early_messages: &EarlyMessages) -> Option<Response<()>> {
    if early_messages.hints.is_empty() {
        return None;
    }
    let mut head = Response::new(());
    *head.status_mut() = StatusCode::EARLY_HINTS;
    for hint in &early_messages.hints {
        head.headers_mut().append(LINK, hint.clone());
    }
    Some(head)
}

/// Sends the 103 over HTTP/2 and promises the pushes, before any wait. A client thus knows the
/// pushed answers before a need for them.
pub fn send(
    state: &Arc<EdgeState>,
    request: &HttpRequest<'_>,
    early_messages: &EarlyMessages,
    respond: &mut SendResponse<Bytes>,
) {
    if let Some(interim) = interim(early_messages) {
        // A client that is gone is found out by the response.
        let _ = respond.send_informational(interim);
    }
    let Some(resolver) = resolver_url(state, request) else {
        return;
    };
    for question in &early_messages.questions {
        let Some(promised) = doh_request(&resolver, question) else {
            continue;
        };
        // Refused where the client takes no pushes (SETTINGS_ENABLE_PUSH), or no more of them.
        if let Ok(pushed) = respond.push_request(promised.clone()) {
            let (state, connection) = (Arc::clone(state), Arc::clone(request.connection));
            tokio::spawn(async move {
                let _ = push(&state, &connection, promised, pushed).await;
            });
        }
    }
}

/// Returns the resolver's DoH URL on this connection, if the connection is authoritative (RFC 9113
/// section 10.1): only on connections for the resolver's name.
fn resolver_url(state: &EdgeState, request: &HttpRequest<'_>) -> Option<String> {
    let doh = state.doh.as_ref()?;
    let (name, _) = request.connection.name_and_alpn();
    if name != Some(doh.name.as_str()) {
        return None;
    }
    let port = request.authority().rsplit_once(':');
    let port = port.map_or(String::new(), |(_, port)| format!(":{port}"));
    Some(format!("https://{}{port}{}", doh.name, doh.path))
}

/// Returns the promised request, spared to the client: a GET (RFC 8484 section 4.1), padded as the
/// client's own queries (RFC 8467).
fn doh_request(resolver: &str, question: &Question) -> Option<Request<()>> {
    let edns = QueryEdns::new_without_cookie(EdnsOptions::default(), true);
    let query = build_query(question, 0, &edns).ok()?;
    let uri = format!("{resolver}?dns={}", URL_SAFE_NO_PAD.encode(query));
    let request = Request::get(uri).header(ACCEPT, DNS_MESSAGE);
    request.body(()).ok()
}

/// Answers a promised request as a real request. A query dropped on purpose gets no answer.
async fn push(
    state: &Arc<EdgeState>,
    connection: &Arc<OpenConnection>,
    promised: Request<()>,
    mut pushed: SendPushedResponse<Bytes>,
) -> Option<()> {
    let request = HttpRequest {
        head: &promised,
        body: Ok(Bytes::new()),
        version: HttpVersion::H2,
        connection,
        in_early_data: false,
        received_ns: monotonic_ns(),
    };
    let decided = exchange::decide(state, &request).await;
    let refused = async {
        let _ = poll_fn(|context| pushed.poll_reset(context)).await;
    };
    let (reply, mut pending) = exchange::hold(decided, connection, refused).await?;
    let HttpReply { head, mut body, .. } = reply;
    let mut stream = pushed.send_response(head, body.is_empty()).ok()?;
    if !body.is_empty() {
        // At most 65,535 bytes; HTTP/2 keeps what the client's window has no room for.
        stream.send_data(body.next(usize::MAX), true).ok()?;
    }
    pending.finish();
    Some(())
}
