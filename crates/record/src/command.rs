//! Commands the long-running programs take on standard input, one JSON object per line; each is
//! answered by a `command_done` record with the same `id`. The end of standard input ends the
//! program.

use crate::edge_control::RetryMode;
use crate::edge_names::{FailureMode, NameDelay};
use crate::profile::LinkProfile;
use crate::terms::TicketPolicy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// To `resolab-core path`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum PathCommand {
    /// Write `path_summary` and `flow` records of the window since the last summary (or the start)
    /// and begin a new window.
    Summary {
        /// Returned in `command_done`.
        id: u64,
        /// Copied into the records.
        label: Option<String>,
    },
    /// Put another profile in force; packets under way keep the times they have.
    SetProfile {
        /// Returned in `command_done`.
        id: u64,
        /// The new profile.
        profile: Box<LinkProfile>,
        /// Seed of the loss processes from here on; `null` keeps the streams running.
        seed: Option<u64>,
        /// Whether the profile's schedule waits for `start_schedule`; absent: it starts now.
        #[serde(default)]
        hold_schedule: bool,
    },
    /// Put the profile as it was first in force again and count its schedule from now.
    StartSchedule {
        /// Returned in `command_done`.
        id: u64,
    },
    /// Write every packet from now on into a pcapng file, once as it enters the link and once as it
    /// is delivered; ends a capture under way.
    StartCapture {
        /// Returned in `command_done`.
        id: u64,
        /// The file, made new.
        file: String,
    },
    /// End the capture; the file is complete when this is answered.
    StopCapture {
        /// Returned in `command_done`.
        id: u64,
    },
}

/// To `resolab-core edge`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum EdgeCommand {
    /// Ticket policy of one server name from now on.
    SetTicketPolicy {
        /// Returned in `command_done`.
        id: u64,
        /// Server name (SNI); `null` means every name.
        name: Option<String>,
        /// What it gives out from now on.
        policy: TicketPolicy,
    },
    /// Lifetime and number of the tickets of one server name from now on.
    SetTickets {
        /// Returned in `command_done`.
        id: u64,
        /// Server name (SNI); `null` means every name.
        name: Option<String>,
        /// Seconds after which a ticket is not taken back, those given out before included; `null`
        /// leaves it.
        #[serde(default)]
        lifetime_s: Option<u32>,
        /// Tickets given out by a handshake; `null` leaves it.
        #[serde(default)]
        per_handshake_count: Option<u32>,
    },
    /// When QUIC clients must validate their address by a Retry, from the next Initial on.
    SetAddressValidation {
        /// Returned in `command_done`.
        id: u64,
        /// Only listeners on this address; `null` means all.
        address: Option<String>,
        /// When a Retry is sent.
        retry: RetryMode,
    },
    /// Take or refuse new connections; open ones stay.
    SetAccepting {
        /// Returned in `command_done`.
        id: u64,
        /// Whether new ones are taken.
        accepting: bool,
        /// Only this server name: its handshakes end with an alert. Not with `address`.
        #[serde(default)]
        name: Option<String>,
        /// Only listeners on this address: TCP ports and Do53 are closed, QUIC says
        /// CONNECTION_REFUSED. Neither `name` nor `address`: every listener.
        #[serde(default)]
        address: Option<String>,
    },
    /// Swallow packets of connections that stay open, as a dead path does.
    SetBlackHole {
        /// Returned in `command_done`.
        id: u64,
        /// Server name (SNI), the resolver's also for Do53; `null` means everything, and `false`
        /// with it ends every black hole.
        name: Option<String>,
        /// Whether they are swallowed from now on.
        black_hole: bool,
    },
    /// Close connections from the server's side: QUIC with CONNECTION_CLOSE and H3_NO_ERROR (or
    /// DOQ_NO_ERROR), TLS with GOAWAY where there is one, close_notify and FIN.
    CloseConnections {
        /// Returned in `command_done`, after the closes were handed to the kernel.
        id: u64,
        /// Only connections with this server name; `null`, and no `names` either, means all.
        name: Option<String>,
        /// Only connections with one of these server names, all chosen at once when the command
        /// is carried out. Not with `name`.
        #[serde(default)]
        names: Option<Vec<String>>,
    },
    /// Write a `connection` record for each open connection and `command_done` after all pending
    /// records: what happened before is then on standard output.
    Flush {
        /// Returned in `command_done`.
        id: u64,
    },
    /// Add or replace a site while running; requests under way are answered as they began.
    LoadSite {
        /// Returned in `command_done`.
        id: u64,
        /// Host name.
        host: String,
        /// Folder with the site's files; `null` for generated bodies alone.
        folder: Option<String>,
        /// Address of the host; `null` means the first web address of the configuration.
        address: Option<String>,
        /// The site's other settings, as the keys of `[[site]]` in TOML; `null` means their defaults.
        settings: Option<String>,
    },
    /// Take a site and the records of its name away; requests under way are answered.
    RemoveSite {
        /// Returned in `command_done`.
        id: u64,
        /// Host name.
        host: String,
    },
    /// Have the resolver's certificate cover these names beside its own, from the next ClientHello
    /// on and instead of those before, and its connections serve the sites among them. Needs
    /// `[coalescing]`.
    CoverNames {
        /// Returned in `command_done`.
        id: u64,
        /// Names and wildcards; none: connections for the resolver's name serve no site.
        names: Vec<String>,
    },
    /// Whether connections under certificates that have `origin_frame` tell their origins, from the
    /// next connection on; not the resolver's.
    SetOriginFrames {
        /// Returned in `command_done`.
        id: u64,
        /// Whether they do; at the start they do.
        telling: bool,
    },
    /// How queries for a name are treated from now on, instead of as before; without delay and
    /// failure they are answered as usual.
    SetNameBehaviour {
        /// Returned in `command_done`.
        id: u64,
        /// The name, or a wildcard for all names below one.
        name: String,
        /// Constant extra delay; not together with `delay`.
        #[serde(default)]
        delay_ms: Option<f64>,
        /// Extra delay drawn anew for each query.
        #[serde(default)]
        delay: Option<NameDelay>,
        /// Failure mode.
        #[serde(default)]
        failure: Option<FailureMode>,
    },
    /// Write an `edge_summary` record.
    Summary {
        /// Returned in `command_done`.
        id: u64,
        /// Copied into the record.
        label: Option<String>,
    },
}

/// To `resolab-core stub`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum StubCommand {
    /// Close the upstream connection; the next query opens a new one.
    CloseConnections {
        /// Returned in `command_done`.
        id: u64,
        /// Whether session tickets are dropped too, so that the next handshake is full.
        forget_tickets: bool,
    },
    /// With the next query, ask A, AAAA and HTTPS of these names, too, and answer from what comes
    /// until connections are closed: as if a page's answers had been pushed.
    PushAnswers {
        /// Returned in `command_done`.
        id: u64,
        /// Host names.
        names: Vec<String>,
    },
}
