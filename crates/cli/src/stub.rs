//! `resolab-core stub`: runs the stub until standard input ends or a signal arrives, and takes
//! commands. Not for: forwarding; see `resolab_dns::stub`.

use clap::ValueEnum;
use resolab_dns::stub::{ClientLimits, ConnectionPolicy, Stub, StubOptions};
use resolab_link::enter::{self, ListeningSockets};
use resolab_record::{CommandDoneRecord, Record, StubCommand, StubReadyRecord};
use resolab_terminal::arguments::client::ClientArguments;
use resolab_terminal::arguments::durations::deadline_ms;
use resolab_terminal::arguments::edns::EdnsArguments;
use resolab_terminal::command_lines::StayArgument;
use resolab_terminal::command_refusal::CommandRefusal;
use resolab_terminal::output;
use resolab_transport::clock::monotonic_ns;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU32;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

/// The arguments of the stub.
#[derive(clap::Args)]
pub struct Arguments {
    /// Address to listen on for plain DNS, on UDP and TCP.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = address_and_port)]
    listen: SocketAddr,
    /// Make the listening sockets in a host of the path, internet or relay with this process id,
    /// while the stub itself stays on the network of its start.
    #[arg(long, value_name = "PID/HOST", value_parser = host_place)]
    listen_in: Option<(i32, String)>,
    /// Resolver to forward to: udp://, tcp://, tls://, https://, h3://, quic:// or a
    /// DNS stamp (sdns://).
    #[arg(long, value_name = "URL")]
    upstream: String,
    /// Time limit of a query before the answer SERVFAIL.
    #[arg(
        long,
        visible_alias = "deadline-ms",
        default_value_t = 5_000,
        value_name = "MILLISECONDS",
        value_parser = deadline_ms()
    )]
    timeout_ms: u64,
    /// Gather queries for this time after the first query, and send all of them in one message; the
    /// resolver sends each answer when known (partial responses,
    /// docs/formats/partial-responses.md). Falls back to single queries if the resolver lacks
    /// support.
    #[arg(
        long,
        value_name = "MILLISECONDS",
        value_parser = clap::value_parser!(u64).range(1..=100)
    )]
    gather_ms: Option<u64>,
    #[command(flatten)]
    connections: ConnectionArguments,
    #[command(flatten)]
    client: ClientArguments,
    /// The settings for queries without EDNS options: a forwarded query keeps its client subnet,
    /// and its payload size on DoUDP if smaller.
    #[command(flatten)]
    edns: EdnsArguments,
    #[command(flatten)]
    stay: StayArgument,
}

/// The sharing of a connection between forwarded queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StubConnectionArgument {
    /// A new connection for each query, closed after the query.
    Cold,
    /// One connection for all queries, opened by the first.
    Warm,
}

/// The use of upstream connections.
#[derive(Debug, clap::Args)]
struct ConnectionArguments {
    /// Sharing of connections between forwarded queries.
    #[arg(long, value_enum, default_value = "warm")]
    connection: StubConnectionArgument,
    /// Close a connection after this time without a query; without the option, the resolver
    /// decides.
    #[arg(
        long,
        value_name = "MILLISECONDS",
        value_parser = deadline_ms()
    )]
    idle_timeout_ms: Option<u64>,
    /// Limit of queries per connection before another connection is opened.
    #[arg(long, value_name = "COUNT")]
    max_queries_per_connection: Option<NonZeroU32>,
}

impl ConnectionArguments {
    fn policy(&self) -> Result<ConnectionPolicy, CommandRefusal> {
        let is_cold = self.connection == StubConnectionArgument::Cold;
        let is_kept = self.idle_timeout_ms.is_some() || self.max_queries_per_connection.is_some();
        if is_cold && is_kept {
            return Err(CommandRefusal::usage(
                "keep connections: with --connection cold each has one query; leave out \
                 --idle-timeout-ms and --max-queries-per-connection",
            ));
        }
        Ok(ConnectionPolicy {
            is_cold,
            idle_timeout: self.idle_timeout_ms.map(Duration::from_millis),
            max_queries_count: self.max_queries_per_connection,
            takes_first_end: false,
        })
    }
}

/// Forwards queries until standard input closes.
pub fn run(arguments: Arguments) -> ExitCode {
    match try_run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(refusal) => refusal.exit(),
    }
}

fn try_run(arguments: Arguments) -> Result<(), CommandRefusal> {
    let Arguments {
        listen,
        listen_in,
        upstream,
        timeout_ms,
        gather_ms,
        connections,
        client,
        edns,
        stay,
    } = arguments;
    let policy = connections.policy()?;
    // Before all else that may start threads: it takes a process of one.
    let listening = listen_in
        .map(|(pid, host)| enter::open_host_sockets(pid, &host, listen))
        .transpose()
        .map_err(CommandRefusal::machine)?;
    let client = client.client(&upstream, edns.options())?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CommandRefusal::internal(format_args!("start the runtime: {error}")))?;
    let (records, queue) = channel();
    let options = StubOptions {
        deadline: Duration::from_millis(timeout_ms),
        connections: policy,
        gather: gather_ms.map(Duration::from_millis),
        limits: ClientLimits::default(),
    };
    let stub = match listening {
        None => runtime.block_on(Stub::bind(listen, client, options, records.clone())),
        Some(ListeningSockets { udp, tcp }) => {
            let _context = runtime.enter();
            Stub::from_sockets(udp, tcp, client, options, records.clone())
        }
    }
    .map_err(|error| cannot_listen(listen, &error))?;
    announce(&stub, upstream, &records).map_err(CommandRefusal::unwritten)?;
    let (writer_ended, writer_end) = mpsc::channel(1);
    let writer = start_writer(queue, writer_ended);
    let result = runtime.block_on(serve(&stub, &records, stay, writer_end));
    drop((runtime, stub, records));
    result?;
    // All senders are gone: the writer has written what there was.
    writer
        .join()
        .unwrap_or(Ok(()))
        .map_err(CommandRefusal::unwritten)
}

