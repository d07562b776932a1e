//! What a site answers where it is told to, the same over HTTP/1.1, HTTP/2 and HTTP/3: statuses and
//! fields, methods, CORS, codings made beforehand.

use crate::support::clients::{Client, Fetched, VERSIONS, request};
use crate::support::{HOST, IMAGE_BYTES, Lab};
use http::{Method, Response, StatusCode};
use resolab_record::{EdgeCommand, EdgeRequestRecord};
use std::time::Duration;

const ORIGIN: &str = "https://page.resolab.test";
const METHODS: &str = "methods = ['GET', 'HEAD', 'POST']\n";
const RESPONSES: &str = r#"
    response = [
        { path = "/moved", status = 302, location = "https://other.test/a?b=1" },
        { path = "/img/a.png", status = 404, fields = { x-pad = "aaaa", content-type = "image/x-none" } },
        { path = "/none", status = 204 },
        { path = "/again", status = 205 },
        { path = "/empty" },
        { path = "/q?a=1", status = 503, fields = { retry-after = "9" } },
        { path = "/q", status = 410 },
        { path = "/late", status = 201, server_time_ms = 60 },
    ]
    [[site.path]]
    path = "/*"
    server_time_ms = 1
"#;

fn field<'a>(head: &'a Response<()>, name: &str) -> Option<&'a str> {
    let value = head.headers().get(name);
    value.map(|value| value.to_str().unwrap())
}

async fn send(http: &mut Client, method: Method, path: &str, fields: &[(&str, &str)]) -> Fetched {
    http.fetch(request(method, HOST, path, fields), None).await
}

async fn load(lab: &mut Lab, folder: Option<String>, settings: &str) -> Result<(), String> {
    let command = EdgeCommand::LoadSite {
        id: 1,
        host: HOST.to_owned(),
        folder,
        address: None,
        settings: Some(settings.to_owned()),
    };
    lab.edge.carry_out(command).await
}

#[tokio::test]
async fn a_path_is_answered_as_said() {
    let lab = Lab::with_site(RESPONSES).await;
    for alpn in VERSIONS {
        let mut http = Client::connect(&lab, alpn, HOST).await;
        for (path, status, name, value) in [
            ("/moved", 302, "location", Some("https://other.test/a?b=1")),
            ("/none", 204, "content-length", None),
            ("/again", 205, "etag", None),
            ("/empty", 200, "timing-allow-origin", Some("*")),
            ("/q?a=1", 503, "retry-after", Some("9")),
            ("/q?a=2", 410, "retry-after", None),
            ("/late", 201, "cache-control", Some("max-age=0")),
        ] {
            let (head, body) = http.get(path, &[]).await;
            assert_eq!(head.status().as_u16(), status, "{alpn} {path}");
            assert_eq!(field(&head, name), value, "{alpn} {path}");
            assert!(body.is_empty(), "{alpn} {path}");
        }
        // Neither validators nor parts go with an error's body.
        let range = [("range", "bytes=0-9"), ("if-none-match", "*")];
        let (head, body) = http.get("/img/a.png", &range).await;
        assert_eq!((head.status().as_u16(), &body), (404, &lab.image), "{alpn}");
        assert_eq!(field(&head, "x-pad"), Some("aaaa"));
        assert_eq!(field(&head, "content-type"), Some("image/x-none"));
        assert_eq!(
            (field(&head, "etag"), field(&head, "accept-ranges")),
            (None, None)
        );
        let (head, body) = send(&mut http, Method::HEAD, "/img/a.png", &[]).await;
        assert_eq!((head.status().as_u16(), body.len()), (404, 0), "{alpn}");
        assert_eq!(field(&head, "content-length"), Some("150000"));
        assert_eq!(http.get("/", &[]).await.1, b"<!doctype html>hello");
    }
    let seen = lab.requests(10 * VERSIONS.len()).await;
    for each in seen.chunks(10) {
        let statuses: Vec<_> = each.iter().map(|request| request.status).collect();
        assert_eq!(statuses, [302, 204, 205, 200, 503, 410, 201, 404, 404, 200]);
        assert!(
            each.iter()
                .all(|request| request.response_sent_ns.is_some())
        );
        assert_eq!(
            (each[7].body_bytes, each[8].body_bytes),
            (IMAGE_BYTES as u64, 0)
        );
        // A response's own time goes before its path's.
        let waited = |at: usize| Duration::from_nanos(each[at].server_time_ns.unwrap());
        assert!(waited(6) >= Duration::from_millis(60), "{:?}", waited(6));
        assert!(waited(0) >= Duration::from_millis(1), "{:?}", waited(0));
    }
}

