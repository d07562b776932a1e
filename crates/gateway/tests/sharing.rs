//! Which connection upstream requests for several names go on, and what a 421 does.
#![allow(clippy::unwrap_used)]

use crate::support;
use crate::support::{COVERED, ELSEWHERE, FAR, FIRST, Lab, Settings};
use resolab_record::{
    ConnectionReason, ConnectionSharing, GatewayTrigger, HandshakeMode, HttpVersion,
};
use std::time::Duration;

async fn lab(
    sharing: ConnectionSharing,
    upstream: HttpVersion,
    origins: &'static [&'static str],
) -> Lab {
    Lab::start(Settings {
        sharing,
        upstream,
        origins,
        ..Settings::default()
    })
    .await
}

/// One request to each name, one after the other; why each went where it went.
async fn reasons(lab: &Lab, path: &str) -> Vec<ConnectionReason> {
    reasons_after(lab, 0, path).await
}

/// The same after so many requests.
async fn reasons_after(lab: &Lab, before_count: usize, path: &str) -> Vec<ConnectionReason> {
    let hosts = [FIRST, COVERED, FAR, ELSEWHERE];
    for host in hosts {
        let mut browser = lab.browser(HttpVersion::H2, host).await;
        assert_eq!(browser.get(path).await.head.status(), 200, "{host}");
    }
    let requests = lab.requests(before_count + hosts.len()).await;
    requests[before_count..]
        .iter()
        .map(|request| request.connection_reason.unwrap())
        .collect()
}

#[tokio::test]
async fn each_setting_shares_what_it_says() {
    use ConnectionReason::{Address, Certificate, OwnName};
    for upstream in [HttpVersion::H2, HttpVersion::H3] {
        for (sharing, expected, connections_count) in [
            (
                ConnectionSharing::Separate,
                [OwnName, OwnName, OwnName, OwnName],
                4,
            ),
            (
                ConnectionSharing::BrowserRule,
                [OwnName, Address, OwnName, OwnName],
                3,
            ),
            (
                ConnectionSharing::OriginFrame,
                [OwnName, Address, OwnName, OwnName],
                3,
            ),
            (
                ConnectionSharing::Certificate,
                [OwnName, Address, Certificate, OwnName],
                2,
            ),
        ] {
            let lab = lab(sharing, upstream, &[]).await;
            assert_eq!(
                reasons(&lab, "/").await,
                expected,
                "{sharing:?} {upstream:?}"
            );
            let mut places: Vec<u64> = lab.origin().places().iter().map(|place| place.0).collect();
            places.sort_unstable();
            places.dedup();
            assert_eq!(places.len(), connections_count, "{sharing:?} {upstream:?}");
        }
    }
}

/// In early data a server has said nothing of itself; when it has, its connection is like any other.
#[tokio::test]
async fn connections_of_early_data_are_shared_as_others() {
    use ConnectionReason::{Address, Certificate, OwnName};
    for upstream in [HttpVersion::H2, HttpVersion::H3] {
        let lab = Lab::start(Settings {
            sharing: ConnectionSharing::Certificate,
            handshake: HandshakeMode::ZeroRtt,
            trigger: GatewayTrigger::Request,
            upstream,
            ..Settings::default()
        })
        .await;
        for load in 0..2 {
            assert_eq!(
                reasons_after(&lab, 4 * load, "/").await,
                [OwnName, Address, Certificate, OwnName],
                "{upstream:?} {load}"
            );
            assert!(lab.gateway.new_load(false, None).await);
        }
        let early = &lab.requests(8).await[4];
        assert_eq!(early.sent_early, Some(true), "{upstream:?}");
    }
}

/// Browsers ask again for a name they have; what they have a connection for does not wait for that.
#[tokio::test]
async fn a_request_waits_for_no_look_up_of_a_name_that_is_known() {
    let lab = Lab::start(Settings {
        sharing: ConnectionSharing::BrowserRule,
        delay_ms: 3_000,
        ..Settings::default()
    })
    .await;
    let mut browser = lab.browser(HttpVersion::H2, FIRST).await;
    assert_eq!(browser.get("/").await.head.status(), 200);
    let again = lab.look_up(FIRST);
    tokio::pin!(again);
    let asked = async {
        // The query is with the resolver.
        tokio::time::sleep(Duration::from_millis(200)).await;
        browser.get("/").await
    };
    tokio::select! {
        biased;
        fetched = asked => assert_eq!(fetched.head.status(), 200),
        _ = &mut again => panic!("the request waited for the look-up"),
    }
}

