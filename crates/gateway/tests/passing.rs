//! What passes the gateway, over every pair of HTTP versions.
#![allow(clippy::unwrap_used)]

use crate::support;
use crate::support::browser::request;
use crate::support::{FIRST, Lab, Settings};
use http::Method;
use resolab_record::{ConnectionReason, HttpVersion};

const LEGS: [HttpVersion; 3] = [HttpVersion::H1, HttpVersion::H2, HttpVersion::H3];
const UPSTREAMS: [HttpVersion; 2] = [HttpVersion::H2, HttpVersion::H3];

async fn lab(upstream: HttpVersion) -> Lab {
    Lab::start(Settings {
        upstream,
        ..Settings::default()
    })
    .await
}

#[tokio::test]
async fn heads_and_bodies_pass_both_ways() {
    for upstream in UPSTREAMS {
        let lab = lab(upstream).await;
        for (number, leg) in LEGS.into_iter().enumerate() {
            let mut browser = lab.browser(leg, FIRST).await;
            let mut post = request(Method::POST, FIRST, "/echo?a=b");
            for (name, value) in [("priority", "u=1, i"), ("cookie", "a=1"), ("x-own", "yes")] {
                post.headers_mut().insert(name, value.parse().unwrap());
            }
            let body: Vec<u8> = (0..300_000).map(|n| (n * 31 % 251) as u8).collect();
            let fetched = browser.fetch(post, Some(body.clone())).await.unwrap();
            assert_eq!(fetched.head.status(), 200, "{leg:?} {upstream:?}");
            for (name, value) in [("priority", "u=1, i"), ("cookie", "a=1"), ("x-own", "yes")] {
                assert_eq!(fetched.head.headers()[name], value, "{leg:?} {upstream:?}");
            }
            assert_eq!(fetched.head.headers()["x-got"], "300000");
            assert_eq!(fetched.body, body, "{leg:?} {upstream:?}");
            let fetched = browser.get("/status/404").await;
            assert_eq!(
                (fetched.head.status().as_u16(), fetched.body.len()),
                (404, 0)
            );
            let fetched = browser.get("/bytes/1000000").await;
            assert_eq!(fetched.body.len(), 1_000_000);
            let requests = lab.requests(3 * number + 3).await;
            let post = &requests[3 * number];
            assert_eq!((post.leg_http_version, post.status), (leg, Some(200)));
            assert_eq!(
                (post.method.as_str(), post.path.as_str()),
                ("POST", "/echo?a=b")
            );
            assert_eq!(post.request_body_bytes, 300_000);
            assert_eq!(post.response_body_bytes, 300_000);
            assert_eq!(post.priority.as_deref(), Some("u=1, i"));
            assert_eq!(post.connection_reason, Some(ConnectionReason::OwnName));
            assert!(!post.cancelled && post.failure.is_none(), "{post:?}");
            let instants = [
                Some(post.received_ns),
                post.sent_ns,
                post.head_ns,
                post.head_passed_ns,
                post.last_ns,
                post.last_passed_ns,
            ];
            assert!(instants.iter().all(Option::is_some) && instants.is_sorted());
        }
        // One connection upstream for all legs of a name.
        assert!(lab.gateway.new_load(false, None).await);
        let connections = lab.connections(1).await;
        assert_eq!((connections.len(), connections[0].requests_count), (1, 9));
        assert_eq!(connections[0].http_version, upstream);
        let legs = lab.legs(3).await;
        assert_eq!(legs.len(), 3);
        let versions: Vec<_> = legs.iter().filter_map(|leg| leg.http_version).collect();
        assert!(
            LEGS.iter().all(|leg| versions.contains(leg)),
            "{versions:?}"
        );
    }
}

#[tokio::test]
async fn interim_responses_and_trailers_pass() {
    for upstream in UPSTREAMS {
        let lab = lab(upstream).await;
        for leg in [HttpVersion::H2, HttpVersion::H3] {
            let mut browser = lab.browser(leg, FIRST).await;
            let fetched = browser.get("/hints").await;
            assert_eq!(fetched.interim.len(), 1, "{leg:?} {upstream:?}");
            assert_eq!(fetched.interim[0].status(), 103);
            assert_eq!(
                fetched.interim[0].headers()["link"],
                "</a.css>; rel=preload"
            );
            assert_eq!(fetched.head.status(), 200);
            let fetched = browser.get("/trailers").await;
            let trailers = fetched.trailers.unwrap();
            assert_eq!(trailers["x-after"], "the end", "{leg:?} {upstream:?}");
        }
        let mut browser = lab.browser(HttpVersion::H1, FIRST).await;
        assert_eq!(browser.get("/hints").await.head.status(), 200);
        assert_eq!(browser.get("/trailers").await.head.status(), 200);
        assert_eq!(lab.requests(6).await[0].interim_responses_count, 1);
    }
}

#[tokio::test]
async fn requests_keep_their_order() {
    for upstream in UPSTREAMS {
        let lab = lab(upstream).await;
        for leg in [HttpVersion::H2, HttpVersion::H3] {
            lab.origin().seen.requests.lock().unwrap().clear();
            let browser = lab.browser(leg, FIRST).await;
            let paths: Vec<String> = (0..60)
                .map(|number| format!("/status/2{number:02}"))
                .collect();
            support::browser::ask_all(browser, &paths).await;
            assert_eq!(lab.origin().paths(), paths, "{leg:?} {upstream:?}");
        }
    }
}

#[tokio::test]
async fn a_request_for_another_name_is_misdirected() {
    let lab = lab(HttpVersion::H3).await;
    for leg in LEGS {
        let mut browser = lab.browser(leg, FIRST).await;
        let other = request(Method::GET, support::ELSEWHERE, "/");
        let fetched = browser.fetch(other, None).await.unwrap();
        assert_eq!(fetched.head.status(), 421, "{leg:?}");
        assert_eq!(browser.get("/").await.head.status(), 200);
    }
    assert_eq!(lab.origin().paths(), ["/"; 3]);
}