#[tokio::test]
async fn other_methods_are_answered_where_they_are_wanted() {
    let lab = Lab::with_site(&format!("{METHODS}{RESPONSES}")).await;
    for alpn in VERSIONS {
        let mut http = Client::connect(&lab, alpn, HOST).await;
        // More than any window and any DNS message.
        for (path, bytes) in [
            ("/", 1_000_000),
            ("/none", 3),
            ("/", 0),
            ("/nothing", 100_000),
        ] {
            let post = request(Method::POST, HOST, path, &[("range", "bytes=0-0")]);
            let (head, body) = http.fetch(post, Some(vec![b'a'; bytes])).await;
            let (status, answer) = match path {
                "/" => (200, &b"<!doctype html>hello"[..]),
                "/none" => (204, &b""[..]),
                _ => (404, &b""[..]),
            };
            assert_eq!(
                (head.status().as_u16(), &body[..]),
                (status, answer),
                "{alpn} {path}"
            );
        }
        let put = request(Method::PUT, HOST, "/", &[]);
        let (head, _) = http.fetch(put, Some(vec![0; 70_000])).await;
        assert_eq!(head.status(), StatusCode::METHOD_NOT_ALLOWED, "{alpn}");
        assert_eq!(field(&head, "allow"), Some("GET, HEAD, POST"));
        assert_eq!(
            http.get("/", &[]).await.0.status(),
            StatusCode::OK,
            "{alpn}"
        );
    }
    let seen = lab.requests(6 * VERSIONS.len()).await;
    assert!(
        seen.iter()
            .any(|each| (each.method.as_str(), each.status) == ("POST", 204))
    );
    // All of a version came on one connection.
    let ids: std::collections::HashSet<_> = seen.iter().map(|each| each.connection_id).collect();
    assert_eq!(ids.len(), VERSIONS.len());
}

#[tokio::test]
async fn scripts_of_every_origin_are_let_in() {
    let lab = Lab::with_site(&format!("cors = true\n{METHODS}{RESPONSES}")).await;
    let asking = [
        ("origin", ORIGIN),
        ("access-control-request-method", "PATCH"),
        ("access-control-request-headers", "x-a,x-b"),
    ];
    for alpn in VERSIONS {
        let mut http = Client::connect(&lab, alpn, HOST).await;
        let (head, body) = send(&mut http, Method::OPTIONS, "/late", &asking).await;
        assert_eq!((head.status().as_u16(), body.len()), (204, 0), "{alpn}");
        for (name, value) in [
            ("access-control-allow-origin", ORIGIN),
            ("access-control-allow-credentials", "true"),
            ("access-control-allow-methods", "PATCH"),
            ("access-control-allow-headers", "x-a,x-b"),
            ("access-control-max-age", "0"),
            ("vary", "origin"),
        ] {
            assert_eq!(field(&head, name), Some(value), "{alpn}");
        }
        for (method, path, origin, status) in [
            (Method::POST, "/", ORIGIN, 200),
            (Method::POST, "/nothing", "null", 404),
            (Method::GET, "/moved", ORIGIN, 302),
        ] {
            let (head, _) = send(&mut http, method, path, &[("origin", origin)]).await;
            assert_eq!(head.status().as_u16(), status, "{alpn} {path}");
            assert_eq!(field(&head, "access-control-allow-origin"), Some(origin));
            assert_eq!(
                field(&head, "access-control-allow-credentials"),
                Some("true")
            );
        }
        let (head, _) = http.get("/", &[]).await;
        assert_eq!(field(&head, "access-control-allow-origin"), None);
        // OPTIONS that is no preflight.
        let (head, _) = send(&mut http, Method::OPTIONS, "/", &[("origin", ORIGIN)]).await;
        assert_eq!(head.status(), StatusCode::METHOD_NOT_ALLOWED);
    }
    let seen = lab.requests(6 * VERSIONS.len()).await;
    for each in seen.chunks(6) {
        let preflight: &EdgeRequestRecord = &each[0];
        assert_eq!(
            (preflight.method.as_str(), preflight.status),
            ("OPTIONS", 204)
        );
        // The path's time, not the response's.
        let waited = preflight.server_time_ns.unwrap();
        assert!((1_000_000..60_000_000).contains(&waited), "{waited}");
    }
}

