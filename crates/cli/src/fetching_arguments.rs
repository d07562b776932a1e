//! The arguments shared by `fetch` and `fetch-names`: trust, number of fetches, deadline. Not for:
//! the content of a fetch.

use resolab_dns::bootstrap::GivenAddresses;
use resolab_dns::{EdnsOptions, Padding, ResolverAddress};
use resolab_terminal::arguments::durations::{deadline_ms, pause_ms};
use resolab_terminal::arguments::key_exchange_groups::GroupArguments;
use resolab_terminal::command_refusal::CommandRefusal;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// The arguments of every kind of fetch.
#[derive(clap::Args)]
pub struct FetchingArguments {
    #[command(flatten)]
    pub groups: GroupArguments,
    /// PEM file with the certificate authorities to trust, instead of the system's.
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
    /// Address of the resolver's host name, instead of asking the system.
    #[arg(long, value_name = "HOST=ADDRESS")]
    resolve: Vec<String>,
    /// Do not pad the queries.
    #[arg(long)]
    no_padding: bool,
    /// Number of fetches to make.
    #[arg(long, default_value_t = 1)]
    pub count: u64,
    /// Pause between two fetches.
    #[arg(long, default_value_t = 0, value_name = "MILLISECONDS", value_parser = pause_ms())]
    interval_ms: u64,
    /// Deadline of each fetch.
    #[arg(long, default_value_t = 10_000, value_name = "MILLISECONDS", value_parser = deadline_ms())]
    timeout_ms: u64,
}

impl FetchingArguments {
    /// Returns the resolver's socket address.
    pub fn locate(&self, resolver: &ResolverAddress) -> Result<SocketAddr, CommandRefusal> {
        let given = GivenAddresses::parse(&self.resolve).map_err(CommandRefusal::usage)?;
        let (at, _) = given
            .locate(resolver)
            .map_err(CommandRefusal::configuration)?;
        Ok(at)
    }

    /// Returns the EDNS(0) options of the queries.
    pub fn edns(&self) -> EdnsOptions {
        let default = EdnsOptions::default();
        if self.no_padding {
            return EdnsOptions {
                padding: Padding::None,
                ..default
            };
        }
        default
    }

    /// Returns the pause between fetches.
    pub fn interval(&self) -> Duration {
        Duration::from_millis(self.interval_ms)
    }

    /// Returns the deadline of each fetch.
    pub fn deadline(&self) -> Duration {
        Duration::from_millis(self.timeout_ms)
    }
}