#[tokio::test]
async fn an_origin_frame_allows_and_forbids() {
    use ConnectionReason::{Origin, OwnName};
    // It names what is elsewhere, and not what is here.
    let origins = &["https://far.resolab.test:8443"];
    for (sharing, expected) in [
        (
            ConnectionSharing::OriginFrame,
            [OwnName, OwnName, Origin, OwnName],
        ),
        (
            ConnectionSharing::Certificate,
            [OwnName, OwnName, Origin, OwnName],
        ),
        (
            ConnectionSharing::BrowserRule,
            [OwnName, OwnName, OwnName, OwnName],
        ),
    ] {
        let lab = lab(sharing, HttpVersion::H3, origins).await;
        assert_eq!(reasons(&lab, "/").await, expected, "{sharing:?}");
    }
}

/// What a connection's server said of origins is that connection's.
#[tokio::test]
async fn an_origin_set_ends_with_its_load() {
    use ConnectionReason::{Origin, OwnName};
    let origins = &["https://far.resolab.test:8443"];
    let lab = lab(ConnectionSharing::OriginFrame, HttpVersion::H3, origins).await;
    for (load, hosts) in [[FIRST, FAR], [FAR, FIRST]].into_iter().enumerate() {
        for host in hosts {
            lab.browser(HttpVersion::H2, host).await.get("/").await;
        }
        let requests = lab.requests(2 * load + 2).await;
        let reasons = [0, 1].map(|number| requests[2 * load + number].connection_reason);
        let expected = [OwnName, if load == 0 { Origin } else { OwnName }];
        assert_eq!(reasons, expected.map(Some), "{load}");
        assert!(lab.gateway.new_load(false, None).await);
    }
}

#[tokio::test]
async fn a_421_is_obeyed_and_remembered() {
    for upstream in [HttpVersion::H2, HttpVersion::H3] {
        let lab = lab(ConnectionSharing::BrowserRule, upstream, &[]).await;
        let mut first = lab.browser(HttpVersion::H3, FIRST).await;
        assert_eq!(first.get("/").await.head.status(), 200);
        let mut covered = lab.browser(HttpVersion::H3, COVERED).await;
        let fetched = covered.get("/misdirected").await;
        assert_eq!(fetched.head.status(), 200, "{upstream:?}");
        let request = lab.requests(2).await.remove(1);
        assert_eq!(request.sent_again_count, 1);
        assert_eq!(request.connection_reason, Some(ConnectionReason::OwnName));
        assert_eq!(covered.get("/").await.head.status(), 200);
        let hosts: Vec<_> = lab.origin().places();
        assert_eq!(hosts.len(), 4);
        assert_eq!(
            (hosts[0].0, hosts[2].0),
            (hosts[1].0, hosts[3].0),
            "{hosts:?}"
        );
        // In the next load, too.
        assert!(lab.gateway.new_load(false, None).await);
        lab.browser(HttpVersion::H3, FIRST).await.get("/").await;
        lab.browser(HttpVersion::H3, COVERED).await.get("/").await;
        let requests = lab.requests(5).await;
        let last = &requests[4];
        assert_eq!((last.load, last.sent_again_count), (1, 0));
        assert_eq!(last.connection_reason, Some(ConnectionReason::OwnName));
        // It was first sent before the connection was opened on which it was sent again.
        let connections = lab.connections(2).await;
        let own = connections.iter().find(|it| it.host == COVERED).unwrap();
        assert!(request.sent_ns.unwrap() < own.wanted_ns, "{request:?}");
        // Of a first contact nobody remembers anything.
        assert!(lab.gateway.new_load(true, None).await);
        lab.browser(HttpVersion::H3, FIRST).await.get("/").await;
        lab.browser(HttpVersion::H3, COVERED).await.get("/").await;
        let last = lab.requests(7).await.remove(6);
        assert_eq!(last.connection_reason, Some(ConnectionReason::Address));
    }
}

/// What has a body cannot be sent twice: the browser gets the 421, and obeys it itself.
#[tokio::test]
async fn a_421_of_a_request_with_a_body_is_the_browser_s() {
    let lab = lab(ConnectionSharing::BrowserRule, HttpVersion::H3, &[]).await;
    let mut first = lab.browser(HttpVersion::H2, FIRST).await;
    first.get("/").await;
    let mut covered = lab.browser(HttpVersion::H2, COVERED).await;
    let post = support::browser::request(http::Method::POST, COVERED, "/misdirected");
    let fetched = covered.fetch(post, Some(vec![b'x'; 10])).await.unwrap();
    assert_eq!(fetched.head.status(), 421);
}
