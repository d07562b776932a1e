//! A document and its names, fetched by our own client: the names announced by the document alone, by a
//! 103, by the HTTPS record of its own name, and by pushed answers.
#![allow(clippy::unwrap_used)]

use crate::support::{HOST, Lab, RESOLVER, clients};
use http::header::LINK;
use http::{Method, StatusCode};
use resolab_dns::EdnsOptions;
use resolab_dns::bootstrap::GivenAddresses;
use resolab_fetch::fetch_names::{FetchNamesClient, FetchNamesError, FetchNamesOptions, NAMES_KEY};
use resolab_record::{
    CoalescingMode, EdgeQueryRecord, Failure, FetchNamesRecord, KeyExchangeGroup, NameAnnouncement,
};
use std::future::poll_fn;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// Of the names, and of the document: announced names are known long before it.
const NAME_DELAY_MS: u64 = 40;
const SERVER_TIME_MS: u64 = 600;
const DEADLINE: Duration = Duration::from_secs(10);
const SHARED_HOST: &str = "shared.resolab.test";

/// Two names in the document, of which one is announced, and one that is announced for nothing.
async fn lab() -> Lab {
    let lab = Lab::start_edited(|text| {
        let resolver = text.split("addresses = [\"").nth(1).unwrap();
        let resolver = resolver.split('"').next().unwrap().to_owned();
        let folder = text.split("folder = \"").nth(2).unwrap();
        let folder = folder.split('"').next().unwrap().to_owned();
        let document = "<img src=https://a.resolab.test/1><img src=https://b.resolab.test/2>";
        std::fs::write(format!("{folder}/names.html"), document).unwrap();
        let told = format!(
            "[[site.response]]\npath = '/names.html'\nserver_time_ms = {SERVER_TIME_MS}\n\
             early_hints = ['<https://a.resolab.test>; rel=dns-prefetch', \
             '<https://c.resolab.test>; rel=preconnect', '</x.css>; rel=preload']\n\
             pushed_questions = ['a.resolab.test A', 'c.resolab.test A']\n"
        );
        let named = ["a", "b", "c"].map(|label| {
            format!(
                "[[zone]]\nname = '{label}.resolab.test'\ntype = 'A'\nvalue = '10.0.0.1'\n\
                 [[name]]\nname = '{label}.resolab.test'\ndelay_ms = {NAME_DELAY_MS}\n"
            )
        });
        let listed = [HOST, SHARED_HOST].map(|host| {
            format!(
                "[[zone]]\nname = '{host}'\ntype = 'HTTPS'\n\
                 value = '1 . alpn=h2 key{NAMES_KEY}=\"a.resolab.test,c.resolab.test\"'\n"
            )
        });
        let shared = format!(
            "[[site]]\nhost = '{SHARED_HOST}'\naddress = '{resolver}'\nfolder = '{folder}'\n{told}"
        );
        format!(
            "{text}\n{told}{shared}[coalescing]\nshared_connection = true\n{}{}",
            named.concat(),
            listed.concat()
        )
    });
    lab.await
}

fn client(
    lab: &Lab,
    announcement: NameAnnouncement,
    mode: CoalescingMode,
    path: &str,
) -> Result<FetchNamesClient, FetchNamesError> {
    let host = match mode {
        CoalescingMode::SharedConnection => SHARED_HOST,
        CoalescingMode::Separate | CoalescingMode::PrivateAlpn => HOST,
    };
    let resolver = format!("https://{RESOLVER}:8443/dns-query")
        .parse()
        .unwrap();
    let given = GivenAddresses::parse(&[format!("{RESOLVER}={}", lab.resolver)]).unwrap();
    let (at, _) = given.locate(&resolver).unwrap();
    let options = FetchNamesOptions {
        announcement,
        mode,
        groups: KeyExchangeGroup::ALL.to_vec(),
        edns: EdnsOptions::default(),
        ca_file: Some(lab.edge.ready_record().ca_file.clone().into()),
    };
    let page = format!("https://{host}:8443{path}").parse().unwrap();
    FetchNamesClient::new(resolver, at, page, options)
}

