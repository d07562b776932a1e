//! The CORS protocol (Fetch standard, section 3.3) of sites that let every origin in.
//!
//! For: preflights, and the fields that let a script of another origin read an answer. Not for:
//! deciding who may: a site lets all in, or has no such fields.

use crate::http_message::{HttpReply, plain, set};
use http::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use http::{HeaderValue, Method, Request, StatusCode};

/// The answer to a preflight, to be admitted; `None` for other requests.
pub fn preflight(head: &Request<()>) -> Option<HttpReply> {
    let asked = head.headers();
    let method = asked.get(ACCESS_CONTROL_REQUEST_METHOD)?;
    if head.method() != Method::OPTIONS || !asked.contains_key(ORIGIN) {
        return None;
    }
    let mut reply = plain(StatusCode::NO_CONTENT);
    set(&mut reply, ACCESS_CONTROL_ALLOW_METHODS, method.clone());
    if let Some(names) = asked.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        set(&mut reply, ACCESS_CONTROL_ALLOW_HEADERS, names.clone());
    }
    // Else a browser would leave out, for five seconds, the preflights of the next load.
    set(
        &mut reply,
        ACCESS_CONTROL_MAX_AGE,
        HeaderValue::from_static("0"),
    );
    Some(reply)
}

/// Let a script of the request's origin read the reply. The origin is said, not `*`, which does not
/// go with credentials (section 3.3.5).
pub fn admit(reply: &mut HttpReply, head: &Request<()>) {
    if let Some(origin) = head.headers().get(ORIGIN) {
        set(reply, ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        let yes = HeaderValue::from_static("true");
        set(reply, ACCESS_CONTROL_ALLOW_CREDENTIALS, yes);
    }
    let varies = HeaderValue::from_static("origin");
    reply.head.headers_mut().append(VARY, varies);
}