/// Parses an address with a port, for listening.
pub fn address_and_port(text: &str) -> Result<SocketAddr, String> {
    let example = match text.parse::<IpAddr>() {
        Ok(ip) => SocketAddr::new(ip, 5300).to_string(),
        Err(_) => "127.0.0.1:5300".to_owned(),
    };
    let read = text.parse();
    read.map_err(|_| format!("not an address with its port, such as {example}"))
}

fn host_place(text: &str) -> Result<(i32, String), String> {
    let parts = text.split_once('/');
    let place = parts.and_then(|(pid, host)| Some((pid.parse().ok()?, host.to_owned())));
    place.ok_or_else(|| "not PID/HOST, such as 4711/relay".to_owned())
}

pub fn cannot_listen(address: SocketAddr, error: &io::Error) -> CommandRefusal {
    if matches!(
        error.raw_os_error(),
        Some(nix::libc::EMFILE | nix::libc::ENFILE)
    ) {
        let remedy = "raise the limit of open files (ulimit -n)";
        return CommandRefusal::machine(format_args!("listen on {address}: {error}; {remedy}"));
    }
    let what = format!("listen on {address}: {error}; give another --listen");
    if error.kind() == io::ErrorKind::PermissionDenied {
        CommandRefusal::machine(what)
    } else {
        CommandRefusal::configuration(what)
    }
}

fn announce(stub: &Stub, upstream: String, records: &Sender<Record>) -> io::Result<()> {
    let ready = StubReadyRecord {
        listen_address: stub.listen_address()?,
        upstream,
    };
    for record in [
        output::start_record("stub", monotonic_ns()),
        Record::StubReady(ready),
    ] {
        records.send(record).map_err(io::Error::other)?;
    }
    Ok(())
}

/// Starts the writer thread of records: a full pipe must not delay an answer.
pub fn start_writer(
    queue: Receiver<Record>,
    ended: mpsc::Sender<()>,
) -> JoinHandle<io::Result<()>> {
    thread::spawn(move || {
        let result = queue
            .iter()
            .try_for_each(|record| output::write_record(&record));
        let _ = ended.blocking_send(());
        result
    })
}

async fn serve(
    stub: &Stub,
    records: &Sender<Record>,
    stay: StayArgument,
    mut writer_end: mpsc::Receiver<()>,
) -> Result<(), CommandRefusal> {
    let no_signals = |error| CommandRefusal::internal(format_args!("watch for signals: {error}"));
    let mut terminate = signal(SignalKind::terminate()).map_err(no_signals)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(no_signals)?;
    let mut lines = stay.lines();
    let commands = async {
        while let Some(line) = lines.recv().await {
            let _ = records.send(Record::CommandDone(carry_out(stub, &line).await));
        }
    };
    tokio::select! {
        () = stub.serve() => (),
        () = commands => (),
        _ = writer_end.recv() => (),
        _ = terminate.recv() => (),
        _ = interrupt.recv() => (),
    }
    stub.end().await;
    Ok(())
}

async fn carry_out(stub: &Stub, line: &str) -> CommandDoneRecord {
    let (id, error) = match serde_json::from_str(line) {
        Ok(StubCommand::CloseConnections { id, forget_tickets }) => {
            stub.close_connections(forget_tickets).await;
            (id, None)
        }
        Ok(StubCommand::PushAnswers { id, names }) => {
            let refused = stub.push_answers(&names).err();
            (id, refused.map(|error| format!("failed to {error}")))
        }
        Err(error) => (
            id_of(line),
            Some(format!("failed to read the command: {error}")),
        ),
    };
    CommandDoneRecord {
        id,
        monotonic_ns: monotonic_ns(),
        error,
    }
}

/// Returns the id of an invalid command, for the answer to the sender; 0 without an id.
pub fn id_of(line: &str) -> u64 {
    let value: Option<serde_json::Value> = serde_json::from_str(line).ok();
    value
        .and_then(|value| value.get("id")?.as_u64())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lacks_its_port_is_told_with_one() {
        assert_eq!(
            address_and_port("[::1]:53"),
            Ok("[::1]:53".parse().unwrap())
        );
        for (text, example) in [
            ("127.0.0.2", "127.0.0.2:5300"),
            ("::1", "[::1]:5300"),
            ("here", "127.0.0.1:5300"),
        ] {
            let told = address_and_port(text).unwrap_err();
            assert!(told.ends_with(example), "{told}");
        }
    }
}