async fn fetch(
    lab: &Lab,
    announcement: NameAnnouncement,
    mode: CoalescingMode,
) -> FetchNamesRecord {
    let client = client(lab, announcement, mode, "/names.html").unwrap();
    let record = client.fetch_once(3, DEADLINE).await;
    assert_eq!(record.failure, None, "{record:?}");
    assert_eq!((record.sequence, record.status), (3, Some(200)));
    assert_eq!(record.document_bytes, Some(68));
    record
}

const BOTH: [CoalescingMode; 2] = [CoalescingMode::Separate, CoalescingMode::SharedConnection];
const DELAY_NS: u64 = NAME_DELAY_MS * 1_000_000;

#[tokio::test]
async fn names_are_waited_for_unless_they_were_announced() {
    let lab = lab().await;
    for mode in BOTH {
        let alone = fetch(&lab, NameAnnouncement::Document, mode).await;
        let names: Vec<_> = alone.names.iter().map(|name| name.name.as_str()).collect();
        assert_eq!(names, ["a.resolab.test", "b.resolab.test"]);
        assert!(
            alone
                .names
                .iter()
                .all(|name| name.announced_ns.is_none() && !name.pushed)
        );
        assert!(alone.name_wait_ns.unwrap() >= DELAY_NS, "{alone:?}");
        assert_eq!(alone.unneeded_count, 0);
        for announcement in [NameAnnouncement::EarlyHints, NameAnnouncement::HttpsRecord] {
            let told = fetch(&lab, announcement, mode).await;
            let named: Vec<_> = told.names.iter().map(|name| name.name.as_str()).collect();
            assert_eq!(
                named,
                ["a.resolab.test", "c.resolab.test", "b.resolab.test"],
                "{told:?}"
            );
            let a = &told.names[0];
            assert!(
                a.announced_ns < a.found_ns && a.answered_ns < a.found_ns,
                "{told:?}"
            );
            assert!(a.asked_ns.is_some() && !a.pushed);
            assert_eq!((told.unneeded_count, told.names[1].found_ns), (1, None));
            // The one nobody announced.
            assert!(told.name_wait_ns.unwrap() >= DELAY_NS, "{told:?}");
            assert_eq!(told.names_complete_ns, told.names[2].answered_ns);
        }
    }
}

#[tokio::test]
async fn pushed_answers_are_asked_for_by_nobody() {
    let lab = lab().await;
    let mode = CoalescingMode::SharedConnection;
    let pushed = fetch(&lab, NameAnnouncement::ServerPush, mode).await;
    let a = &pushed.names[0];
    assert_eq!(
        (a.name.as_str(), a.asked_ns, a.pushed),
        ("a.resolab.test", None, true)
    );
    assert_eq!(a.rcode.as_deref(), Some("NOERROR"));
    assert!(
        a.announced_ns.unwrap() + DELAY_NS / 2 < a.answered_ns.unwrap(),
        "{a:?}"
    );
    assert!(a.answered_ns < a.found_ns, "{pushed:?}");
    assert_eq!((pushed.unneeded_count, pushed.refused_push_count), (1, 0));
    let b = &pushed.names[2];
    assert_eq!((b.name.as_str(), b.pushed), ("b.resolab.test", false));
    assert!(b.asked_ns.is_some() && pushed.name_wait_ns.unwrap() >= DELAY_NS);
    // Each has a record of the edge's, as if it had been asked: the two of the document's own name, and three.
    let queries = lab.queries(5).await;
    let of = |name: &str| -> Vec<EdgeQueryRecord> {
        let named = queries.iter().filter(|query| query.qname == name);
        named.cloned().collect()
    };
    for name in ["a.resolab.test.", "b.resolab.test.", "c.resolab.test."] {
        let [query] = &of(name)[..] else {
            panic!("{name}: {queries:#?}");
        };
        assert_eq!(query.rcode.as_deref(), Some("NOERROR"));
        // Padded as answers to queries are (RFC 8467).
        assert_eq!(query.response_bytes, Some(468));
    }
}

