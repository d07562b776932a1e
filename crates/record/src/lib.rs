//! Names and shapes of everything resolab-core writes out and reads as commands: the seam between
//! the Rust half that moves packets and the Python half that runs experiments.
//!
//! For: one JSON object per line, each with a `record` (or, for input, a `command`) tag.
//! Not for: I/O, clocks or logic. JSON Schemas for Python are generated from these types
//! (`resolab-core schema`), so a shape is written down exactly once.
//!
//! Conventions: units stand in the names; instants called `*_ns` inside a record with a
//! `time_origin_ns` are nanoseconds since that origin; `time_origin_ns` and `monotonic_ns` are
//! `CLOCK_MONOTONIC` nanoseconds, shared by every process of one machine; what did not happen is
//! `null`, never 0.

mod calibration;
mod command;
mod edge;
mod edge_control;
mod edge_names;
mod failure;
mod fetch;
mod fetch_names;
mod gateway;
mod hello;
mod internet;
mod live;
mod load;
mod path;
mod ping;
mod process;
mod profile;
mod query;
mod questions;
mod rcode;
mod relay;
mod terms;
mod trial;
mod trial_flag;

pub use calibration::{
    BulkTransferRecord, CalibrationCheck, CalibrationRecord, LinkDirection, ProbeRecord,
};
pub use command::{EdgeCommand, PathCommand, StubCommand};
pub use edge::{ConnectionRecord, EdgeQueryRecord, EdgeReadyRecord, EdgeRequestRecord};
pub use edge_control::{AddressProof, ConnectionsSummary, RetryMode};
pub use edge_names::{
    DelayDistribution, EdgeSummaryRecord, FailureMode, NameDelay, WireCacheSummary,
};
pub use failure::Failure;
pub use fetch::{
    CoalescingMode, CoverageSource, FetchConnection, FetchRecord, SharedBecause, Speculation,
};
pub use fetch_names::{AnnouncedName, FetchNamesRecord, NameAnnouncement};
pub use gateway::{
    ConnectionReason, ConnectionSharing, DiscardedBecause, GatewayCommand, GatewayConnectionRecord,
    GatewayLegRecord, GatewayReadyRecord, GatewayRequestRecord, GatewaySpeculationRecord,
    GatewayTrigger,
};
pub use hello::{HelloFacts, KeyExchangeGroup};
pub use internet::{
    InternetCommand, InternetConfig, InternetFlow, InternetFlowsRecord, InternetHost,
    InternetNetwork, InternetReadyRecord,
};
pub use live::{LiveTrialRecord, LiveWay};
pub use load::{HelloCount, LoadPace, LoadProgressRecord, LoadRecord, TimeDistribution};
pub use path::{
    DirectionSummary, FlowRecord, PathBackend, PathReadyRecord, PathSummaryRecord,
    ProfileChangedRecord,
};
pub use ping::{PassedOver, PingFailure, PingMethod, PingRecord};
pub use process::{CommandDoneRecord, StartRecord};
pub use profile::{
    CrossTraffic, CrossTrafficModel, DirectionProfile, FarNetwork, GilbertElliott, Jitter,
    JitterDistribution, LinkProfile, PolicerSettings, QueueDiscipline, ScheduledChange,
};
pub use query::{
    Bootstrap, CacheState, ConnectionEnd, ConnectionFacts, CookieState, ForwardedFor, MessageFacts,
    QueryPurpose, QueryRecord, RetryPolicy, StubReadyRecord,
};
pub use questions::{QuestionsHandling, QuestionsProbeRecord};
pub use rcode::{RCODE_NAMES, rcode_text};
pub use relay::RelayReadyRecord;
pub use terms::{
    BrowserName, BrowserPreset, ConnectionState, DnsTransport, DohMethod, H3Discovery,
    HandshakeMode, HttpVersion, NameResolution, ResolverCache, TicketPolicy,
};
pub use trial::{
    AnswerPush, DnsFailure, PageFailure, PageLoadRecord, PageSpeculation, QueryGathering,
    ResolverPath, ResourceRecord, TrialEndRecord, TrialRecord,
};
pub use trial_flag::TrialFlag;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Version of the record format: the minor number grows with additions a reader may ignore, the
/// major number with changes a reader must know.
pub const FORMAT_VERSION: &str = "1.21";

/// One line of output of any resolab-core command, or of a trial's file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "record", rename_all = "snake_case")]
pub enum Record {
    /// First line of every stream.
    Start(StartRecord),
    /// A command read from standard input was carried out, or was not.
    CommandDone(CommandDoneRecord),
    /// The emulated path stands.
    PathReady(Box<PathReadyRecord>),
    /// The link's profile was replaced while the path stood.
    ProfileChanged(Box<ProfileChangedRecord>),
    /// What the link did since the last summary.
    PathSummary(Box<PathSummaryRecord>),
    /// Wire totals of one flow since the last summary.
    Flow(Box<FlowRecord>),
    /// An internet of many hosts stands.
    InternetReady(Box<InternetReadyRecord>),
    /// What passed an internet's exchange since the last count.
    InternetFlows(Box<InternetFlowsRecord>),
    /// A train of packets went through the link.
    Probe(Box<ProbeRecord>),
    /// A TCP transfer went through the link.
    BulkTransfer(BulkTransferRecord),
    /// A profile was measured through the path.
    Calibration(Box<CalibrationRecord>),
    /// The edge is listening.
    EdgeReady(EdgeReadyRecord),
    /// A connection to the edge ended.
    Connection(Box<ConnectionRecord>),
    /// The edge answered (or deliberately did not answer) one DNS query.
    EdgeQuery(EdgeQueryRecord),
    /// The edge answered one HTTP request for a page's resource.
    EdgeRequest(EdgeRequestRecord),
    /// What the edge did so far.
    EdgeSummary(Box<EdgeSummaryRecord>),
    /// The stub is listening.
    StubReady(StubReadyRecord),
    /// One DNS query by our client or stub, whatever became of it.
    Query(Box<QueryRecord>),
    /// How a resolver treated a message with no question or several.
    QuestionsProbe(Box<QuestionsProbeRecord>),
    /// A relay stands.
    RelayReady(RelayReadyRecord),
    /// A host's round trips.
    Ping(PingRecord),
    /// A name and a page fetched together, whatever became of them.
    Fetch(Box<FetchRecord>),
    /// A document and the addresses of the names it needs, whatever became of them.
    FetchNames(Box<FetchNamesRecord>),
    /// A gateway is listening.
    GatewayReady(Box<GatewayReadyRecord>),
    /// A browser's connection to a gateway ended.
    GatewayLeg(Box<GatewayLegRecord>),
    /// A gateway's connection upstream was let go.
    GatewayConnection(Box<GatewayConnectionRecord>),
    /// A request passed a gateway, whatever became of it.
    GatewayRequest(Box<GatewayRequestRecord>),
    /// A gateway was to ask for a document before its name was known.
    GatewaySpeculation(Box<GatewaySpeculationRecord>),
    /// What a load run did since the last such line.
    LoadProgress(LoadProgressRecord),
    /// What a load run did.
    Load(Box<LoadRecord>),
    /// First line of a trial's file.
    Trial(Box<TrialRecord>),
    /// One page load, whatever became of it.
    PageLoad(Box<PageLoadRecord>),
    /// One request of a page load.
    Resource(Box<ResourceRecord>),
    /// How a trial over the real network was carried out.
    LiveTrial(Box<LiveTrialRecord>),
    /// Last line of a trial's file.
    TrialEnd(TrialEndRecord),
}
