//! The document asked for in the flight of its name's query: used where the answer agrees,
//! discarded where it does not or the browser wants something else.
#![allow(clippy::unwrap_used)]

use crate::support::browser::request;
use crate::support::{FIRST, Lab, SITES, Settings, TOO_EARLY};
use http::Method;
use resolab_record::{
    ConnectionReason, ConnectionSharing, CoverageSource, DiscardedBecause, HandshakeMode,
    HttpVersion, Record, Speculation,
};

const PATH: &str = "/bytes/200000.bin";

async fn lab(has_origin_frame: bool, handshake: HandshakeMode, delay_ms: u32) -> Lab {
    lab_over(false, has_origin_frame, handshake, delay_ms).await
}

async fn lab_over(
    private_alpn: bool,
    has_origin_frame: bool,
    handshake: HandshakeMode,
    delay_ms: u32,
) -> Lab {
    Lab::start(Settings {
        private_alpn,
        coalescing: Some(has_origin_frame),
        sharing: ConnectionSharing::ResolverConnection,
        handshake,
        delay_ms,
        ..Settings::default()
    })
    .await
}

async fn fetch(lab: &Lab, host: &str, path: &str) {
    let mut browser = lab.browser(HttpVersion::H3, host).await;
    let fetched = browser.get(path).await;
    assert_eq!(fetched.head.status(), 200, "{host}{path}");
    if path == PATH {
        assert_eq!(fetched.body.len(), 200_000);
    }
}

/// When the edge answered the queries for a site's address, and read the requests for the site.
fn at_the_edge(lab: &Lab, host: &str) -> (Vec<u64>, Vec<u64>) {
    let (mut queries, mut requests) = (Vec::new(), Vec::new());
    for record in lab.edge_records() {
        if let Record::EdgeQuery(query) = &record
            && query.qname.starts_with(host)
        {
            queries.extend(query.answered_ns);
        }
        if let Record::EdgeRequest(request) = &record
            && request.authority.starts_with(host)
        {
            requests.push(request.received_ns);
        }
    }
    (queries, requests)
}

#[tokio::test]
async fn a_document_is_there_when_it_is_asked_for() {
    use HandshakeMode::{Full, ZeroRtt};
    for (private_alpn, handshake) in [
        (false, Full),
        (false, ZeroRtt),
        (true, Full),
        (true, ZeroRtt),
    ] {
        let lab = lab_over(private_alpn, true, handshake, 200).await;
        fetch(&lab, SITES[0], PATH).await;
        for number in 0..2 {
            assert!(lab.gateway.new_load(false, Some(SITES[0])).await);
            fetch(&lab, SITES[0], PATH).await;
            // Resources are asked for as ever.
            fetch(&lab, SITES[0], "/bytes/10.bin").await;
            let speculation = lab.speculations(number + 1).await.remove(number);
            assert_eq!(
                speculation.speculation,
                Speculation::Used,
                "{speculation:?}"
            );
            assert_eq!(speculation.path.as_deref(), Some(PATH));
            if handshake == HandshakeMode::Full {
                let source = Some(CoverageSource::Connection);
                assert_eq!(speculation.coverage_source, source);
            }
            let requests = lab.requests(2 * number + 3).await;
            let document = &requests[2 * number + 1];
            assert_eq!(document.speculation, Some(Speculation::Used));
            assert_eq!(document.connection_reason, Some(ConnectionReason::Address));
            assert_eq!(document.connection_id, speculation.connection_id);
            assert!(speculation.sent_ns.unwrap() < document.received_ns);
            assert_eq!(requests[2 * number + 2].speculation, None);
        }
        // The server was asked once for each, too, and for the document before it had told its
        // address.
        let (queries, requests) = at_the_edge(&lab, SITES[0]);
        assert_eq!((queries.len(), requests.len()), (5, 5), "{handshake:?}");
        assert!(queries[0] < requests[0]);
        assert!(
            requests[1] < queries[1] && requests[3] < queries[3],
            "{handshake:?}"
        );
    }
}

#[tokio::test]
async fn the_address_is_asked_for_before_the_document() {
    let lab = lab(true, HandshakeMode::Full, 0).await;
    fetch(&lab, SITES[0], PATH).await;
    assert!(lab.gateway.new_load(false, Some(SITES[0])).await);
    // HTTPS, as browsers do.
    lab.ask(SITES[0], 65).await;
    fetch(&lab, SITES[0], PATH).await;
    let speculation = lab.speculations(1).await.remove(0);
    assert_eq!(speculation.speculation, Speculation::Used);
    let (queries, requests) = at_the_edge(&lab, SITES[0]);
    assert_eq!((queries.len(), requests.len()), (3, 2));
    assert!(queries[2] < requests[1]);
}