/// A pushed answer to a question that is dropped is promised and never comes, as if it had been asked.
#[tokio::test]
async fn a_dropped_question_gets_no_pushed_answer() {
    let lab = Lab::start_edited(|text| {
        let resolver = text.split("addresses = [\"").nth(1).unwrap();
        let resolver = resolver.split('"').next().unwrap();
        format!(
            "{text}\n[[site]]\nhost = '{SHARED_HOST}'\naddress = '{resolver}'\ngenerated_prefix = '/'\n\
             [[site.response]]\npath = '/names.html'\npushed_questions = ['a.resolab.test A']\n\
             [coalescing]\nshared_connection = true\n[limits]\nidle_timeout_s = 1\n\
             [[name]]\nname = 'a.resolab.test'\nfailure = 'drop'\n"
        )
    })
    .await;
    let stream = clients::tls(&lab.tls_client("h2"), lab.doh(), RESOLVER).await;
    let (http, connection) = h2::client::handshake(stream).await.unwrap();
    tokio::spawn(connection);
    let mut http = http.ready().await.unwrap();
    let request = clients::request(Method::GET, SHARED_HOST, "/names.html", &[]);
    let (mut response, _) = http.send_request(request, true).unwrap();
    let mut pushes = response.push_promises();
    assert_eq!(response.await.unwrap().status(), StatusCode::OK);
    let promised = pushes.push_promise().await.unwrap().unwrap();
    let (request, pushed) = promised.into_parts();
    assert_eq!(request.uri().path(), "/dns-query");
    assert!(pushed.await.is_err());
    let query = lab.queries(1).await.remove(0);
    assert_eq!((query.rcode, query.answered_ns), (None, None));
}

#[tokio::test]
async fn who_takes_no_pushes_gets_none() {
    let lab = lab().await;
    fetch(
        &lab,
        NameAnnouncement::Document,
        CoalescingMode::SharedConnection,
    )
    .await;
    let queries = lab.queries(4).await;
    assert!(
        queries.iter().all(|query| query.qname != "c.resolab.test."),
        "{queries:#?}"
    );
}

/// What a client that is not ours gets for a request: interim heads before the response, and promises.
async fn h2_get(lab: &Lab, server: SocketAddr, name: &str, host: &str) -> (usize, usize) {
    let stream = clients::tls(&lab.tls_client("h2"), server, name).await;
    let (http, connection) = h2::client::handshake(stream).await.unwrap();
    tokio::spawn(connection);
    let mut http = http.ready().await.unwrap();
    let request = clients::request(Method::GET, host, "/names.html", &[]);
    let (mut response, _) = http.send_request(request, true).unwrap();
    let mut pushes = response.push_promises();
    let mut interim = 0;
    while let Some(head) = poll_fn(|cx| response.poll_informational(cx)).await {
        let head = head.unwrap();
        assert_eq!(head.status(), StatusCode::EARLY_HINTS);
        assert_eq!(head.headers().get_all(LINK).iter().count(), 3);
        interim += 1;
    }
    let response = response.await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    let mut body = response.into_body();
    while let Some(piece) = body.data().await {
        assert!(!piece.unwrap().is_empty());
    }
    // Promises come before what they are for: by now all have.
    let mut promised = 0;
    while let Some(Ok(_)) = pushes.push_promise().await {
        promised += 1;
    }
    (interim, promised)
}

#[tokio::test]
async fn only_the_resolver_s_connection_pushes_its_answers() {
    // RFC 9113 section 10.1: a page's own connection may not answer for the resolver.
    let lab = lab().await;
    let own = h2_get(&lab, lab.web(), HOST, HOST).await;
    assert_eq!(own, (1, 0));
    let shared = h2_get(&lab, lab.doh(), RESOLVER, SHARED_HOST).await;
    assert_eq!(shared, (1, 2));
}

