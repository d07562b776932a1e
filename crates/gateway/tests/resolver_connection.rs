//! Pages on the resolver's connection, as the edge judges: queries and requests on one connection,
//! where address or ORIGIN frame allow it, and not elsewhere.
#![allow(clippy::unwrap_used)]

use crate::support::{FIRST, LONG, Lab, RESOLVER, SITES, Settings};
use resolab_record::{
    ConnectionReason, ConnectionSharing, GatewayTrigger, HandshakeMode, HttpVersion, Record,
};
use std::time::{Duration, Instant};

async fn lab(private_alpn: bool, has_origin_frame: bool, handshake: HandshakeMode) -> Lab {
    Lab::start(Settings {
        private_alpn,
        coalescing: Some(has_origin_frame),
        sharing: ConnectionSharing::ResolverConnection,
        handshake,
        ..Settings::default()
    })
    .await
}

async fn load(lab: &Lab) {
    for host in SITES {
        let mut browser = lab.browser(HttpVersion::H3, host).await;
        let fetched = browser.get("/bytes/3000000.bin").await;
        assert_eq!(
            (fetched.head.status().as_u16(), fetched.body.len()),
            (200, 3_000_000)
        );
    }
    let mut browser = lab.browser(HttpVersion::H3, FIRST).await;
    assert_eq!(browser.get("/").await.head.status(), 200);
}

/// Connections of the edge that had queries, and those of each request for a site.
fn places(lab: &Lab) -> (Vec<u64>, Vec<(String, u64)>) {
    let (mut queries, mut requests) = (Vec::new(), Vec::new());
    for record in lab.edge_records() {
        if let Record::EdgeQuery(query) = &record {
            queries.extend(query.connection_id);
        }
        if let Record::EdgeRequest(request) = record {
            requests.push((request.authority, request.connection_id));
        }
    }
    queries.dedup();
    (queries, requests)
}

#[tokio::test]
async fn pages_and_their_names_share_a_connection() {
    use ConnectionReason::{Address, Origin, OwnName};
    let (named, not_named) = ([Address, Origin, OwnName], [Address, OwnName, OwnName]);
    for (private_alpn, has_origin_frame, expected) in [
        (false, true, named),
        (false, false, not_named),
        (true, true, named),
        (true, false, not_named),
    ] {
        let lab = lab(private_alpn, has_origin_frame, HandshakeMode::Full).await;
        load(&lab).await;
        let requests = lab.requests(3).await;
        let reasons: Vec<_> = requests
            .iter()
            .map(|it| it.connection_reason.unwrap())
            .collect();
        assert_eq!(reasons, expected);
        let (queries, pages) = places(&lab);
        assert_eq!(queries.len(), 1);
        for ((host, place), reason) in pages.iter().zip(reasons) {
            assert_eq!(*place == queries[0], reason != OwnName, "{host}");
        }
        assert!(lab.gateway.new_load(false, None).await);
        let connections = lab.connections(2).await;
        let resolvers = connections.iter().find(|it| it.host == RESOLVER).unwrap();
        assert_eq!(
            resolvers.requests_count,
            if has_origin_frame { 2 } else { 1 }
        );
        assert_eq!(resolvers.handshake_mode, Some(HandshakeMode::Full));
        let instants = [
            Some(resolvers.wanted_ns),
            resolvers.quic_handshake_start_ns,
            resolvers.quic_handshake_end_ns,
            resolvers.usable_ns,
            Some(resolvers.closed_ns),
        ];
        assert!(instants.iter().all(Option::is_some), "{resolvers:?}");
        assert!(instants.is_sorted(), "{resolvers:?}");
        // A query opened it, before a page looked at it.
        assert!(resolvers.usable_ns < requests[0].sent_ns, "{resolvers:?}");
    }
}

#[tokio::test]
async fn every_load_has_a_resolver_s_connection_of_its_own() {
    let lab = lab(false, true, HandshakeMode::Resumed).await;
    for number in 0..3 {
        load(&lab).await;
        assert!(lab.gateway.new_load(false, None).await);
        let connections = lab.connections(2 * (number + 1)).await;
        let resolvers: Vec<_> = connections
            .iter()
            .filter(|it| it.host == RESOLVER)
            .collect();
        assert_eq!(resolvers.len(), number + 1);
        let expected = if number == 0 {
            HandshakeMode::Full
        } else {
            HandshakeMode::Resumed
        };
        assert_eq!(resolvers[number].handshake_mode, Some(expected));
    }
}

/// A look-up that comes while a load is being ended leaves the next one no open connection.
#[tokio::test]
async fn a_straggling_look_up_is_no_part_of_the_next_load() {
    // Until the look-up did come while the load was being ended, however busy the machine is.
    for _ in 0..5 {
        let lab = Lab::start(Settings {
            trigger: GatewayTrigger::Dns,
            coalescing: Some(true),
            sharing: ConnectionSharing::ResolverConnection,
            without_origin: true,
            ..Settings::default()
        })
        .await;
        // Its connection is being opened to where nobody is; to let go of that takes a second.
        lab.look_up(FIRST).await;
        while !is_being_opened(&lab) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let straggler = async {
            tokio::time::sleep(Duration::from_millis(200)).await;
            lab.look_up(SITES[0]).await;
            Instant::now()
        };
        let ending = async {
            assert!(lab.gateway.new_load(false, None).await);
            Instant::now()
        };
        let (ended_at, answered_at) = tokio::join!(ending, straggler);
        if answered_at > ended_at {
            continue;
        }
        lab.look_up(SITES[1]).await;
        let straggler = queried_on(&lab, SITES[0]).await;
        assert_ne!(queried_on(&lab, SITES[1]).await, straggler);
        return;
    }
    panic!("the look-up never came in time");
}

/// The connection on which the edge got the query for a name's address, which is told before it is
/// asked for.
async fn queried_on(lab: &Lab, host: &str) -> u64 {
    let began = Instant::now();
    loop {
        let connection = lab.edge_records().into_iter().find_map(|record| {
            let Record::EdgeQuery(query) = record else {
                return None;
            };
            let is_asked = query.qname.trim_end_matches('.') == host;
            query.connection_id.filter(|_| is_asked)
        });
        if let Some(connection) = connection {
            return connection;
        }
        assert!(began.elapsed() < LONG, "no query for {host}");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Whether the query's answer is here, with which the opening of its name's connection begins.
fn is_being_opened(lab: &Lab) -> bool {
    lab.has_now(|record| matches!(record, Record::Query(_)))
}
