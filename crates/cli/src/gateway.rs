//! `resolab-core gateway`: runs the gateway until standard input ends, a signal or a command ends
//! the run. Not for: handling traffic; see `resolab_gateway`.

mod address_range;
mod arguments;

pub use arguments::Arguments;

use crate::stub::{cannot_listen, id_of, start_writer};
use resolab_gateway::{Gateway, GatewayError};
use resolab_record::{CommandDoneRecord, GatewayCommand, Record};
use resolab_terminal::command_lines::StayArgument;
use resolab_terminal::command_refusal::CommandRefusal;
use resolab_terminal::open_files::allow_many_sockets;
use resolab_terminal::output;
use resolab_transport::clock::monotonic_ns;
use resolab_transport::server::CertificateAuthority;
use std::process::ExitCode;
use std::sync::mpsc::{Sender, channel};
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

/// Runs the gateway until standard input closes.
pub fn run(arguments: Arguments) -> ExitCode {
    match try_run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(refusal) => refusal.exit(),
    }
}

fn try_run(arguments: Arguments) -> Result<(), CommandRefusal> {
    allow_many_sockets();
    let stay = arguments.stay;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CommandRefusal::internal(format_args!("start the runtime: {error}")))?;
    let signals = {
        // Before anybody can know that the gateway is ready, and then end it.
        let _context = runtime.enter();
        watch_signals()?
    };
    let (records, queue) = channel();
    let start = output::start_record("gateway", monotonic_ns());
    let _ = records.send(start);
    let gateway = start_gateway(&runtime, &arguments, &records)?;
    let ready = gateway.ready_record(arguments.upstream);
    let ready = ready.map_err(CommandRefusal::unwritten)?;
    let _ = records.send(Record::GatewayReady(Box::new(ready)));
    let (writer_ended, writer_end) = mpsc::channel(1);
    let writer = start_writer(queue, writer_ended);
    runtime.block_on(serve(&gateway, &records, stay, signals, writer_end));
    // Whatever still holds the way to the writer goes with the runtime.
    drop((gateway, runtime, records));
    writer
        .join()
        .unwrap_or(Ok(()))
        .map_err(CommandRefusal::unwritten)
}

fn start_gateway(
    runtime: &Runtime,
    arguments: &Arguments,
    records: &Sender<Record>,
) -> Result<Gateway, CommandRefusal> {
    let options = arguments.options()?;
    if arguments.claim_range {
        address_range::claim(options.range)?;
    }
    let edns = arguments.edns.options();
    let resolver = arguments.client.client(&arguments.upstream, edns)?;
    let authority = CertificateAuthority::open_or_create(arguments.ca_folder());
    let authority = authority.map_err(CommandRefusal::configuration)?;
    let starting = Gateway::start(
        arguments.listen,
        resolver,
        options,
        authority,
        records.clone(),
    );
    runtime.block_on(starting).map_err(|error| match error {
        GatewayError::Listen { address, source } => cannot_listen(address, &source),
        GatewayError::Unsupported(_) => CommandRefusal::unsupported(error),
        GatewayError::Client(_) => CommandRefusal::configuration(error),
    })
}

async fn serve(
    gateway: &Gateway,
    records: &Sender<Record>,
    stay: StayArgument,
    [mut terminate, mut interrupt]: [Signal; 2],
    mut writer_end: mpsc::Receiver<()>,
) {
    let mut lines = stay.lines();
    let commands = async {
        while let Some(line) = lines.recv().await {
            let (done, ends) = carry_out(gateway, &line).await;
            let _ = records.send(Record::CommandDone(done));
            if ends {
                return;
            }
        }
    };
    tokio::select! {
        () = gateway.serve() => (),
        () = commands => (),
        _ = writer_end.recv() => (),
        _ = terminate.recv() => (),
        _ = interrupt.recv() => (),
    }
    gateway.stop().await;
}

fn watch_signals() -> Result<[Signal; 2], CommandRefusal> {
    let watch = |kind| {
        let no_signals =
            |error| CommandRefusal::internal(format_args!("watch for signals: {error}"));
        signal(kind).map_err(no_signals)
    };
    Ok([
        watch(SignalKind::terminate())?,
        watch(SignalKind::interrupt())?,
    ])
}

/// Returns the answer to a command, and true after the last command.
async fn carry_out(gateway: &Gateway, line: &str) -> (CommandDoneRecord, bool) {
    let (id, error, ends) = match serde_json::from_str(line) {
        Ok(GatewayCommand::NewLoad {
            id,
            forget_tickets,
            speculate_for,
        }) => {
            let ending = gateway.new_load(forget_tickets, speculate_for.as_deref());
            let is_over = ending.await;
            let error = "end the load before: something of it is still under way; repeat new_load";
            (id, (!is_over).then(|| format!("failed to {error}")), false)
        }
        Ok(GatewayCommand::Stop { id }) => {
            gateway.stop().await;
            (id, None, true)
        }
        Err(error) => {
            let error = format!("failed to read the command: {error}");
            (id_of(line), Some(error), false)
        }
    };
    let done = CommandDoneRecord {
        id,
        monotonic_ns: monotonic_ns(),
        error,
    };
    (done, ends)
}
