//! Shape of what a trial over the real network says beside its load, look-ups and pings: the way it was
//! carried out, whom it contacted, and why what is `null` is so. Not for: the lab's trials.

use crate::terms::DnsTransport;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How browser and stub come to their place on the machine's network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LiveWay {
    /// As root: a mount namespace of their own on the machine's network.
    Root,
    /// As an ordinary user whose stub may listen on port 53: a user and a mount namespace.
    UserCapability,
    /// As an ordinary user without that: the browser's network namespace behind slirp4netns.
    Slirp4netns,
    /// Nothing of it: look-ups by our client, and loads over the browsers' own `DoH`.
    DnsOnly,
}

/// One trial over the real network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LiveTrialRecord {
    /// Where it was run from, as the plan has it.
    pub vantage_point: String,
    /// How browser and stub came to their place.
    pub way: LiveWay,
    /// What the way says of itself, one line.
    pub way_note: Option<String>,
    /// URL of the site, without its query.
    pub url: String,
    /// The resolver's name, as the plan has it.
    pub resolver: String,
    /// Transport of the load's and of our client's look-ups.
    pub dns_transport: DnsTransport,
    /// The resolver, as our client was told of it.
    pub resolver_url: String,
    /// Address of the resolver that browser, stub and client were told; `null` where it was not found.
    pub resolver_address: Option<String>,
    /// The machine's own name server, as `/etc/resolv.conf` has it.
    pub system_resolver: Option<String>,
    /// Whom that asks, where it is a forwarder of the machine's own that says so.
    pub system_resolver_forwards_to: Vec<String>,
    /// Whether the machine has a route to IPv6 addresses: without one browsers ask for A alone.
    pub ipv6: bool,
    /// User agent of the page's requests.
    pub user_agent: Option<String>,
    /// Where those who are contacted read who does this.
    pub operator_url: String,
    /// SHA-256 of the further authority (PEM) that was trusted beside the system's own.
    pub authority_sha256: Option<String>,
    /// Names that the load's requests had, whose look-ups are in the trial's queries.
    pub names: Vec<String>,
    /// Servers that answered the load's requests, `HOST=ADDRESS:PORT`.
    pub server_addresses: Vec<String>,
    /// How long the trial waited so that no cap is exceeded.
    pub waited_s: f64,
    /// Why site or resolver are left alone from now on, in the word of the rule, such as `http_429`.
    pub stop_sign: Option<String>,
    /// Why what is `null` is so, one line each, beginning with the column.
    pub unknown: Vec<String>,
    /// One-minute load average at the end of the page load.
    pub load_average_1min: f64,
}
