//! resolab's own DNS client of a lab's edge, and names that are delayed or fail.

use super::{Lab, RESOLVER};
use resolab_dns::bootstrap::GivenAddresses;
use resolab_dns::{ClientOptions, DnsClient};
use std::net::SocketAddr;
use std::time::Duration;

/// Tables of a configuration.
pub const NAMES: &str = r#"
[[zone]]
name = "*.resolab.test"
type = "A"
value = "10.0.0.1"
[[name]]
name = "slow.resolab.test"
delay_ms = 300
[[name]]
name = "*.drawn.resolab.test"
delay = { distribution = "uniform", min_ms = 1, max_ms = 3, seed = 7 }
[[name]]
name = "nxdomain.resolab.test"
failure = "nxdomain"
[[name]]
name = "servfail.resolab.test"
failure = "servfail"
[[name]]
name = "refused.resolab.test"
failure = "refused"
[[name]]
name = "truncated.resolab.test"
failure = "truncated"
[[name]]
name = "drop.resolab.test"
failure = "drop"
"#;
/// Of `slow.resolab.test`.
pub const DELAY: Duration = Duration::from_millis(300);

/// Where the edge takes queries over a transport.
pub fn server(lab: &Lab, scheme: &str) -> SocketAddr {
    match scheme {
        "udp" | "tcp" => (lab.resolver, 8053).into(),
        "tls" => lab.dot(),
        "quic" => lab.doq(),
        _ => lab.doh(),
    }
}

/// A client over a transport, of the edge or of what stands before it.
pub fn client(lab: &Lab, scheme: &str, at: SocketAddr, options: ClientOptions) -> DnsClient {
    let url = match scheme {
        "udp" | "tcp" => format!("{scheme}://{at}"),
        "https" | "h3" => format!("{scheme}://{RESOLVER}:{}/dns-query", at.port()),
        _ => format!("{scheme}://{RESOLVER}:{}", at.port()),
    };
    let resolver = url.parse().unwrap();
    let given = GivenAddresses::parse(&[format!("{RESOLVER}={}", at.ip())]).unwrap();
    let options = ClientOptions {
        ca_file: Some(lab.edge.ready_record().ca_file.clone().into()),
        ..options
    };
    let located = given.locate(&resolver).unwrap();
    DnsClient::new(resolver, located, &options).unwrap()
}
