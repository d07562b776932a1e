//! Facts of a trial over the real network beside its load, look-ups and pings: the network access,
//! the contacted hosts, and the reasons for null values. Not for: the lab's trials.

use crate::terms::DnsTransport;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The access of browser and stub to the machine's network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LiveWay {
    /// As root: a separate mount namespace on the machine's network.
    Root,
    /// As an ordinary user with permission for the stub to listen on port 53: a user and a mount
    /// namespace.
    UserCapability,
    /// As an ordinary user without this permission: the browser's network namespace behind
    /// slirp4netns.
    Slirp4netns,
    /// No namespace: look-ups by our client, and loads over the browsers' own `DoH`.
    DnsOnly,
}

/// One trial over the real network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LiveTrialRecord {
    /// Vantage point of the trial, as named in the plan.
    pub vantage_point: String,
    /// Access of browser and stub to the machine's network.
    pub way: LiveWay,
    /// Note on this access, in one line; `null` without a note.
    pub way_note: Option<String>,
    /// URL of the site, without its query.
    pub url: String,
    /// Name of the resolver, as in the plan.
    pub resolver: String,
    /// DNS transport of the look-ups by the load and by our client.
    pub dns_transport: DnsTransport,
    /// The resolver as given to our client, a URL.
    pub resolver_url: String,
    /// Address of the resolver given to browser, stub and client; `null` when no address was found.
    pub resolver_address: Option<String>,
    /// The machine's own name server, from `/etc/resolv.conf`; `null` when unknown.
    pub system_resolver: Option<String>,
    /// Resolvers asked by the machine's own name server, if the name server is a local forwarder
    /// reporting its resolvers.
    pub system_resolver_forwards_to: Vec<String>,
    /// True when the machine has a route to IPv6 addresses. Without a route browsers ask for A
    /// alone.
    pub ipv6: bool,
    /// User agent of the page's requests; `null` when unknown.
    pub user_agent: Option<String>,
    /// URL of a page about the operator, for the contacted hosts.
    pub operator_url: String,
    /// SHA-256 of a further authority (PEM) trusted beside the system's authorities; `null` without
    /// a further authority.
    pub authority_sha256: Option<String>,
    /// Names of the load's requests; the trial's queries have their look-ups.
    pub names: Vec<String>,
    /// Servers with answers to the load's requests, `HOST=ADDRESS:PORT`.
    pub server_addresses: Vec<String>,
    /// Waiting time of the trial to stay below every cap, in s.
    pub waited_s: f64,
    /// Reason for leaving the site or resolver alone from now on, by the rule's word, e.g.
    /// `http_429`; `null` without a reason.
    pub stop_sign: Option<String>,
    /// Reasons for null values, one line each, beginning with the column.
    pub unknown: Vec<String>,
    /// One-minute load average at the end of the page load.
    pub load_average_1min: f64,
}
