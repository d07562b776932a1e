//! resolab-core: the only binary. Parses the command line and hands over to one module per
//! subcommand. Not for: logic; that is in the library crates.

mod bench;
mod client_arguments;
mod command_lines;
mod edge;
mod edns_arguments;
mod enter;
mod fetch;
mod fetch_names;
mod fetching;
mod gateway;
mod group_arguments;
mod internet;
mod output;
mod path;
mod ping;
mod probe;
mod probe_questions;
mod query;
mod refusal;
mod relay;
mod schema;
mod small_pages;
mod standing;
mod stub;
mod times;

use clap::{Parser, Subcommand};
use mimalloc::MiMalloc;
use std::process::ExitCode;

/// Handshakes allocate and free large buffers; this allocator keeps them instead of asking the
/// kernel for fresh pages inside the measured time (docs/benchmarks.md).
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// The version and the Cargo profile of this build: `release` for users, `measured` for benchmarks.
const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    " (",
    env!("RESOLAB_BUILD_PROFILE"),
    " build)"
);

/// Moves packets for resolab: the emulated path, DNS clients, the edge and the stub.
///
/// Standard output is JSON Lines (`resolab-core schema` prints their shapes); standard error is
/// for people. Exit codes: 0 done, 1 a condition of bench --fail held, 2 usage, 3 bad
/// configuration, 4 the machine lacks something, 5 deadline (bench: the resolver was gone in
/// mid-run, or not there), 70 internal, 127 unsupported combination, 141 nobody reads on.
#[derive(Parser)]
#[command(name = "resolab-core", version = VERSION)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Make client and server hosts joined by an emulated access link, until standard input closes.
    Path(path::Arguments),
    /// Make many hosts that meet at one exchange, at known distances, until standard input closes.
    Internet(internet::Arguments),
    /// Run a program in one of a path's hosts, or here with a resolver configuration of its own.
    Enter(enter::Arguments),
    /// Make a host whose packets slirp4netns carries, for browsers of users who may not bind port 53,
    /// until standard input closes.
    Relay(relay::Arguments),
    /// Measure a path with packets or a transfer of its own, from outside its ferry.
    Probe(probe::Arguments),
    /// Measure round trips to an address by ICMP, TCP or QUIC, whichever this user may and is answered.
    Ping(ping::Arguments),
    /// DNS and web server of the lab, until standard input closes.
    Edge(edge::Arguments),
    /// Forward plain DNS over an encrypted transport, until standard input closes.
    #[command(after_help = client_arguments::ENVIRONMENT_HELP)]
    Stub(stub::Arguments),
    /// Ask a resolver and write one record per query.
    #[command(after_help = client_arguments::ENVIRONMENT_HELP)]
    Query(query::Arguments),
    /// Fetch a name and a page together, on connections of their own or on one, and write one record
    /// for each time.
    #[command(after_help = client_arguments::ENVIRONMENT_HELP)]
    Fetch(fetch::Arguments),
    /// Fetch a document and the addresses of the names in it, which become known in one of four ways, and
    /// write one record for each time.
    #[command(after_help = client_arguments::ENVIRONMENT_HELP)]
    FetchNames(fetch_names::Arguments),
    /// Stand between a browser and everything it looks up, with connections of our own upstream, until
    /// standard input closes.
    #[command(after_help = client_arguments::ENVIRONMENT_HELP)]
    Gateway(gateway::Arguments),
    /// Find out how resolvers treat messages with no question or several, and write a record of each.
    #[command(after_help = client_arguments::ENVIRONMENT_HELP)]
    ProbeQuestions(probe_questions::Arguments),
    /// Put load on a resolver, in a closed or an open loop, over any transport.
    #[command(after_help = client_arguments::KEY_LOG_HELP)]
    Bench(bench::Arguments),
    /// Print the JSON Schema of all records and commands.
    Schema,
}

impl Command {
    /// Whether its own exchanges are timed. Servers and load generators stand under load, where huge
    /// pages save them a fifth of their processor time, and `enter` runs the programs of others.
    const fn times_its_exchanges(&self) -> bool {
        matches!(
            self,
            Self::Ping(_)
                | Self::Stub(_)
                | Self::Query(_)
                | Self::Fetch(_)
                | Self::FetchNames(_)
                | Self::Gateway(_)
                | Self::ProbeQuestions(_)
        )
    }
}

fn main() -> ExitCode {
    let command = Arguments::parse().command;
    if command.times_its_exchanges() {
        small_pages::ask_for_small_pages();
    }
    match command {
        Command::Path(arguments) => path::run(arguments),
        Command::Internet(arguments) => internet::run(&arguments),
        Command::Enter(arguments) => enter::run(arguments),
        Command::Relay(arguments) => relay::run(&arguments),
        Command::Probe(arguments) => probe::run(arguments),
        Command::ProbeQuestions(arguments) => probe_questions::run(&arguments),
        Command::Ping(arguments) => ping::run(&arguments),
        Command::Edge(arguments) => edge::run(arguments),
        Command::Stub(arguments) => stub::run(arguments),
        Command::Query(arguments) => query::run(arguments),
        Command::Fetch(arguments) => fetch::run(arguments),
        Command::FetchNames(arguments) => fetch_names::run(arguments),
        Command::Gateway(arguments) => gateway::run(arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Schema => schema::run(),
    }
}
