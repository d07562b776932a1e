//! Shapes of a trial's file: what frames it and what the browser saw. Written by the campaign (the
//! Python half) between the records of the programs, and kept here so that every shape has one
//! source.

use crate::{DnsTransport, HandshakeMode, HttpVersion};
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
    /// The browser or its renderer died.
    BrowserCrash,
    /// The browser stopped answering.
    BrowserHang,
    /// The driver could not carry out the load.
    Driver,
    /// None of the above; `failure_detail` says what.
    Other,
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
    /// `CLOCK_MONOTONIC` at the trial's start.
    pub monotonic_ns: u64,
    /// Wall time at the trial's start, nanoseconds since the Unix epoch.
    pub wall_time_unix_ns: u64,
    /// One-minute load average at the trial's start.
    pub load_average_1min: f64,
}

/// Last line of a trial's file: without it the trial did not end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialEndRecord {
    /// As in the first line.
    pub trial_id: String,
    /// `CLOCK_MONOTONIC` at the end.
    pub monotonic_ns: u64,
    /// Why the values should be read with care, e.g. `lateness_exceeded`; empty for a clean trial.
    pub flags: Vec<String>,
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
}
