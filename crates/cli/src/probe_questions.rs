//! `resolab-core probe-questions`: sends resolvers messages with no question or several questions,
//! and writes a record of each reaction. Not for: judging the reaction; see
//! `resolab_dns::questions_probe`.

use resolab_dns::questions_probe::probe_questions;
use resolab_dns::{DnsClient, Question};
use resolab_record::Record;
use resolab_terminal::arguments::client::ClientArguments;
use resolab_terminal::arguments::durations::deadline_ms;
use resolab_terminal::arguments::edns::EdnsArguments;
use resolab_terminal::command_refusal::CommandRefusal;
use resolab_terminal::output;
use resolab_transport::clock::monotonic_ns;
use std::process::ExitCode;
use std::time::Duration;

/// The arguments of probes.
#[derive(clap::Args)]
pub struct Arguments {
    /// Resolver: udp://, tcp://, tls://, https://, h3://, quic://, a DNS stamp (sdns://), or an
    /// address. Several are queried one after the other.
    #[arg(long, required = true, value_name = "URL")]
    resolver: Vec<String>,
    /// Names to query. Names times types must reach the largest count of questions in a message.
    /// All names must have records of the types: names without records look ignored.
    #[arg(required = true, value_name = "NAME")]
    name: Vec<String>,
    /// Record types to query.
    #[arg(
        long = "type",
        default_value = "A",
        value_delimiter = ',',
        value_name = "TYPE"
    )]
    record_type: Vec<String>,
    /// Numbers of questions per message. Messages follow one after the other, each on a new
    /// connection.
    #[arg(
        long,
        value_delimiter = ',',
        default_values_t = [0, 2, 5, 20],
        value_name = "COUNT"
    )]
    counts: Vec<u16>,
    /// Time limit of a response, connection set-up included.
    #[arg(long, default_value_t = 2_000, value_name = "MILLISECONDS", value_parser = deadline_ms())]
    timeout_ms: u64,
    #[command(flatten)]
    client: ClientArguments,
    #[command(flatten)]
    edns: EdnsArguments,
}

/// Sends the messages and writes a record of each message.
pub fn run(arguments: &Arguments) -> ExitCode {
    let deadline = Duration::from_millis(arguments.timeout_ms);
    let probed = arguments.prepare().and_then(|(clients, questions)| {
        probe_all(&clients, &questions, &arguments.counts, deadline)
    });
    match probed {
        Ok(()) => ExitCode::SUCCESS,
        Err(refusal) => refusal.exit(),
    }
}

fn probe_all(
    clients: &[DnsClient],
    questions: &[Question],
    counts: &[u16],
    deadline: Duration,
) -> Result<(), CommandRefusal> {
    output::write_record(&output::start_record("probe-questions", monotonic_ns()))
        .map_err(CommandRefusal::unwritten)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CommandRefusal::internal(format_args!("start the runtime: {error}")))?;
    for client in clients {
        for count in counts {
            let asked = &questions[..usize::from(*count)];
            let record = runtime.block_on(probe_questions(client, asked, deadline));
            output::write_record(&Record::QuestionsProbe(Box::new(record)))
                .map_err(CommandRefusal::unwritten)?;
        }
    }
    Ok(())
}

impl Arguments {
    fn prepare(&self) -> Result<(Vec<DnsClient>, Vec<Question>), CommandRefusal> {
        let questions = self.questions()?;
        let most = self.counts.iter().copied().max().unwrap_or(0);
        if usize::from(most) > questions.len() {
            return Err(CommandRefusal::usage(format_args!(
                "ask {most} questions in a message: names and types make {}; give more of them, or --counts",
                questions.len()
            )));
        }
        let clients: Result<_, _> = self
            .resolver
            .iter()
            .map(|url| self.client.client_or_missing(url, self.edns.options()))
            .collect();
        Ok((clients?, questions))
    }

    /// Returns all names with the first type, then with the next type.
    fn questions(&self) -> Result<Vec<Question>, CommandRefusal> {
        let of_type = |record_type: &String| {
            let names = self.name.iter();
            names
                .map(|name| Question::parse(name, record_type).map_err(CommandRefusal::usage))
                .collect::<Result<Vec<_>, _>>()
        };
        let by_type: Result<Vec<_>, _> = self.record_type.iter().map(of_type).collect();
        Ok(by_type?.concat())
    }
}