#[tokio::test]
async fn what_the_name_s_answer_does_not_allow_is_discarded() {
    // Without ORIGIN frames the site elsewhere is covered by the certificate, but not there.
    let lab = lab(false, HandshakeMode::Full, 0).await;
    fetch(&lab, SITES[1], PATH).await;
    assert!(lab.gateway.new_load(false, Some(SITES[1])).await);
    fetch(&lab, SITES[1], PATH).await;
    let speculation = lab.speculations(1).await.remove(0);
    assert_eq!(speculation.speculation, Speculation::Discarded);
    let because = Some(DiscardedBecause::NotShared);
    assert_eq!(speculation.discarded_because, because);
    assert!(speculation.discarded_body_bytes.is_some());
    let document = lab.requests(2).await.remove(1);
    assert_eq!(document.speculation, Some(Speculation::Discarded));
    assert_eq!(document.connection_reason, Some(ConnectionReason::OwnName));
}

#[tokio::test]
async fn another_request_is_answered_afresh() {
    let lab = lab(true, HandshakeMode::Full, 0).await;
    fetch(&lab, SITES[0], PATH).await;
    assert!(lab.gateway.new_load(false, Some(SITES[0])).await);
    let mut browser = lab.browser(HttpVersion::H3, SITES[0]).await;
    let mut other = request(Method::GET, SITES[0], PATH);
    other.headers_mut().insert("cookie", "a=1".parse().unwrap());
    let fetched = browser.fetch(other, None).await.unwrap();
    assert_eq!(fetched.body.len(), 200_000);
    let speculation = lab.speculations(1).await.remove(0);
    let because = Some(DiscardedBecause::OtherRequest);
    assert_eq!(speculation.discarded_because, because);
    // Nobody comes for it.
    assert!(lab.gateway.new_load(false, Some(SITES[0])).await);
    lab.look_up(SITES[0]).await;
    assert!(lab.gateway.new_load(false, None).await);
    let speculation = lab.speculations(2).await.remove(1);
    assert_eq!(
        speculation.discarded_because,
        Some(DiscardedBecause::Unclaimed)
    );
    // And none is wanted.
    fetch(&lab, SITES[0], PATH).await;
    assert_eq!(lab.requests(3).await[2].speculation, None);
    assert_eq!(lab.speculations(2).await.len(), 2);
}

#[tokio::test]
async fn nothing_is_sent_for_what_is_not_known_or_not_covered() {
    let lab = lab(true, HandshakeMode::Full, 0).await;
    // No load before had a request for it.
    assert!(lab.gateway.new_load(false, Some(SITES[0])).await);
    fetch(&lab, SITES[0], PATH).await;
    // Another server's.
    fetch(&lab, FIRST, "/").await;
    assert!(lab.gateway.new_load(false, Some(FIRST)).await);
    fetch(&lab, FIRST, "/").await;
    for speculation in lab.speculations(2).await {
        assert_eq!(
            speculation.speculation,
            Speculation::NotSent,
            "{speculation:?}"
        );
        assert_eq!(speculation.sent_ns, None);
    }
    let speculations: Vec<_> = lab
        .requests(3)
        .await
        .iter()
        .map(|it| it.speculation)
        .collect();
    let not_sent = Some(Speculation::NotSent);
    assert_eq!(speculations, [not_sent, None, not_sent]);
}

/// 425 speaks of early data and not of the connection (RFC 8470 section 5.2): the next load has its
/// document asked for on it as this one had.
#[tokio::test]
async fn a_document_that_came_too_early_is_asked_for_again_on_the_same_connection() {
    let lab = lab(true, HandshakeMode::ZeroRtt, 0).await;
    for load in 0..3 {
        let mut browser = lab.browser(HttpVersion::H3, SITES[0]).await;
        assert_eq!(browser.get(TOO_EARLY).await.head.status(), 425);
        let document = lab.requests(load + 1).await.remove(load);
        assert_eq!(document.connection_reason, Some(ConnectionReason::Address));
        if load > 0 {
            assert_eq!(document.speculation, Some(Speculation::Used), "{load}");
            assert_eq!(document.sent_again_count, 1, "{load}");
        }
        assert!(lab.gateway.new_load(false, Some(SITES[0])).await);
    }
}
