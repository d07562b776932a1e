//! Answers HTTP requests of every version: DoH on the resolver's name, pages on the sites' names.
//!
//! For: the same behaviour over HTTP/1.1, HTTP/2 and HTTP/3. Not for: reading or writing streams.

use crate::doh::reply_dns;
use crate::http_message::{HttpReply, HttpRequest, authority, plain};
use crate::web::reply_page;
use crate::world::{DohPlace, World};
use http::{Request, StatusCode};
use std::sync::Arc;

/// Replies to an HTTP request.
pub async fn reply(world: &Arc<World>, request: &HttpRequest<'_>) -> HttpReply {
    if let Err(status) = request.body {
        return plain(status);
    }
    if reads_body(world, request.head) {
        return reply_dns(world, request).await;
    }
    let host = host_of(request.authority());
    if request.in_early_data && !request.head.method().is_safe() {
        // RFC 8470 section 5.2: the client sends it again once the handshake is complete.
        return plain(StatusCode::TOO_EARLY);
    }
    let site = world.site(host);
    let is_known = site.is_some();
    match site.filter(|_| world.coalescing.admits(request.connection, host)) {
        Some(site) => reply_page(&site, request),
        // The resolver has nothing at this path; another connection would have no more.
        None if !is_known && is_resolver(world, host) => plain(StatusCode::NOT_FOUND),
        None => plain(StatusCode::MISDIRECTED_REQUEST),
    }
}

/// Returns true when a request's body is relevant: only for DNS queries.
pub fn reads_body(world: &World, head: &Request<()>) -> bool {
    let is_path = |doh: &DohPlace| doh.path == head.uri().path();
    world.doh.as_ref().is_some_and(is_path) && is_resolver(world, host_of(authority(head)))
}

fn is_resolver(world: &World, host: &str) -> bool {
    let address = host.trim_matches(['[', ']']).parse().ok();
    world.doh.as_ref().is_some_and(|doh| {
        host.eq_ignore_ascii_case(&doh.name)
            || address.is_some_and(|address| doh.addresses.contains(&address))
    })
}

fn host_of(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}
