//! Shapes of a trial's file: what frames it and what the browser saw. Written by the campaign (the
//! Python half) between the records of the programs, and kept here so that every shape has one
//! source.

use crate::gateway::ConnectionSharing;
use crate::terms::{
    BrowserName, BrowserPreset, ConnectionState, DnsTransport, DohMethod, H3Discovery,
    HandshakeMode, HttpVersion, NameResolution, ResolverCache,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a browser reaches the resolver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResolverPath {
    /// The browser's own resolver speaks the transport.
    Native,
    /// The browser asks our stub over Do53; the stub speaks the transport.
    Stub,
    /// The browser asks our gateway over Do53, which speaks the transport, and loads the page
    /// through it: the page's connections are the gateway's.
    Gateway,
}

/// Whether a gateway asks for a page's document before the browser does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PageSpeculation {
    /// It does not.
    Off,
    /// In the flight of the first query for its name.
    Document,
}

/// Whether a stub asks queries that come together in one message, as a client that takes partial responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QueryGathering {
    /// Each leaves at once.
    Off,
    /// Those that come within 5 ms of the first.
    On,
}

/// Whether the answers for a page's names come before the browser asks for them, as if they were pushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnswerPush {
    /// They come when they are asked for.
    Off,
    /// A stub asks for all of the page's names with the document's.
    PageNames,
}

/// Why a page load failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PageFailure {
    /// The load event had not come within the limit: a censored value, at least `limit_ms`.
    PageTimeout,
    /// The name could not be resolved.
    Dns,
    /// No connection to the origin.
    Connect,
    /// TLS or certificate.
    Tls,
    /// The document's status was not 2xx.
    HttpStatus,
    /// The load event came, but not all of the page's requests were answered: `plt_ms` is no load time.
    Incomplete,
    /// The browser or its renderer died.
    BrowserCrash,
    /// The browser stopped answering.
    BrowserHang,
    /// The driver could not carry out the load.
    Driver,
    /// The edge, the stub or the gateway ended during the load, as the trial's flags say;
    /// `failure_detail` is what the browser made of it.
    LabEnded,
    /// Nothing was contacted, as the site or the resolver is to be left alone; `failure_detail` says why.
    LeftAlone,
    /// None of the above; `failure_detail` says what.
    Other,
}

/// What became of a page's look-up that failed, by the edge's records. Browsers give one error for
/// all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DnsFailure {
    /// The name does not exist.
    Nxdomain,
    /// The server failed.
    Servfail,
    /// The server refused.
    Refused,
    /// The query arrived and was not answered.
    Timeout,
    /// No query arrived: the connection or the way to the server failed.
    Transport,
}

/// First line of a trial's file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialRecord {
    /// [`crate::FORMAT_VERSION`] of the writer.
    pub format_version: String,
    /// Identifier within the dataset, e.g. `b003-t017`.
    pub trial_id: String,
    /// Block, from 0.
    pub block: u32,
    /// Position in the block's random order, from 0.
    pub position: u32,
    /// Identifier of the condition: its levels joined, in the order of the factors.
    pub condition: String,
    /// Page's name.
    pub page: String,
    /// Access link's name.
    pub profile: String,
    /// DNS transport of the page load.
    pub dns_transport: DnsTransport,
    /// How the browser reaches it.
    pub resolver_path: ResolverPath,
    /// HTTP version of the page load.
    pub http_version: HttpVersion,
    /// Handshake asked for on the page's connection.
    pub requested_handshake_mode: HandshakeMode,
    /// Browser that loads the page.
    #[serde(default = "chromium")]
    pub browser: BrowserName,
    /// How the browser comes to speak HTTP/3 to the page's origin.
    #[serde(default = "forced")]
    pub h3_discovery: H3Discovery,
    /// Who asks over Do53.
    #[serde(default = "built_in")]
    pub name_resolution: NameResolution,
    /// How the browser's own `DoH` queries are sent; `null`: as the browser does it by itself.
    #[serde(default)]
    pub doh_method: Option<DohMethod>,
    /// Whether the look-up shall find its connection to the resolver open.
    #[serde(default = "cold")]
    pub dns_connection_state: ConnectionState,
    /// Handshake asked for on the resolver's connection.
    #[serde(default = "full")]
    pub requested_dns_handshake_mode: HandshakeMode,
    /// Which of the plan's identical copies of this condition it is, from 1: an A/A pair has two.
    #[serde(default = "first")]
    pub replicate: u32,
    /// How much longer than the access link's round trip the resolver's is.
    #[serde(default)]
    pub resolver_extra_rtt_ms: f64,
    /// Whether the resolver has the page's names in its cache.
    #[serde(default = "hit")]
    pub resolver_cache: ResolverCache,
    /// Browser settings of a study, in force beside the other factors; `null`: none.
    #[serde(default)]
    pub browser_preset: Option<BrowserPreset>,
    /// Which of a page's connections a gateway shares among its names.
    #[serde(default = "separate")]
    pub connection_sharing: ConnectionSharing,
    /// Whether a gateway asks for the page's document before the browser does.
    #[serde(default = "off")]
    pub speculation: PageSpeculation,
    /// Whether a stub gathers the browser's queries into messages.
    #[serde(default = "each_alone")]
    pub query_gathering: QueryGathering,
    /// Whether a stub has the answers for the page's names before the browser asks.
    #[serde(default = "not_pushed")]
    pub answer_push: AnswerPush,
    /// Share of the page's names that the resolver has not while the page is loaded, drawn name by name.
    #[serde(default)]
    pub resolver_miss_ratio: f64,
    /// The resolver's name, as the plan has it; `lab` is the lab's own.
    #[serde(default = "lab")]
    pub resolver: String,
    /// Where the trial was run from, as the plan has it; `lab` is the lab's client host.
    #[serde(default = "lab")]
    pub vantage_point: String,
    /// `CLOCK_MONOTONIC` at the trial's start.
    pub monotonic_ns: u64,
    /// Wall time at the trial's start, nanoseconds since the Unix epoch.
    pub wall_time_unix_ns: u64,
    /// One-minute load average at the trial's start.
    pub load_average_1min: f64,
}

