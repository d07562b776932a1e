//! resolab-core: the program of every run. Parses the command line and calls the module of the
//! subcommand. Not for: logic, see the library crates; load on a resolver, see `resolab-load`.

mod edge;
mod enter;
mod fetch;
mod fetch_names;
mod fetching_arguments;
mod gateway;
mod internet;
mod packet_program;
mod path;
mod ping;
mod probe;
mod probe_questions;
mod query;
mod relay;
mod schema;
mod small_pages;
mod stub;

use clap::{Parser, Subcommand};
use mimalloc::MiMalloc;
use resolab_terminal::arguments::client::ENVIRONMENT_HELP;
use resolab_terminal::{VERSION, output};
use std::process::ExitCode;

/// The allocator. Handshakes allocate and free large buffers. mimalloc keeps these buffers instead
/// of requesting fresh pages from the kernel inside the measured time (docs/benchmarks.md).
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Moves packets for resolab: the emulated path, DNS clients, the edge and the stub.
///
/// Standard output is JSON Lines (`resolab-core schema` prints their shapes); standard error is for
/// people. Exit codes: 0 done, 2 usage, 3 bad configuration, 4 the machine lacks something,
/// 5 deadline, 70 internal, 127 unsupported combination, 141 the reader of standard output has gone.
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
    /// Make many hosts around an exchange, at known distances, until standard input closes.
    Internet(internet::Arguments),
    /// Run a program in a path's host, or here with a separate resolver configuration.
    Enter(enter::Arguments),
    /// Make a host with packets carried by slirp4netns, for browsers of users without the right to
    /// port 53, until standard input closes.
    Relay(relay::Arguments),
    /// Measure a path with test packets or a test transfer, from outside the path's forwarder.
    Probe(probe::Arguments),
    /// Measure round trips to an address by ICMP, TCP or QUIC: by the first permitted and answered
    /// method.
    Ping(ping::Arguments),
    /// Run the lab's DNS and web server, until standard input closes.
    Edge(edge::Arguments),
    /// Forward plain DNS over an encrypted transport, until standard input closes.
    #[command(after_help = ENVIRONMENT_HELP)]
    Stub(stub::Arguments),
    /// Query a resolver and write a record per query.
    #[command(after_help = ENVIRONMENT_HELP)]
    Query(query::Arguments),
    /// Fetch a name and a page together, on separate connections or on a shared connection, and
    /// write a record per fetch.
    #[command(after_help = ENVIRONMENT_HELP)]
    Fetch(fetch::Arguments),
    /// Fetch a document and the addresses of its names, with one of four announcements of names,
    /// and write a record per fetch.
    #[command(after_help = ENVIRONMENT_HELP)]
    FetchNames(fetch_names::Arguments),
    /// Run a proxy between a browser and all servers, with separate upstream connections, until
    /// standard input closes.
    #[command(after_help = ENVIRONMENT_HELP)]
    Gateway(gateway::Arguments),
    /// Probe resolvers with messages of no question or several questions, and write a record per
    /// message.
    #[command(after_help = ENVIRONMENT_HELP)]
    ProbeQuestions(probe_questions::Arguments),
    /// Print the JSON Schema of all records and commands.
    Schema,
}

impl Command {
    /// Returns true when the command times exchanges. Servers are not timed: under load, huge pages
    /// save a fifth of their processor time. `enter` runs programs of other authors.
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
    output::name_program("resolab-core");
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
        Command::Schema => schema::run(),
    }
}
