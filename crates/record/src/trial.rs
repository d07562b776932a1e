//! Shapes of a trial's file: its first and last line, and the browser's view. The campaign (the
//! Python half) writes these records between the records of the programs. The shapes are kept here
//! because every shape has a single source.

use crate::gateway::ConnectionSharing;
use crate::terms::{
    BrowserKind, BrowserPreset, ConnectionState, DnsTransport, DohMethod, H3Discovery,
    HandshakeMode, HttpVersion, NameResolution, ResolverCache,
};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The browser's path to the resolver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ResolverPath {
    /// The browser's own resolver uses the transport.
    Native,
    /// The browser asks our stub over Do53; the stub uses the transport.
    Stub,
    /// The browser asks our gateway over Do53; the gateway uses the transport. The browser loads
    /// the page through the gateway: the page's connections are the gateway's.
    Gateway,
}

/// A gateway's request for a page's document before the browser's own request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PageSpeculation {
    /// The gateway does not ask before the browser.
    Off,
    /// The gateway asks in the flight of the first query for the document's name.
    Document,
}

/// A stub's gathering of simultaneous queries into one message, as a client taking partial
/// responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum QueryGathering {
    /// Each query leaves at once.
    Off,
    /// Queries within 5 ms of the first query leave in one message.
    On,
}

/// Answers for a page's names before the browser asks, as if pushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AnswerPush {
    /// The answers come after the browser's queries.
    Off,
    /// A stub asks for all of the page's names together with the document's name.
    PageNames,
}

/// The reason for a failed page load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PageFailure {
    /// The load event had not come within the limit: a censored value, at least `limit_ms`.
    PageTimeout,
    /// The name could not be resolved.
    Dns,
    /// No connection to the origin was possible.
    Connect,
    /// The TLS handshake or the certificate check failed.
    Tls,
    /// The document's status was not 2xx.
    HttpStatus,
    /// The load event came, but not all of the page's requests were answered: `plt_ms` is no load
    /// time.
    Incomplete,
    /// The browser or its renderer died.
    BrowserCrash,
    /// The browser stopped answering.
    BrowserHang,
    /// The driver could not carry out the load.
    Driver,
    /// The edge, the stub or the gateway ended during the load, as named by the trial's flags.
    /// `failure_detail` is the browser's own error.
    LabEnded,
    /// No server was contacted, because the site or the resolver is to be left alone.
    /// `failure_detail` gives the reason.
    LeftAlone,
    /// Another reason, given in `failure_detail`.
    Other,
}

/// The reason for a failed look-up of a page, by the edge's records. Browsers report the same error
/// for all reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DnsFailure {
    /// The name does not exist (NXDOMAIN).
    Nxdomain,
    /// The server failed to answer (SERVFAIL).
    Servfail,
    /// The server refused to answer (REFUSED).
    Refused,
    /// The query arrived and was not answered.
    Timeout,
    /// No query arrived: the connection or the path to the server failed.
    Transport,
}

/// The measured part of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TrialKind {
    /// A browser loads a page; the client also makes a cold exchange over each transport.
    PageLoad,
    /// The client queries the resolver; no browser takes part.
    Exchange,
    /// The client looks up a page's name and fetches the page's document; no browser takes part.
    Fetch,
    /// The client does the work of a study; no browser takes part.
    Study,
}

/// The messages of queries sent at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum QuestionPacking {
    /// One question in each message.
    Separate,
    /// All questions in one message, with partial responses.
    OneMessage,
}

