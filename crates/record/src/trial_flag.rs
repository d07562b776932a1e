//! The flags of trials: every reason for reading a trial with care, with its meaning.
//!
//! For: one list shared by flagging trials and explaining flags. Not for: the conditions for
//! setting a flag; the code running trials decides. A trial's last line has flags as text, so
//! readers can open datasets with unknown flags.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A reason for reading the values of a trial with care.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TrialFlag {
    /// The load sent no DNS query for its page.
    NoLookupInLoad,
    /// The load sent a DNS query for its page, although the name was to be known beforehand.
    LookupInLoad,
    /// The look-up used another transport than requested.
    DnsTransportMismatch,
    /// The look-up's connection was warm instead of cold as requested, or the reverse.
    DnsConnectionMismatch,
    /// The look-up's connection had another handshake than requested.
    DnsHandshakeMismatch,
    /// No two of the stub's queries shared a message, although queries were to be gathered.
    NothingGathered,
    /// The page did not come on the resolver's connection, although that connection was to be
    /// shared.
    ConnectionNotShared,
    /// The load looked up a name other than the page's names.
    ForeignName,
    /// The document used another HTTP version than requested.
    HttpVersionMismatch,
    /// The document came on a connection opened before the measured load.
    PageConnectionMismatch,
    /// The edge has no record of a connection used by the load; the connection counts as opened
    /// before.
    ConnectionRecordMissing,
    /// Connections or queries of the warm-up were still under way at the start of the measured
    /// load.
    ConnectionsLeftOpen,
    /// The load ended well without all of its page: a look-up or connection of a part had failed.
    ResourcesMissing,
    /// The emulated path wrote no summary of the load.
    PathSummaryMissing,
    /// The emulated path was later than allowed by the plan.
    LatenessExceeded,
    /// The emulated path itself lost packets.
    DeviceDrops,
    /// The edge ended during the load.
    EdgeEnded,
    /// The stub ended during the load.
    StubEnded,
    /// The gateway ended during the load.
    GatewayEnded,
    /// The plan's own software of the trial ended by itself during the trial, or between the
    /// trial before with this software and this trial. The next trial starts it again.
    SoftwareEnded,
    /// The plan's own software of the trial gave no good answer for some of the names before the
    /// trial, so its cache may lack these names.
    CacheNotWarm,
}