// What every trial was before there was a choice (format 1.4 and older).
fn chromium() -> BrowserName {
    BrowserName::Chromium
}
fn forced() -> H3Discovery {
    H3Discovery::Forced
}
fn built_in() -> NameResolution {
    NameResolution::BuiltIn
}
fn off() -> PageSpeculation {
    PageSpeculation::Off
}
fn each_alone() -> QueryGathering {
    QueryGathering::Off
}
fn not_pushed() -> AnswerPush {
    AnswerPush::Off
}
fn separate() -> ConnectionSharing {
    ConnectionSharing::Separate
}
fn cold() -> ConnectionState {
    ConnectionState::Cold
}
fn full() -> HandshakeMode {
    HandshakeMode::Full
}
fn first() -> u32 {
    1
}
fn hit() -> ResolverCache {
    ResolverCache::Hit
}
// And before there were live trials (format 1.11 and older).
fn lab() -> String {
    "lab".into()
}

/// Last line of a trial's file: without it the trial did not end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialEndRecord {
    /// As in the first line.
    pub trial_id: String,
    /// `CLOCK_MONOTONIC` at the end.
    pub monotonic_ns: u64,
    /// Why the values should be read with care: words of [`crate::TrialFlag`], or of the one of
    /// another version; empty for a clean trial.
    pub flags: Vec<String>,
    /// Every packet of the trial, relative to the dataset; `null`: not kept.
    #[serde(default)]
    pub capture_file: Option<String>,
    /// TLS secrets of the trial's connections, relative to the dataset; `null`: not kept.
    #[serde(default)]
    pub key_log_file: Option<String>,
    /// Log of the browser process that loaded the page, relative to the dataset: of all its trials;
    /// `null`: not kept.
    #[serde(default)]
    pub netlog_file: Option<String>,
}