/// The first line of a trial's file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TrialRecord {
    /// Format version of the writer ([`crate::FORMAT_VERSION`]).
    pub format_version: String,
    /// Identifier within the dataset, e.g. `b003-t017`.
    pub trial_id: String,
    /// Number of the block, from 0.
    pub block: u32,
    /// Position in the block's random order, from 0.
    pub position: u32,
    /// Identifier of the condition: its levels joined, in the order of the factors.
    pub condition: String,
    /// Kind of the trial. Factors outside the kind's own factors are `null` or have their default.
    #[serde(default = "page_load")]
    pub kind: TrialKind,
    /// Name of the page; in an exchange, the page with the queried names.
    pub page: String,
    /// Name of the access link's profile.
    pub profile: String,
    /// DNS transport of the page load or the exchange.
    pub dns_transport: DnsTransport,
    /// Path of the browser to the resolver; `null` without a browser.
    #[serde(default)]
    pub resolver_path: Option<ResolverPath>,
    /// HTTP version of the page load; `null` without a page load.
    #[serde(default)]
    pub http_version: Option<HttpVersion>,
    /// Handshake requested for the page's connection; `null` without a page load.
    #[serde(default)]
    pub requested_handshake_mode: Option<HandshakeMode>,
    /// Name of the browser of the page load: `chromium`, `firefox`, or a build named by the plan;
    /// `null` without a page load.
    #[serde(default = "chromium")]
    pub browser: Option<String>,
    /// Kind of a build named by the plan; `null` for `chromium` and `firefox`, where the name says
    /// the kind.
    #[serde(default)]
    pub browser_kind: Option<BrowserKind>,
    /// Reason for the browser's use of HTTP/3 to the page's origin.
    #[serde(default = "forced")]
    pub h3_discovery: H3Discovery,
    /// Resolver used by the browser for Do53.
    #[serde(default = "built_in")]
    pub name_resolution: NameResolution,
    /// Method of the browser's own `DoH` queries; `null` means the browser's default.
    #[serde(default)]
    pub doh_method: Option<DohMethod>,
    /// Requested state of the resolver's connection at the look-up.
    #[serde(default = "cold")]
    pub dns_connection_state: ConnectionState,
    /// Handshake requested for the resolver's connection.
    #[serde(default = "full")]
    pub requested_dns_handshake_mode: HandshakeMode,
    /// Number of this copy among the plan's identical copies of the condition, from 1; an A/A pair
    /// has two copies.
    #[serde(default = "first")]
    pub replicate: u32,
    /// Round trip time to the resolver beyond the access link's, in ms.
    #[serde(default)]
    pub resolver_extra_rtt_ms: f64,
    /// Presence of the page's names in the resolver's cache.
    #[serde(default = "hit")]
    pub resolver_cache: ResolverCache,
    /// Browser settings of a study, in force beside the other factors; `null` means no preset.
    #[serde(default)]
    pub browser_preset: Option<BrowserPreset>,
    /// Rule of a gateway for sharing connections among a page's names.
    #[serde(default = "separate")]
    pub connection_sharing: ConnectionSharing,
    /// Request of a gateway for the page's document before the browser's own request.
    #[serde(default = "off")]
    pub speculation: PageSpeculation,
    /// Gathering of the browser's queries into messages by a stub.
    #[serde(default = "each_alone")]
    pub query_gathering: QueryGathering,
    /// Answers for the page's names at a stub before the browser asks.
    #[serde(default = "not_pushed")]
    pub answer_push: AnswerPush,
    /// Share of the page's names missing from the resolver's cache during the load, 0 to 1, drawn
    /// name by name.
    #[serde(default)]
    pub resolver_miss_ratio: f64,
    /// Pause between the last query of the warm-up and the measured query over the same connection,
    /// in ms.
    #[serde(default)]
    pub idle_gap_ms: u32,
    /// Number of names queried at the same time in an exchange.
    #[serde(default = "one_name")]
    pub names_count: u32,
    /// Messages of the queries for these names.
    #[serde(default = "one_question_each")]
    pub question_packing: QuestionPacking,
    /// Name of the study, in trials of a study; `null` in other trials.
    #[serde(default)]
    pub study: Option<String>,
    /// Arm of the study, as declared by the study; `null` in other trials.
    #[serde(default)]
    pub study_arm: Option<String>,
    /// Circumstances of the study's arms, as declared by the study; `null` without a choice.
    #[serde(default)]
    pub study_case: Option<String>,
    /// Name of the resolver in the plan; `lab` is the lab's own resolver.
    #[serde(default = "lab")]
    pub resolver: String,
    /// Name of the resolver's software in the plan (`[software.NAME]`); `edge` is the lab's own.
    #[serde(default = "edge")]
    pub resolver_software: String,
    /// Vantage point of the trial, as named in the plan; `lab` is the lab's client host.
    #[serde(default = "lab")]
    pub vantage_point: String,
    /// Start of the trial, `CLOCK_MONOTONIC` in ns.
    pub monotonic_ns: u64,
    /// Wall time at the trial's start, in ns since the Unix epoch.
    pub wall_time_unix_ns: u64,
    /// One-minute load average at the trial's start.
    pub load_average_1min: f64,
}

