//! `resolab-core edge`: the DNS and web server as a process. A writer thread writes records; no
//! answer waits for standard output.

use resolab_edge::{Edge, EdgeConfig, EdgeError, RecordSink};
use resolab_record::{CommandDoneRecord, EdgeCommand, Record};
use resolab_terminal::command_lines::StayArgument;
use resolab_terminal::command_refusal::CommandRefusal;
use resolab_terminal::open_files::allow_many_sockets;
use resolab_terminal::output::{
    EXIT_CONFIGURATION, EXIT_INTERNAL, EXIT_MACHINE, fail, start_record, write_record,
};
use resolab_transport::clock::monotonic_ns;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;

/// The arguments of the edge.
#[derive(clap::Args)]
pub struct Arguments {
    /// Configuration file (docs/formats/edge.md).
    #[arg(long)]
    config: PathBuf,
    #[command(flatten)]
    stay: StayArgument,
}

/// Runs until standard input closes or a signal arrives.
pub fn run(arguments: Arguments) -> ExitCode {
    let Arguments { config: file, stay } = arguments;
    let config = match EdgeConfig::load(&file) {
        Ok(config) => config,
        Err(error) => return fail(EXIT_CONFIGURATION, format!("failed to {error}")),
    };
    if let Err(error) = write_record(&start_record("edge", monotonic_ns())) {
        return CommandRefusal::unwritten(error).exit();
    }
    allow_many_sockets();
    // One thread: the lab's loads are small, and a second one only adds wake-ups.
    let runtime = match tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => return fail(EXIT_MACHINE, format!("failed to start: {error}")),
    };
    let (ended, writer_end) = oneshot::channel();
    let (sender, writer) = match start_writer(ended) {
        Ok(started) => started,
        Err(error) => return fail(EXIT_MACHINE, format!("failed to start a thread: {error}")),
    };
    let code = runtime.block_on(serve(&config, stay, sender, writer_end));
    // Connections still being served hold the sender; dropping the runtime ends them.
    drop(runtime);
    match writer.join() {
        Ok(Ok(())) => code,
        Ok(Err(error)) => CommandRefusal::unwritten(error).exit(),
        Err(_) => ExitCode::from(EXIT_INTERNAL),
    }
}

async fn serve(
    config: &EdgeConfig,
    stay: StayArgument,
    sender: mpsc::Sender<Record>,
    writer_end: oneshot::Receiver<()>,
) -> ExitCode {
    // Before anybody can know that the edge is ready, and then end it.
    let signals = signal(SignalKind::terminate())
        .and_then(|terminate| Ok((terminate, signal(SignalKind::interrupt())?)));
    let signals = match signals {
        Ok(signals) => signals,
        Err(error) => {
            return fail(
                EXIT_MACHINE,
                format!("failed to listen for signals: {error}"),
            );
        }
    };
    let sink: RecordSink = {
        let sender = sender.clone();
        // The writer is gone only when standard output broke, and then the process ends.
        Arc::new(move |record| drop(sender.send(record)))
    };
    let mut edge = match Edge::start(config, sink).await {
        Ok(edge) => edge,
        Err(error) => return fail(exit_code(&error), format!("failed to {error}")),
    };
    drop(sender.send(Record::EdgeReady(edge.ready_record())));
    tokio::select! {
        () = obey(&mut edge, &sender, stay, signals) => (),
        // Records nobody can read are no records: an edge without them would serve unseen.
        _ = writer_end => (),
    }
    edge.stop().await;
    ExitCode::SUCCESS
}

/// Carries out commands until the end of commands.
async fn obey(
    edge: &mut Edge,
    sender: &mpsc::Sender<Record>,
    stay: StayArgument,
    signals: (Signal, Signal),
) {
    let (mut terminate, mut interrupt) = signals;
    let mut lines = stay.lines();
    while let Some(line) = next_line(&mut lines, &mut terminate, &mut interrupt).await {
        let done = match serde_json::from_str::<EdgeCommand>(&line) {
            Ok(command) => {
                let id = command_id(&command);
                let error = edge.carry_out(command).await.err();
                CommandDoneRecord {
                    id,
                    monotonic_ns: monotonic_ns(),
                    error,
                }
            }
            Err(error) => CommandDoneRecord {
                id: id_of_line(&line),
                monotonic_ns: monotonic_ns(),
                error: Some(format!("failed to read the command: {error}")),
            },
        };
        if sender.send(Record::CommandDone(done)).is_err() {
            break;
        }
    }
}

async fn next_line(
    lines: &mut UnboundedReceiver<String>,
    terminate: &mut Signal,
    interrupt: &mut Signal,
) -> Option<String> {
    tokio::select! {
        line = lines.recv() => line,
        _ = terminate.recv() => None,
        _ = interrupt.recv() => None,
    }
}

type WriterThread = JoinHandle<io::Result<()>>;

/// Starts the writer thread. The thread writes records in order, and flushes whenever no record
/// waits.
fn start_writer(ended: oneshot::Sender<()>) -> io::Result<(mpsc::Sender<Record>, WriterThread)> {
    let (sender, receiver) = mpsc::channel::<Record>();
    let writer = std::thread::Builder::new()
        .name("records".to_owned())
        .spawn(move || {
            let result = write_all(&receiver);
            // Nobody waits for it where the edge ends first.
            let _ = ended.send(());
            result
        })?;
    Ok((sender, writer))
}

fn write_all(records: &mpsc::Receiver<Record>) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout());
    while let Ok(first) = records.recv() {
        for record in std::iter::once(first).chain(records.try_iter()) {
            serde_json::to_writer(&mut out, &record)?;
            out.write_all(b"\n")?;
        }
        out.flush()?;
    }
    Ok(())
}

fn exit_code(error: &EdgeError) -> u8 {
    match error {
        EdgeError::Configuration(_) | EdgeError::Authority(_) => EXIT_CONFIGURATION,
        EdgeError::Listen(_) => EXIT_MACHINE,
    }
}

fn command_id(command: &EdgeCommand) -> u64 {
    match command {
        EdgeCommand::SetTicketPolicy { id, .. }
        | EdgeCommand::CloseConnections { id, .. }
        | EdgeCommand::SetTickets { id, .. }
        | EdgeCommand::SetAddressValidation { id, .. }
        | EdgeCommand::SetAccepting { id, .. }
        | EdgeCommand::SetBlackHole { id, .. }
        | EdgeCommand::Flush { id }
        | EdgeCommand::LoadSite { id, .. }
        | EdgeCommand::RemoveSite { id, .. }
        | EdgeCommand::CoverNames { id, .. }
        | EdgeCommand::SetOriginFrames { id, .. }
        | EdgeCommand::SetNameBehaviour { id, .. }
        | EdgeCommand::Summary { id, .. } => *id,
    }
}

/// Returns the id of an invalid command; 0 when the id is missing.
fn id_of_line(line: &str) -> u64 {
    let value = serde_json::from_str::<serde_json::Value>(line).ok();
    value
        .and_then(|value| value.get("id")?.as_u64())
        .unwrap_or(0)
}
