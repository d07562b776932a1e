use super::*;
use bytes::Bytes;
use resolab_record::{HandshakeMode, KeyExchangeGroup, TicketPolicy};
use resolab_transport::client::{QuicClient, TlsClient, Trust};
use resolab_transport::server::{
    CertificateAuthority, QuicListener, QuicSettings, ServerPolicies, TicketTerms,
};
use std::future::poll_fn;
use std::net::Ipv4Addr;
use std::time::Duration;

const HOST: &str = "a.test";

/// A connection, as its client and its server have it.
async fn pair() -> (QuicConnection, quinn::Connection) {
    let name = format!("resolab-http-streams-{}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    let authority = CertificateAuthority::open_or_create(&folder).unwrap();
    let policies = Arc::new(ServerPolicies::new(TicketPolicy::None, false));
    let certificate = authority.issue(&[HOST.to_owned()]).unwrap();
    policies.add_name(HOST, certificate, TicketTerms::new(TicketPolicy::None));
    let listener = QuicListener::bind(
        (Ipv4Addr::LOCALHOST, 0).into(),
        vec![b"h3".to_vec()],
        policies,
        &QuicSettings::with_stream_limits(10, 3, Duration::from_secs(10)),
        Arc::default(),
    )
    .unwrap();
    let ca_file = authority.certificate_file();
    let trust = Trust::from_authorities(Some(ca_file), Vec::new(), Vec::new()).unwrap();
    let groups = &KeyExchangeGroup::ALL;
    let tls = TlsClient::new(&trust, HOST, "h3", HandshakeMode::Full, groups).unwrap();
    let quic = QuicClient::new(&tls).unwrap();
    let address = listener.local_address().unwrap();
    let (near, far) = tokio::join!(quic.connect(address, Arc::default()), async {
        listener.accept().await.unwrap().start().await
    });
    let _ = std::fs::remove_dir_all(folder);
    // The endpoint lives as long as its connections.
    (near.unwrap(), far.unwrap())
}

#[tokio::test]
async fn nothing_is_kept_of_a_stream_that_was_dropped() {
    let (near, far) = pair().await;
    let mut transport = Http3Quic::server(far);
    let taken_back = transport.taken_back_streams();
    let kept_count = || taken_back.0.lock().unwrap().len();
    for _ in 0..3 {
        let (mut send, _receive) = near.connection.open_bi().await.unwrap();
        // Half of a frame's head, and no more.
        send.write_all(&[0x01, 0x40]).await.unwrap();
        let accepted: BidirectionalStream<Bytes> =
            poll_fn(|cx| quic::Connection::poll_accept_bidi(&mut transport, cx))
                .await
                .unwrap_or_else(|_| panic!("no stream"));
        assert_eq!(kept_count(), 1);
        drop(accepted);
        assert_eq!(kept_count(), 0);
    }
}