/// One page load. Instants ending in `_ms` are milliseconds since navigationStart as the browser
/// gives them (W3C Navigation Timing, Paint Timing, Largest Contentful Paint).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PageLoadRecord {
    /// Document's URL.
    pub url: String,
    /// Browser's name, e.g. `chromium`.
    pub browser: String,
    /// Browser's version.
    pub browser_version: String,
    /// `false` for the load that only primes caches and tickets.
    pub measured: bool,
    /// Handshake asked for on the page's connection.
    pub requested_handshake_mode: HandshakeMode,
    /// Handshake that happened for the document's request, as the edge saw it; `null` when no
    /// request arrived.
    pub handshake_mode: Option<HandshakeMode>,
    /// Protocol of the document as the browser names it (ALPN id), e.g. `h3`.
    pub next_hop_protocol: Option<String>,
    /// navigationStart, milliseconds since the Unix epoch.
    pub navigation_start_unix_ms: Option<f64>,
    /// W3C fetchStart.
    pub fetch_start_ms: Option<f64>,
    /// W3C domainLookupStart.
    pub domain_lookup_start_ms: Option<f64>,
    /// W3C domainLookupEnd.
    pub domain_lookup_end_ms: Option<f64>,
    /// W3C connectStart.
    pub connect_start_ms: Option<f64>,
    /// W3C connectEnd, secure handshake included.
    pub connect_end_ms: Option<f64>,
    /// W3C requestStart.
    pub request_start_ms: Option<f64>,
    /// W3C responseStart: the document's first byte.
    pub response_start_ms: Option<f64>,
    /// W3C responseEnd.
    pub response_end_ms: Option<f64>,
    /// W3C domInteractive.
    pub dom_interactive_ms: Option<f64>,
    /// W3C domContentLoadedEventStart.
    pub dom_content_loaded_ms: Option<f64>,
    /// W3C loadEventStart minus navigationStart, look-up inside: the page load time.
    pub plt_ms: Option<f64>,
    /// First contentful paint.
    pub fcp_ms: Option<f64>,
    /// Largest contentful paint.
    pub lcp_ms: Option<f64>,
    /// W3C transferSize summed over document and resources.
    pub transfer_size_bytes: Option<u64>,
    /// Requests of the page, the document included.
    pub request_count: Option<u32>,
    /// `null` means success.
    pub failure: Option<PageFailure>,
    /// One line for people.
    pub failure_detail: Option<String>,
    /// The load's time limit.
    pub limit_ms: f64,
    /// Handshake that happened on the connection of the page's look-up, as the edge saw it; `null`
    /// when none was seen or the transport has none.
    #[serde(default)]
    pub dns_handshake_mode: Option<HandshakeMode>,
    /// Whether the page's look-up found its connection open, as the edge saw it.
    #[serde(default)]
    pub dns_connection_state: Option<ConnectionState>,
    /// What became of the look-up when `failure` is `dns`, as the edge saw it.
    #[serde(default)]
    pub dns_failure: Option<DnsFailure>,
    /// Names asked during the load that the page did not need.
    #[serde(default)]
    pub foreign_names: Vec<String>,
    /// End of the last response that came before the load event, the document's included (Resource
    /// Timing's responseEnd).
    #[serde(default)]
    pub last_byte_ms: Option<f64>,
    /// Load time without the look-up plus a separately measured look-up; never to be mixed with
    /// `plt_ms`.
    #[serde(default)]
    pub plt_sum_ms: Option<f64>,
    /// Whether the browser had the page's addresses when the load began; cold means it had not.
    #[serde(default)]
    pub dns_cache_state: Option<ConnectionState>,
    /// Whether the browser had the page's responses when the load began.
    #[serde(default)]
    pub http_cache_state: Option<ConnectionState>,
    /// Whether the browser had connections to the page's origins when the load began.
    #[serde(default)]
    pub socket_state: Option<ConnectionState>,
    /// Whether the browser had session tickets of the page's origins when the load began.
    #[serde(default)]
    pub ticket_state: Option<ConnectionState>,
    /// Errors the page or the browser wrote to the console, one line each.
    #[serde(default)]
    pub console_errors: Vec<String>,
    /// Screenshot of a failed load, relative to the dataset.
    #[serde(default)]
    pub screenshot_file: Option<String>,
}

/// One request of a measured page load (W3C Resource Timing), the document included.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResourceRecord {
    /// URL.
    pub url: String,
    /// `navigation`, `img`, `script`, `css` and so on (W3C initiatorType).
    pub initiator_type: String,
    /// ALPN id as the browser names it.
    pub next_hop_protocol: Option<String>,
    /// W3C startTime.
    pub start_ms: f64,
    /// W3C domainLookupStart.
    pub domain_lookup_start_ms: Option<f64>,
    /// W3C domainLookupEnd.
    pub domain_lookup_end_ms: Option<f64>,
    /// W3C connectStart.
    pub connect_start_ms: Option<f64>,
    /// W3C secureConnectionStart.
    #[serde(default)]
    pub secure_connection_start_ms: Option<f64>,
    /// W3C connectEnd.
    pub connect_end_ms: Option<f64>,
    /// W3C requestStart.
    pub request_start_ms: Option<f64>,
    /// W3C responseStart.
    pub response_start_ms: Option<f64>,
    /// W3C responseEnd.
    pub response_end_ms: Option<f64>,
    /// W3C transferSize.
    pub transfer_size_bytes: Option<u64>,
    /// W3C encodedBodySize.
    pub encoded_body_bytes: Option<u64>,
    /// HTTP status.
    pub status: Option<u16>,
    /// Media type of the answer, as the browser names it.
    #[serde(default)]
    pub content_type: Option<String>,
}