#[tokio::test]
async fn a_site_that_is_not_told_lets_no_origin_in() {
    let lab = Lab::start().await;
    let mut http = Client::connect(&lab, "h2", HOST).await;
    let asking = [("origin", ORIGIN), ("access-control-request-method", "GET")];
    let (head, _) = send(&mut http, Method::OPTIONS, "/", &asking).await;
    assert_eq!(head.status(), StatusCode::METHOD_NOT_ALLOWED);
    let (head, _) = http.get("/", &[("origin", ORIGIN)]).await;
    assert_eq!(field(&head, "access-control-allow-origin"), None);
}

#[tokio::test]
async fn codings_made_beforehand_are_served_byte_for_byte() {
    let mut lab = Lab::start().await;
    let folder = lab.folder.join("coded");
    std::fs::create_dir_all(&folder).unwrap();
    for (name, text) in [
        ("index.html", &b"<p>whole"[..]),
        ("index.html.gz", b"\x1f\x8bcoded, and longer"),
        (
            "a.js",
            b"1;                                                             ",
        ),
    ] {
        std::fs::write(folder.join(name), text).unwrap();
    }
    let folder = folder.display().to_string();
    load(&mut lab, Some(folder), "precoded = true")
        .await
        .unwrap();
    let accept = [("accept-encoding", "gzip, deflate, br, zstd")];
    for alpn in VERSIONS {
        let mut http = Client::connect(&lab, alpn, HOST).await;
        let (head, body) = http.get("/", &accept).await;
        assert_eq!(body, b"\x1f\x8bcoded, and longer", "{alpn}");
        assert_eq!(field(&head, "content-encoding"), Some("gzip"));
        assert_eq!(
            field(&head, "content-type"),
            Some("text/html; charset=utf-8")
        );
        assert_eq!(field(&head, "vary"), Some("accept-encoding"));
        let (plain, body) = http.get("/", &[]).await;
        assert_eq!(
            (field(&plain, "content-encoding"), &body[..]),
            (None, &b"<p>whole"[..])
        );
        assert_ne!(field(&head, "etag"), field(&plain, "etag"));
        let (head, body) = http.get("/a.js", &accept).await;
        assert_eq!(
            (field(&head, "content-encoding"), body.len()),
            (None, 63),
            "{alpn}"
        );
        assert_eq!(field(&head, "vary"), None);
        assert_eq!(
            http.get("/index.html.gz", &[]).await.0.status(),
            StatusCode::NOT_FOUND
        );
    }
    let seen = lab.requests(1).await.remove(0);
    assert_eq!((seen.body_bytes, seen.resource_bytes), (19, Some(8)));
    assert_eq!(seen.content_encoding.as_deref(), Some("gzip"));
}

#[tokio::test]
async fn a_site_of_responses_is_loaded_by_command() {
    let mut lab = Lab::start().await;
    let empty = lab.folder.join("empty");
    std::fs::create_dir_all(&empty).unwrap();
    let empty = Some(empty.display().to_string());
    // A host of redirects alone has no file.
    for folder in [empty.clone(), None] {
        load(
            &mut lab,
            folder,
            &RESPONSES.replace("[[site.path]]", "[[path]]"),
        )
        .await
        .unwrap();
        for alpn in VERSIONS {
            let mut http = Client::connect(&lab, alpn, HOST).await;
            assert_eq!(
                http.get("/moved", &[]).await.0.status(),
                StatusCode::FOUND,
                "{alpn}"
            );
            assert_eq!(
                http.get("/", &[]).await.0.status(),
                StatusCode::NOT_FOUND,
                "{alpn}"
            );
        }
    }
    for (folder, settings, part) in [
        (
            None,
            "precoded = true\nresponse = [{ path = '/' }]",
            "no folder",
        ),
        (
            None,
            "response = [{ path = '/', status = 99 }]",
            "status 99",
        ),
        (
            None,
            "response = [{ path = '/', colour = 1 }]",
            "unknown field `colour`",
        ),
        (empty, "methods = ['GET', 'POST']", "holds no file"),
    ] {
        let error = load(&mut lab, folder, settings).await.unwrap_err();
        assert!(error.contains(part) && !error.contains('\n'), "{error}");
    }
}
