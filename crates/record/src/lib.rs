//! Names and shapes of resolab-core's output records and input commands: the interface between the
//! Rust half (moving packets) and the Python half (running experiments).
//!
//! For: one JSON object per line, each with a `record` (or, for input, a `command`) tag. Not for:
//! I/O, clocks or logic. JSON Schemas for Python are generated from these types (`resolab-core
//! schema`). Every shape is therefore written down exactly once.
//!
//! Conventions: units are in the names. Instants `*_ns` of a record with a `time_origin_ns` are
//! nanoseconds since this origin. `time_origin_ns` and `monotonic_ns` are `CLOCK_MONOTONIC`
//! nanoseconds, shared by all processes of a machine. `null` means: did not happen; never 0.

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
mod software;
mod study;
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
pub use software::SoftwareRecord;
pub use study::StudyValueRecord;
pub use terms::{
    BrowserKind, BrowserPreset, ConnectionState, DnsTransport, DohMethod, H3Discovery,
    HandshakeMode, HttpVersion, NameResolution, ResolverCache, TicketPolicy,
};
pub use trial::{
    AnswerPush, DnsFailure, PageFailure, PageLoadRecord, PageSpeculation, QueryGathering,
    QuestionPacking, ResolverPath, ResourceRecord, TrialEndRecord, TrialKind, TrialRecord,
};
pub use trial_flag::TrialFlag;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Version of the record format. The minor number grows with additions safe to ignore by a reader,
/// the major number with all other changes.
pub const FORMAT_VERSION: &str = "1.25";

/// One line of output of any resolab-core command, or of a trial's file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "record", rename_all = "snake_case")]
pub enum Record {
    /// The first line of every stream.
    Start(StartRecord),
    /// The outcome of a command read from standard input.
    CommandDone(CommandDoneRecord),
    /// The emulated path is ready.
    PathReady(Box<PathReadyRecord>),
    /// The link's profile was replaced during the path's lifetime.
    ProfileChanged(Box<ProfileChangedRecord>),
    /// The link's counts since the last summary.
    PathSummary(Box<PathSummaryRecord>),
    /// Wire totals of one flow since the last summary.
    Flow(Box<FlowRecord>),
    /// An internet of many hosts is ready.
    InternetReady(Box<InternetReadyRecord>),
    /// The packets passing an internet's exchange since the last count.
    InternetFlows(Box<InternetFlowsRecord>),
    /// A train of packets went through the link.
    Probe(Box<ProbeRecord>),
    /// A TCP transfer went through the link.
    BulkTransfer(BulkTransferRecord),
    /// A profile was measured through the path.
    Calibration(Box<CalibrationRecord>),
    /// The edge is listening on its sockets.
    EdgeReady(EdgeReadyRecord),
    /// A connection to the edge ended.
    Connection(Box<ConnectionRecord>),
    /// The edge answered (or deliberately did not answer) one DNS query.
    EdgeQuery(EdgeQueryRecord),
    /// The edge answered one HTTP request for a page's resource.
    EdgeRequest(EdgeRequestRecord),
    /// The edge's counts since its start.
    EdgeSummary(Box<EdgeSummaryRecord>),
    /// The stub is listening on its sockets.
    StubReady(StubReadyRecord),
    /// One DNS query by our client or stub, successful or not.
    Query(Box<QueryRecord>),
    /// A resolver's handling of a message with no question or several.
    QuestionsProbe(Box<QuestionsProbeRecord>),
    /// A relay is ready.
    RelayReady(RelayReadyRecord),
    /// The round trips of a host.
    Ping(PingRecord),
    /// A name and a page fetched together, successfully or not.
    Fetch(Box<FetchRecord>),
    /// A document and the addresses of its names, successful or not.
    FetchNames(Box<FetchNamesRecord>),
    /// A gateway is listening on its sockets.
    GatewayReady(Box<GatewayReadyRecord>),
    /// A browser's connection to a gateway ended.
    GatewayLeg(Box<GatewayLegRecord>),
    /// A gateway gave an upstream connection up.
    GatewayConnection(Box<GatewayConnectionRecord>),
    /// A request passed a gateway, successfully or not.
    GatewayRequest(Box<GatewayRequestRecord>),
    /// A gateway was to ask for a document before its name was known.
    GatewaySpeculation(Box<GatewaySpeculationRecord>),
    /// The counts of a load run since the last such line.
    LoadProgress(LoadProgressRecord),
    /// The result of a load run.
    Load(Box<LoadRecord>),
    /// The first line of a trial's file.
    Trial(Box<TrialRecord>),
    /// One page load, successful or not.
    PageLoad(Box<PageLoadRecord>),
    /// One request of a page load.
    Resource(Box<ResourceRecord>),
    /// One value of a study's trial.
    StudyValue(Box<StudyValueRecord>),
    /// The circumstances of a trial over the real network.
    LiveTrial(Box<LiveTrialRecord>),
    /// Software of the plan served a trial.
    Software(SoftwareRecord),
    /// The last line of a trial's file.
    TrialEnd(TrialEndRecord),
}