// What every trial was before there was a choice (format 1.4 and older).
#[expect(clippy::unnecessary_wraps, reason = "the default of an optional field")]
fn chromium() -> Option<String> {
    Some("chromium".into())
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
// And before there was a choice of kinds (format 1.21 and older).
fn page_load() -> TrialKind {
    TrialKind::PageLoad
}
fn one_name() -> u32 {
    1
}
fn one_question_each() -> QuestionPacking {
    QuestionPacking::Separate
}
// And before there were live trials (format 1.11 and older).
fn lab() -> String {
    "lab".into()
}
// And before there was other software (format 1.24 and older).
fn edge() -> String {
    "edge".into()
}

/// The last line of a trial's file. A file without this line is of an unfinished trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TrialEndRecord {
    /// Identifier of the trial, as in the first line.
    pub trial_id: String,
    /// End of the trial, `CLOCK_MONOTONIC` in ns.
    pub monotonic_ns: u64,
    /// Reasons for reading the values with care: words of [`crate::TrialFlag`], of this or another
    /// version. The list is empty for a clean trial.
    pub flags: Vec<String>,
    /// File with every packet of the trial, relative to the dataset; `null` when not kept.
    #[serde(default)]
    pub capture_file: Option<String>,
    /// File with the TLS secrets of the trial's connections, relative to the dataset; `null` when
    /// not kept.
    #[serde(default)]
    pub key_log_file: Option<String>,
    /// Log of the browser process of the page load, relative to the dataset. The log covers all
    /// trials of this process. `null` when not kept.
    #[serde(default)]
    pub netlog_file: Option<String>,
}

/// One page load. Instants ending in `_ms` are milliseconds since navigationStart as given by the
/// browser (W3C Navigation Timing, Paint Timing, Largest Contentful Paint).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PageLoadRecord {
    /// URL of the document.
    pub url: String,
    /// Name of the browser, e.g. `chromium`, or of a build named by the plan.
    pub browser: String,
    /// Kind of a build named by the plan; `null` for `chromium` and `firefox`.
    #[serde(default)]
    pub browser_kind: Option<BrowserKind>,
    /// Version of the browser, as text.
    pub browser_version: String,
    /// False for a load only priming caches and tickets.
    pub measured: bool,
    /// Handshake requested for the page's connection.
    pub requested_handshake_mode: HandshakeMode,
    /// Actual handshake of the document's request, as seen by the edge; `null` when no request
    /// arrived.
    pub handshake_mode: Option<HandshakeMode>,
    /// Protocol of the document as named by the browser (ALPN id), e.g. `h3`; `null` when the
    /// browser gave no value.
    pub next_hop_protocol: Option<String>,
    /// Start of the navigation (W3C navigationStart), in ms since the Unix epoch; `null` when the
    /// browser gave no value.
    pub navigation_start_unix_ms: Option<f64>,
    /// W3C fetchStart, in ms; `null` when the browser gave no value.
    pub fetch_start_ms: Option<f64>,
    /// W3C domainLookupStart, in ms; `null` when the browser gave no value.
    pub domain_lookup_start_ms: Option<f64>,
    /// W3C domainLookupEnd, in ms; `null` when the browser gave no value.
    pub domain_lookup_end_ms: Option<f64>,
    /// W3C connectStart, in ms; `null` when the browser gave no value.
    pub connect_start_ms: Option<f64>,
    /// W3C connectEnd, in ms, secure handshake included; `null` when the browser gave no value.
    pub connect_end_ms: Option<f64>,
    /// W3C requestStart, in ms; `null` when the browser gave no value.
    pub request_start_ms: Option<f64>,
    /// W3C responseStart, in ms: the document's first byte; `null` when the browser gave no value.
    pub response_start_ms: Option<f64>,
    /// W3C responseEnd, in ms; `null` when the browser gave no value.
    pub response_end_ms: Option<f64>,
    /// W3C domInteractive, in ms; `null` when the browser gave no value.
    pub dom_interactive_ms: Option<f64>,
    /// W3C domContentLoadedEventStart, in ms; `null` when the browser gave no value.
    pub dom_content_loaded_ms: Option<f64>,
    /// Page load time, in ms: W3C loadEventStart minus navigationStart, look-up inside; `null`
    /// without a load event.
    pub plt_ms: Option<f64>,
    /// First contentful paint, in ms; `null` when the browser gave no value.
    pub fcp_ms: Option<f64>,
    /// Largest contentful paint, in ms; `null` when the browser gave no value.
    pub lcp_ms: Option<f64>,
    /// W3C transferSize summed over document and resources, in bytes; `null` when the browser gave
    /// no value.
    pub transfer_size_bytes: Option<u64>,
    /// Number of requests of the page, the document included; `null` when the browser gave no
    /// value.
    pub request_count: Option<u32>,
    /// Reason for the failure; `null` means success.
    pub failure: Option<PageFailure>,
    /// The failure in one line for people; `null` on success.
    pub failure_detail: Option<String>,
    /// Time limit of the load, in ms.
    pub limit_ms: f64,
    /// Actual handshake of the connection for the page's look-up, as seen by the edge. `null` when
    /// no handshake was seen, or the transport has no handshake.
    #[serde(default)]
    pub dns_handshake_mode: Option<HandshakeMode>,
    /// State of the connection for the page's look-up, as seen by the edge: warm means already
    /// open. `null` without a look-up or without a connection.
    #[serde(default)]
    pub dns_connection_state: Option<ConnectionState>,
    /// Reason for the failed look-up, as seen by the edge, when `failure` is `dns`; `null`
    /// otherwise.
    #[serde(default)]
    pub dns_failure: Option<DnsFailure>,
    /// Names queried during the load but not needed by the page.
    #[serde(default)]
    pub foreign_names: Vec<String>,
    /// End of the last response before the load event, in ms, the document's included (Resource
    /// Timing's responseEnd); `null` without a load event.
    #[serde(default)]
    pub last_byte_ms: Option<f64>,
    /// Load time without the look-up, plus a separately measured look-up, in ms. `null` when either
    /// is missing. Never mix this time with `plt_ms`.
    #[serde(default)]
    pub plt_sum_ms: Option<f64>,
    /// State of the browser's DNS cache at the start of the load: cold means without the page's
    /// addresses. `null` when unknown.
    #[serde(default)]
    pub dns_cache_state: Option<ConnectionState>,
    /// State of the browser's HTTP cache at the start of the load: warm means with responses of the
    /// page. `null` when unknown.
    #[serde(default)]
    pub http_cache_state: Option<ConnectionState>,
    /// State of the browser's connections to the page's origins at the start of the load: warm
    /// means open. `null` when unknown.
    #[serde(default)]
    pub socket_state: Option<ConnectionState>,
    /// State of the browser's session tickets for the page's origins at the start of the load: warm
    /// means present. `null` when unknown.
    #[serde(default)]
    pub ticket_state: Option<ConnectionState>,
    /// Errors written to the console by the page or the browser, one line each.
    #[serde(default)]
    pub console_errors: Vec<String>,
    /// Screenshot of a failed load, relative to the dataset; `null` without a screenshot.
    #[serde(default)]
    pub screenshot_file: Option<String>,
}