#[tokio::test]
async fn a_103_comes_over_http_3_too_and_before_the_server_s_time() {
    let lab = lab().await;
    let begun = Instant::now();
    let endpoint = lab.quic_client("h3");
    let quic = endpoint.connect(lab.web(), HOST).unwrap().await.unwrap();
    let (mut driver, mut http) = h3::client::new(h3_quinn::Connection::new(quic))
        .await
        .unwrap();
    tokio::spawn(async move { poll_fn(|cx| driver.poll_close(cx)).await });
    let request = clients::request(Method::GET, HOST, "/names.html", &[]);
    let mut stream = http.send_request(request).await.unwrap();
    stream.finish().await.unwrap();
    let first = stream.recv_response().await.unwrap();
    assert_eq!(first.status(), StatusCode::EARLY_HINTS);
    let second = stream.recv_response().await.unwrap();
    assert_eq!(second.status(), StatusCode::OK);
    assert!(begun.elapsed() >= Duration::from_millis(SERVER_TIME_MS));
}

#[tokio::test]
async fn what_cannot_be_is_said() {
    let lab = lab().await;
    let refused = client(
        &lab,
        NameAnnouncement::ServerPush,
        CoalescingMode::Separate,
        "/",
    );
    let Err(FetchNamesError::Unsupported { reason, .. }) = refused else {
        panic!("it is a client");
    };
    assert!(reason.contains("share it"), "{reason}");
    // A name in the document that does not exist has an answer; a page that does not exist is none.
    let missing = client(
        &lab,
        NameAnnouncement::Document,
        CoalescingMode::Separate,
        "/missing",
    );
    let record = missing.unwrap().fetch_once(0, DEADLINE).await;
    assert_eq!(
        (record.failure, record.status),
        (Some(Failure::HttpStatus), Some(404))
    );
    // A site that the resolver's connection is not for.
    let elsewhere = format!("https://{HOST}:8443/names.html");
    let resolver = format!("https://{RESOLVER}:8443/dns-query")
        .parse()
        .unwrap();
    let options = FetchNamesOptions {
        announcement: NameAnnouncement::Document,
        mode: CoalescingMode::SharedConnection,
        groups: KeyExchangeGroup::ALL.to_vec(),
        edns: EdnsOptions::default(),
        ca_file: Some(lab.edge.ready_record().ca_file.clone().into()),
    };
    let client = FetchNamesClient::new(resolver, lab.doh(), elsewhere.parse().unwrap(), options);
    let record = client.unwrap().fetch_once(0, DEADLINE).await;
    assert_eq!(record.failure, Some(Failure::Other));
    let detail = record.failure_detail.unwrap();
    assert!(detail.contains("is not at"), "{detail}");
}

#[tokio::test]
async fn a_deadline_leaves_what_is_known() {
    let lab = lab().await;
    let client = client(
        &lab,
        NameAnnouncement::EarlyHints,
        CoalescingMode::Separate,
        "/names.html",
    );
    let record = client
        .unwrap()
        .fetch_once(0, Duration::from_millis(SERVER_TIME_MS / 2))
        .await;
    assert_eq!(record.failure, Some(Failure::QueryTimeout));
    assert!(record.name_complete_ns.is_some() && record.document_complete_ns.is_none());
    assert_eq!(
        (record.names.len(), record.names_complete_ns),
        (2, None),
        "{record:?}"
    );
}

#[tokio::test]
async fn without_a_resolver_there_is_no_instant_to_count_from() {
    let mut lab = lab().await;
    let client = client(
        &lab,
        NameAnnouncement::Document,
        CoalescingMode::Separate,
        "/",
    );
    lab.edge.stop().await;
    let record = client.unwrap().fetch_once(0, DEADLINE).await;
    assert_eq!(record.failure, Some(Failure::TcpConnectRefused));
    assert_eq!(
        (record.time_origin_ns, record.name_complete_ns),
        (None, None)
    );
    assert!(record.names.is_empty());
}
