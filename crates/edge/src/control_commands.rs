//! Commands for the control of connections: tickets, address validation, accepting, black holes,
//! and the summary.
//!
//! For: at most one error line for each command. Not for: sites and closing, see `edge`.

use crate::connections::counters::resident_bytes;
use crate::serve::Listeners;
use crate::state::EdgeState;
use resolab_record::{ConnectionsSummary, EdgeCommand, RetryMode};
use std::net::IpAddr;
use std::sync::Arc;

/// Carries out a command for control; other commands belong to `edge`.
pub async fn carry_out(
    state: &Arc<EdgeState>,
    listeners: &mut Listeners,
    command: EdgeCommand,
) -> Result<(), String> {
    match command {
        EdgeCommand::SetTicketPolicy { name, policy, .. } => {
            let name = name.as_deref();
            require_known(state.policies.set_policy(name, policy), name)
        }
        EdgeCommand::SetTickets {
            name,
            lifetime_s,
            per_handshake_count,
            ..
        } => {
            let (name, policies) = (name.as_deref(), &state.policies);
            let found = policies.set_tickets(name, lifetime_s, per_handshake_count);
            require_known(found, name)
        }
        EdgeCommand::SetAddressValidation { address, retry, .. } => {
            set_address_validation(listeners, address.as_deref(), retry)
        }
        EdgeCommand::SetAccepting {
            accepting,
            name,
            address,
            ..
        } => {
            let (name, address) = (name.as_deref(), address.as_deref());
            set_accepting(state, listeners, accepting, name, address).await
        }
        EdgeCommand::SetBlackHole {
            name, black_hole, ..
        } => set_black_hole(state, name.as_deref(), black_hole),
        EdgeCommand::Summary { label, .. } => {
            write_summary(state, listeners, label);
            Ok(())
        }
        EdgeCommand::CloseConnections { .. }
        | EdgeCommand::Flush { .. }
        | EdgeCommand::SetNameBehaviour { .. }
        | EdgeCommand::LoadSite { .. }
        | EdgeCommand::CoverNames { .. }
        | EdgeCommand::SetOriginFrames { .. }
        | EdgeCommand::RemoveSite { .. } => Err("no command about connections".to_owned()),
    }
}

/// Errors when a name is not served.
fn require_known(found: bool, name: Option<&str>) -> Result<(), String> {
    let name = name.unwrap_or_default();
    found
        .then_some(())
        .ok_or_else(|| format!("no server name `{name}` here"))
}

/// Carries out `close_connections`: all connections, or the connections of some names.
pub async fn close_connections(
    state: &EdgeState,
    name: Option<String>,
    names: Option<Vec<String>>,
) -> Result<(), String> {
    let only = match (name, names) {
        (Some(_), Some(_)) => return Err("give `name` or `names`, not both".to_owned()),
        (Some(name), None) => Some(vec![name]),
        (None, names) => names,
    };
    match state.connections.close(only.as_deref()).await {
        0 => Ok(()),
        left => Err(format!("{left} connections did not end in time")),
    }
}

/// Carries out `set_address_validation`: changes the Retry mode of QUIC listeners.
fn set_address_validation(
    listeners: &Listeners,
    address: Option<&str>,
    retry: RetryMode,
) -> Result<(), String> {
    let address = address.map(parse_address).transpose()?;
    match listeners.set_retry(address, retry) {
        0 => Err("no QUIC listener there".to_owned()),
        _ => Ok(()),
    }
}

/// Carries out `set_accepting`: accepts or refuses new connections.
async fn set_accepting(
    state: &Arc<EdgeState>,
    listeners: &mut Listeners,
    accepting: bool,
    name: Option<&str>,
    address: Option<&str>,
) -> Result<(), String> {
    match (name, address) {
        (Some(_), Some(_)) => Err("give a name or an address, not both".to_owned()),
        (Some(name), None) => {
            require_known(state.policies.set_accepting(name, accepting), Some(name))
        }
        (None, address) => {
            let address = address.map(parse_address).transpose()?;
            let changed = listeners.set_accepting(state, address, accepting).await;
            match changed.map_err(|error| error.to_string())? {
                0 => Err("no listener there".to_owned()),
                _ => Ok(()),
            }
        }
    }
}

/// Carries out `set_black_hole`: begins or ends a black hole.
fn set_black_hole(state: &EdgeState, name: Option<&str>, black_hole: bool) -> Result<(), String> {
    let name = name.map(str::to_ascii_lowercase);
    let name = name.as_deref();
    if let Some(name) = name {
        require_known(state.policies.has_name(name), Some(name))?;
    }
    let hole = &state.policies.black_hole;
    if black_hole {
        let peers = name.map(|name| state.connections.quic_peers_of(name));
        hole.begin(name, peers.unwrap_or_default());
    } else {
        hole.end(name);
    }
    Ok(())
}

/// Writes the summary, for the command `summary` and at the end.
pub fn write_summary(state: &EdgeState, listeners: &Listeners, label: Option<String>) {
    let tallies = &state.connections.tallies;
    let (retries_count, refused_command_count) = listeners.quic_counts();
    let connections = ConnectionsSummary {
        tcp_connections_count: tallies.tcp_connections.count(),
        quic_connections_count: tallies.quic_connections.count(),
        open_connections_count: state.connections.open_count() as u64,
        queries_count: tallies.queries.count(),
        requests_count: tallies.requests.count(),
        retries_count,
        refused_total_count: tallies.refused_total.count(),
        refused_peer_count: tallies.refused_peer.count(),
        refused_command_count,
        refused_tls_version_count: tallies.refused_tls_version.count(),
        handshake_timeouts_count: tallies.handshake_timeouts.count(),
        slow_peers_count: tallies.slow_peers.count(),
        stored_tickets_count: state.policies.stored_tickets_count() as u64,
        resident_bytes: resident_bytes(),
    };
    state.write_summary(label, connections);
}

fn parse_address(text: &str) -> Result<IpAddr, String> {
    text.parse().map_err(|_| format!("`{text}` is no address"))
}
