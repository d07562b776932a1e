//! Commands of the long-running programs, read from standard input, one JSON object per line. A
//! `command_done` record with the same `id` answers each command. The end of standard input ends
//! the program.

use crate::edge_control::RetryMode;
use crate::edge_names::{FailureMode, NameDelay};
use crate::profile::LinkProfile;
use crate::terms::TicketPolicy;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A command to `resolab-core path`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum PathCommand {
    /// Write `path_summary` and `flow` records of the window since the last summary (or the start),
    /// and begin a new window.
    Summary {
        /// Number of the command, returned in `command_done`.
        id: u64,
        /// Label copied into the records; `null` for no label.
        label: Option<String>,
    },
    /// Put another profile in force. Packets under way keep their times.
    SetProfile {
        /// Number of the command, returned in `command_done`.
        id: u64,
        /// The new profile, put in force now.
        profile: Box<LinkProfile>,
        /// Seed of the loss processes from now on; `null` continues the random streams.
        seed: Option<u64>,
        /// True when the profile's schedule waits for `start_schedule`; absent: the schedule starts
        /// now.
        #[serde(default)]
        hold_schedule: bool,
    },
    /// Restore the profile as first in force, and start its schedule now.
    StartSchedule {
        /// Number of the command, returned in `command_done`.
        id: u64,
    },
    /// Write every packet from now on into a pcapng file: once entering the link and once
    /// delivered. The command ends a capture under way.
    StartCapture {
        /// Number of the command, returned in `command_done`.
        id: u64,
        /// File of the capture, created anew.
        file: String,
    },
    /// End the capture. The file is complete when the command is answered.
    StopCapture {
        /// Number of the command, returned in `command_done`.
        id: u64,
    },
}

/// A command to `resolab-core edge`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum EdgeCommand {
    /// Set the ticket policy of a server name from now on.
    SetTicketPolicy {
        /// Number of the command, returned in `command_done`.
        id: u64,
        /// Server name (SNI); `null` means every name.
        name: Option<String>,
        /// Ticket policy from now on.
        policy: TicketPolicy,
    },
    /// Set the lifetime and number of a server name's tickets from now on.
    SetTickets {
        /// Number of the command, returned in `command_done`.
        id: u64,
        /// Server name (SNI); `null` means every name.
        name: Option<String>,
        /// Lifetime of tickets, in s, also of tickets issued before; `null` keeps the lifetime.
        #[serde(default)]
        lifetime_s: Option<u32>,
        /// Number of tickets issued by a handshake; `null` keeps the number.
        #[serde(default)]
        per_handshake_count: Option<u32>,
    },
    /// Set the address validation of QUIC clients by a Retry, from the next Initial on.
    SetAddressValidation {
        /// Number of the command, returned in `command_done`.
        id: u64,
        /// Address of the listeners; `null` means all listeners.
        address: Option<String>,
        /// Rule for sending a Retry.
        retry: RetryMode,
    },
    /// Take or refuse new connections. Open connections stay.
    SetAccepting {
        /// Number of the command, returned in `command_done`.
        id: u64,
        /// True to take new connections; false to refuse them.
        accepting: bool,
        /// Only this server name: handshakes for the name end with an alert. Not together with
        /// `address`.
        #[serde(default)]
        name: Option<String>,
        /// Only listeners on this address: TCP ports and Do53 are closed, QUIC sends
        /// CONNECTION_REFUSED. Without `name` and `address` the command is for every listener.
        #[serde(default)]
        address: Option<String>,
    },
    /// Swallow packets of connections as a dead path does. The connections stay open.
    SetBlackHole {
        /// Number of the command, returned in `command_done`.
        id: u64,
        /// Server name (SNI); the resolver's name includes Do53. `null` means everything; `null`
        /// with `false` ends every black hole.
        name: Option<String>,
        /// True to swallow packets from now on.
        black_hole: bool,
    },
    /// Close connections from the server's side. QUIC uses CONNECTION_CLOSE with H3_NO_ERROR (or
    /// DOQ_NO_ERROR). TLS uses GOAWAY where available, close_notify and FIN.
    CloseConnections {
        /// Number of the command, returned in `command_done` after the kernel has taken the closes.
        id: u64,
        /// Only connections with this server name. `null` without `names` means all connections.
        name: Option<String>,
        /// Only connections with a server name in this list, all chosen at the same instant. Not
        /// together with `name`.
        #[serde(default)]
        names: Option<Vec<String>>,
    },
    /// Write a `connection` record for each open connection, and `command_done` after all pending
    /// records. Records of everything before are then on standard output.
    Flush {
        /// Number of the command, returned in `command_done`.
        id: u64,
    },
    /// Add or replace a site while running. Requests under way are answered by the site's previous
    /// state.
    LoadSite {
        /// Number of the command, returned in `command_done`.
        id: u64,
        /// Host name of the site.
        host: String,
        /// Folder with the site's files; `null` for generated bodies alone.
        folder: Option<String>,
        /// Address of the host; `null` means the first web address of the configuration.
        address: Option<String>,
        /// Other settings of the site, as the keys of `[[site]]` in TOML; `null` means their
        /// defaults.
        settings: Option<String>,
    },
    /// Remove a site and the records of its name. Requests under way are answered.
    RemoveSite {
        /// Number of the command, returned in `command_done`.
        id: u64,
        /// Host name of the site.
        host: String,
    },
    /// Set the names covered by the resolver's certificate beside its own name. The names hold from
    /// the next ClientHello on and replace earlier names. The resolver's connections serve the
    /// sites among the names. Needs `[coalescing]`.
    CoverNames {
        /// Number of the command, returned in `command_done`.
        id: u64,
        /// Names and wildcards. With an empty list, connections for the resolver's name serve no
        /// site.
        names: Vec<String>,
    },
    /// Turn ORIGIN frames on or off from the next connection on, for connections under certificates
    /// with `origin_frame`. The resolver's connections are not affected.
    SetOriginFrames {
        /// Number of the command, returned in `command_done`.
        id: u64,
        /// True to send ORIGIN frames, as at the start of the program.
        telling: bool,
    },
    /// Set the treatment of queries for a name from now on, replacing the previous treatment.
    /// Without delay and failure, queries are answered as usual.
    SetNameBehaviour {
        /// Number of the command, returned in `command_done`.
        id: u64,
        /// The name, or a wildcard for all names below a name.
        name: String,
        /// Constant extra delay, in ms; not together with `delay`.
        #[serde(default)]
        delay_ms: Option<f64>,
        /// Extra delay drawn anew for each query.
        #[serde(default)]
        delay: Option<NameDelay>,
        /// Deliberate failure of the queries.
        #[serde(default)]
        failure: Option<FailureMode>,
    },
    /// Write an `edge_summary` record.
    Summary {
        /// Number of the command, returned in `command_done`.
        id: u64,
        /// Label copied into the record; `null` for no label.
        label: Option<String>,
    },
}

/// A command to `resolab-core stub`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum StubCommand {
    /// Close the upstream connection. The next query opens a new connection.
    CloseConnections {
        /// Number of the command, returned in `command_done`.
        id: u64,
        /// True to drop session tickets, too, so the next handshake is full.
        forget_tickets: bool,
    },
    /// With the next query, ask also for A, AAAA and HTTPS of these names. Until connections are
    /// closed, answer from these responses, as if a page's answers had been pushed.
    PushAnswers {
        /// Number of the command, returned in `command_done`.
        id: u64,
        /// Host names with answers to ask for.
        names: Vec<String>,
    },
}
