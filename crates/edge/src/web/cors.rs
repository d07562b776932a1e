//! The CORS protocol (Fetch standard, section 3.3) of sites open to every origin.
//!
//! For: preflights, and the fields permitting a script of another origin to read an answer.
//! Not for: decisions by origin: a site permits all origins, or has no CORS fields.

use crate::http_message::{HttpReply, plain, set};
use http::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use http::{HeaderValue, Method, Request, StatusCode};

/// Returns the answer to a preflight, still without `admit`; `None` for other requests.
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

/// Permits a script of the request's origin to read the reply. The field has the origin, not `*`,
/// because `*` excludes credentials (section 3.3.5).
pub fn admit(reply: &mut HttpReply, head: &Request<()>) {
    if let Some(origin) = head.headers().get(ORIGIN) {
        set(reply, ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        let yes = HeaderValue::from_static("true");
        set(reply, ACCESS_CONTROL_ALLOW_CREDENTIALS, yes);
    }
    let varies = HeaderValue::from_static("origin");
    reply.head.headers_mut().append(VARY, varies);
}