/// One request of a measured page load (W3C Resource Timing), the document included. Instants
/// ending in `_ms` are milliseconds since navigationStart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ResourceRecord {
    /// URL of the request.
    pub url: String,
    /// W3C initiatorType: `navigation`, `img`, `script`, `css` and others.
    pub initiator_type: String,
    /// Protocol as named by the browser (ALPN id); `null` when the browser gave no value.
    pub next_hop_protocol: Option<String>,
    /// W3C startTime, in ms.
    pub start_ms: f64,
    /// W3C domainLookupStart, in ms; `null` when the browser gave no value.
    pub domain_lookup_start_ms: Option<f64>,
    /// W3C domainLookupEnd, in ms; `null` when the browser gave no value.
    pub domain_lookup_end_ms: Option<f64>,
    /// W3C connectStart, in ms; `null` when the browser gave no value.
    pub connect_start_ms: Option<f64>,
    /// W3C secureConnectionStart, in ms; `null` when the browser gave no value.
    #[serde(default)]
    pub secure_connection_start_ms: Option<f64>,
    /// W3C connectEnd, in ms; `null` when the browser gave no value.
    pub connect_end_ms: Option<f64>,
    /// W3C requestStart, in ms; `null` when the browser gave no value.
    pub request_start_ms: Option<f64>,
    /// W3C responseStart, in ms; `null` when the browser gave no value.
    pub response_start_ms: Option<f64>,
    /// W3C responseEnd, in ms; `null` when the browser gave no value.
    pub response_end_ms: Option<f64>,
    /// W3C transferSize, in bytes; `null` when the browser gave no value.
    pub transfer_size_bytes: Option<u64>,
    /// W3C encodedBodySize, in bytes; `null` when the browser gave no value.
    pub encoded_body_bytes: Option<u64>,
    /// HTTP status of the response; `null` when the browser gave no value.
    pub status: Option<u16>,
    /// Media type of the response, as named by the browser; `null` when the browser gave no value.
    #[serde(default)]
    pub content_type: Option<String>,
}
