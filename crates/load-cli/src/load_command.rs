//! The run of `resolab-load`: load on a resolver, as statistics for people or as records. Not for:
//! the load; see `resolab_load`.

use crate::arguments::Arguments;
use crate::statistics;
use resolab_load::{Condition, LoadError, LoadPlan};
use resolab_record::{Failure, LoadProgressRecord, LoadRecord, Record};
use resolab_terminal::command_refusal::CommandRefusal;
use resolab_terminal::open_files::allow_many_sockets;
use resolab_terminal::output;
use resolab_transport::clock::monotonic_ns;
use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

/// The exit code of a shell for a program ended by SIGINT.
const ENDED_BY_INTERRUPT: i32 = 130;

/// Puts load on the resolver and writes the result.
pub fn run(arguments: &Arguments) -> ExitCode {
    match measure(arguments) {
        Ok(record) => judge(&arguments.fail, &record),
        Err(refusal) => refusal.exit(),
    }
}

fn measure(arguments: &Arguments) -> Result<LoadRecord, CommandRefusal> {
    let plan = arguments.plan()?;
    if arguments.json {
        output::write_record(&output::start_record("bench", monotonic_ns()))
            .map_err(CommandRefusal::unwritten)?;
    }
    allow_many_sockets();
    let stopped = Arc::new(AtomicBool::new(false));
    stop_on_signals(&stopped)?;
    let record = put_load(plan, arguments, &stopped)?;
    let written = if arguments.json {
        output::write_record(&Record::Load(Box::new(record.clone())))
    } else {
        output::write_text(&statistics::text(&record, arguments.histogram))
    };
    written.map_err(CommandRefusal::unwritten)?;
    Ok(record)
}

fn put_load(
    plan: LoadPlan,
    arguments: &Arguments,
    stopped: &Arc<AtomicBool>,
) -> Result<LoadRecord, CommandRefusal> {
    let interval = Duration::from_secs_f64(arguments.interval);
    let is_json = arguments.json;
    let mut progress = |interval: LoadProgressRecord| {
        if is_json {
            // Whoever reads has gone: the run need not go on.
            if output::write_record(&Record::LoadProgress(interval)).is_err() {
                stopped.store(true, Ordering::Relaxed);
            }
        } else {
            output::note(statistics::progress_line(&interval));
        }
    };
    resolab_load::run(plan, stopped, interval, &mut progress).map_err(|error| match error {
        LoadError::Unsupported(_) => CommandRefusal::unsupported(error),
        LoadError::Kernel { .. } | LoadError::TooManySockets(_) => CommandRefusal::machine(error),
        LoadError::Panicked => CommandRefusal::internal(error),
        LoadError::Connect { failure, .. } => connection_refusal(failure, &error),
        LoadError::Tls(_) | LoadError::CalledOff => CommandRefusal::configuration(error),
    })
}

/// Returns the refusal for a failed connection. A missing resolver gives the same exit code over
/// every transport, including DoUDP (`judge`). A failed handshake or an untrusted server gives
/// another code.
fn connection_refusal(failure: Failure, error: &LoadError) -> CommandRefusal {
    let is_somebody = matches!(
        failure,
        Failure::TlsHandshakeFailed
            | Failure::TlsAlpnMismatch
            | Failure::TlsCertificateInvalid
            | Failure::QuicHandshakeFailed
    );
    if is_somebody {
        CommandRefusal::configuration(error)
    } else {
        CommandRefusal::deadline(format_args!("{error}: is a resolver there?"))
    }
}

/// Stops on signals: the first signal ends the run with the results up to then; the second signal
/// ends the process.
fn stop_on_signals(stopped: &Arc<AtomicBool>) -> Result<(), CommandRefusal> {
    let failed =
        |error: io::Error| CommandRefusal::machine(format_args!("listen for signals: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
        .map_err(failed)?;
    let signals = runtime.block_on(async {
        let interrupt = signal(SignalKind::interrupt())?;
        Ok((interrupt, signal(SignalKind::terminate())?))
    });
    let (mut interrupt, mut terminate) = signals.map_err(failed)?;
    let stopped = Arc::clone(stopped);
    std::thread::spawn(move || {
        runtime.block_on(async {
            for is_first in [true, false] {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
                if !is_first {
                    std::process::exit(ENDED_BY_INTERRUPT);
                }
                stopped.store(true, Ordering::Relaxed);
            }
        });
    });
    Ok(())
}

/// Judges the run: each condition met is a line and makes the run fail. Giving up and a run without
/// any answer also make the run fail, independent of the conditions.
fn judge(conditions: &[Condition], record: &LoadRecord) -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for condition in conditions {
        if let Some(found) = condition.check(record) {
            code = output::fail(output::EXIT_CONDITION, format_args!("--fail {found}"));
        }
    }
    let is_unanswered = record.completed_count == 0 && record.sent_count > 0;
    // Who stops a run before its first answer has not asked for one.
    if is_unanswered && record.failure.is_none() && !record.stopped_early {
        let line = format_args!(
            "failed to measure: none of {} queries to {} was answered, {} were refused and {} cut \
             off: is a resolver there?",
            record.sent_count,
            record.resolver_address,
            record.failed_count,
            record.interrupted_count
        );
        code = output::fail(output::EXIT_DEADLINE, line);
    }
    if let Some(failure) = record.failure {
        let (seconds, failure) = (record.timeout_ns as f64 / 1e9, statistics::name_of(failure));
        let line = format_args!(
            "failed to ask on: no connection to {} took a query for {seconds} s ({failure}); the \
             results end there: start the resolver again, or give it more time by --timeout-ms",
            record.resolver_address
        );
        code = output::fail(output::EXIT_DEADLINE, line);
    }
    code
}
