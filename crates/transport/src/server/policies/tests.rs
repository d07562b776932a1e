use super::*;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::sign::SingleCertAndKey;
use rustls::time_provider::TimeProvider;
use rustls::{ClientConfig, ClientConnection, HandshakeKind, RootCertStore, ServerConnection};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

/// The system's clock, put forward.
#[derive(Debug, Default)]
struct Clock(AtomicU64);

impl Clock {
    fn put_forward(&self, seconds: u64) {
        self.0.fetch_add(seconds, Ordering::Relaxed);
    }
}

impl TimeProvider for Clock {
    fn current_time(&self) -> Option<UnixTime> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let ahead = Duration::from_secs(self.0.load(Ordering::Relaxed));
        Some(UnixTime::since_unix_epoch(now.ok()? + ahead))
    }
}

/// A client with tickets and a server with policies, by one clock.
struct Ends {
    policies: ServerPolicies,
    certificate: Arc<CertifiedKey>,
    client: Arc<ClientConfig>,
    clock: Arc<Clock>,
}

impl Ends {
    fn new() -> Self {
        let key = rcgen::KeyPair::generate().unwrap();
        let params = rcgen::CertificateParams::new(vec!["a.test".to_owned()]).unwrap();
        let certificate: CertificateDer<'static> = params.self_signed(&key).unwrap().der().clone();
        let mut roots = RootCertStore::empty();
        roots.add(certificate.clone()).unwrap();
        let clock = Arc::new(Clock::default());
        let provider = Arc::new(provider(&KeyExchangeGroup::ALL));
        let mut client =
            ClientConfig::builder_with_details(Arc::clone(&provider), Arc::clone(&clock) as _)
                .with_protocol_versions(&[&TLS13])
                .unwrap()
                .with_root_certificates(roots)
                .with_no_client_auth();
        client.enable_early_data = true;
        let private = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        let certificate = CertifiedKey::from_der(vec![certificate], private, &provider).unwrap();
        Self {
            policies: ServerPolicies::new(TicketPolicy::EarlyData, false),
            certificate: Arc::new(certificate),
            client: Arc::new(client),
            clock,
        }
    }

    /// A handshake under a policy: its kind, and whether early data was offered and accepted.
    fn shake(&self, policy: TicketPolicy) -> (HandshakeKind, bool, bool) {
        let certificate = SingleCertAndKey::from(Arc::clone(&self.certificate));
        let terms = TicketTerms::new(policy);
        let config = self.policies.tcp_config(terms, &[], Arc::new(certificate));
        let mut config = config.unwrap();
        config.time_provider = Arc::clone(&self.clock) as _;
        let mut server = ServerConnection::new(Arc::new(config)).unwrap();
        let name = ServerName::try_from("a.test").unwrap();
        let mut client = ClientConnection::new(Arc::clone(&self.client), name).unwrap();
        let offered = client.early_data().is_some();
        for _ in 0..4 {
            let mut bytes = Vec::new();
            client.write_tls(&mut bytes).unwrap();
            server.read_tls(&mut bytes.as_slice()).unwrap();
            server.process_new_packets().unwrap();
            bytes.clear();
            server.write_tls(&mut bytes).unwrap();
            client.read_tls(&mut bytes.as_slice()).unwrap();
            client.process_new_packets().unwrap();
        }
        assert!(!client.is_handshaking() && !server.is_handshaking());
        let kind = server.handshake_kind().unwrap();
        (kind, offered, client.is_early_data_accepted())
    }
}

const FULL: (HandshakeKind, bool, bool) = (HandshakeKind::Full, false, false);
const REJECTED: (HandshakeKind, bool, bool) = (HandshakeKind::Resumed, true, false);
const ACCEPTED: (HandshakeKind, bool, bool) = (HandshakeKind::Resumed, true, true);

#[test]
fn early_data_is_rejected_while_the_policy_says_so_and_no_longer() {
    use TicketPolicy::{EarlyData, RejectEarlyData};
    // Tickets at once, some minutes old and some hours old: after any time the policy in force
    // decides, and not the one under which a ticket was issued.
    for age_s in [0, 120, 3_600, 7_200] {
        let ends = Ends::new();
        let mut steps = Vec::new();
        for policy in [
            RejectEarlyData,
            RejectEarlyData,
            EarlyData,
            EarlyData,
            RejectEarlyData,
            EarlyData,
        ] {
            steps.push(ends.shake(policy));
            ends.clock.put_forward(age_s);
        }
        let wanted = [FULL, REJECTED, ACCEPTED, ACCEPTED, REJECTED, ACCEPTED];
        assert_eq!(steps, wanted, "tickets {age_s} s old");
    }
}

#[test]
fn a_name_offers_what_is_not_left_out_for_it() {
    let ends = Ends::new();
    let ids = |texts: &[&str]| -> Vec<Vec<u8>> {
        let bytes = texts.iter().map(|text| text.as_bytes().to_vec());
        bytes.collect()
    };
    let policies = &ends.policies;
    for name in ["*.a.test", "own.a.test"] {
        let terms = TicketTerms::new(TicketPolicy::None);
        policies.add_name(name, Arc::clone(&ends.certificate), terms);
    }
    policies.leave_out("*.A.test", ids(&["h2", "h3"]));
    let of_socket = ids(&["h2", "http/1.1", "dot"]);
    for (name, offered) in [
        (Some("x.a.test"), &["http/1.1", "dot"][..]),
        (Some("own.a.test"), &["h2", "http/1.1", "dot"]),
        (None, &["h2", "http/1.1", "dot"]),
    ] {
        assert_eq!(policies.offer(name, &of_socket), ids(offered), "{name:?}");
    }
    // What no client has, instead of nothing, which would mean that any will do.
    assert_eq!(policies.offer(Some("x.a.test"), &ids(&["h3"])), ids(&[""]));
    assert_eq!(policies.offer(Some("x.a.test"), &[]), ids(&[]));
    policies.remove_name("*.a.test");
    assert_eq!(policies.offer(Some("x.a.test"), &of_socket), of_socket);
}
