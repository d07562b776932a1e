//! Why a trial is to be read with care: every flag there is, with its meaning.
//!
//! For: one list that whoever flags a trial and whoever explains flags share. Not for: when a flag
//! is set; that is the judgement of whoever runs trials. A trial's last line holds flags as text,
//! so that a reader opens datasets with flags it does not know.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why the values of a trial should be read with care.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrialFlag {
    /// The load asked no DNS query for its page.
    NoLookupInLoad,
    /// The load asked a DNS query for its page, where its name was to be known beforehand.
    LookupInLoad,
    /// The look-up came over another transport than asked for.
    DnsTransportMismatch,
    /// The look-up's connection was warm where cold was asked for, or the reverse.
    DnsConnectionMismatch,
    /// The look-up's connection had another handshake than asked for.
    DnsHandshakeMismatch,
    /// No two of the stub's queries shared a message, where queries were to be gathered.
    NothingGathered,
    /// Another name than the page's was looked up during the load.
    ForeignName,
    /// The document came over another HTTP version.
    HttpVersionMismatch,
    /// The document came on a connection that was open before the measured load.
    PageConnectionMismatch,
    /// The edge gave no account of a connection that the load used: it is taken for one that was
    /// open before.
    ConnectionRecordMissing,
    /// Connections or queries of the warm-up were still under way when the measured load began.
    ConnectionsLeftOpen,
    /// The load ended well without all of its page: a look-up or connection of a part had failed.
    ResourcesMissing,
    /// The emulated path gave no account of the load.
    PathSummaryMissing,
    /// The emulated path was later than the plan allows.
    LatenessExceeded,
    /// The emulated path itself lost packets.
    DeviceDrops,
    /// The edge ended during the load.
    EdgeEnded,
    /// The stub ended during the load.
    StubEnded,
    /// The gateway ended during the load.
    GatewayEnded,
}
