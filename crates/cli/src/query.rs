//! `resolab-core query`: queries resolvers for names and writes a record per query. Not for: the
//! query itself; see `resolab_dns`.

mod pause;
mod queried_resolver;
mod rounds;
mod shuffle;

use clap::ValueEnum;
use pause::{PauseDistribution, PauseSequence};
use queried_resolver::QueriedResolver;
use resolab_dns::partial::QUESTIONS_MAX_COUNT;
use resolab_dns::{ConnectionPolicy, Question};
use resolab_terminal::arguments::client::ClientArguments;
use resolab_terminal::arguments::durations::{deadline_ms, pause_ms};
use resolab_terminal::arguments::edns::EdnsArguments;
use resolab_terminal::command_refusal::CommandRefusal;
use resolab_terminal::output;
use resolab_transport::clock::monotonic_ns;
use rounds::{QueryPacing, QueryRounds};
use shuffle::ResolverShuffle;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// The sharing of a connection between queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ConnectionArgument {
    /// A new connection for each query, or for queries sent together.
    Cold,
    /// One connection for all queries to a resolver; the first opens it.
    Warm,
}

/// The arguments of queries.
#[derive(clap::Args)]
pub struct Arguments {
    /// Resolver: udp://, tcp://, tls://, https://, h3://, quic://, a DNS stamp (sdns://), or an
    /// address. Several are queried in turn.
    #[arg(long, required = true, value_name = "URL")]
    resolver: Vec<String>,
    /// Domain names to query.
    #[arg(required = true, value_name = "NAME")]
    name: Vec<String>,
    /// Record types to query, one after the other.
    #[arg(
        long = "type",
        default_value = "A",
        value_delimiter = ',',
        value_name = "TYPE"
    )]
    record_type: Vec<String>,
    /// Query class: IN, CH, HS or a number like CLASS32.
    #[arg(long, default_value = "IN")]
    class: String,
    /// Query all types of a name at the same time and on one connection, as browsers do.
    #[arg(long)]
    together: bool,
    /// Request DNSSEC records (the DO bit, RFC 3225).
    #[arg(long)]
    dnssec: bool,
    /// Sharing of connections between queries.
    #[arg(long, value_enum, default_value = "cold")]
    connection: ConnectionArgument,
    /// Limit of queries without a response at any time on a warm connection; several resolvers are
    /// then queried one after the other.
    #[arg(
        long,
        default_value_t = 1,
        value_name = "COUNT",
        value_parser = clap::value_parser!(u16).range(1..)
    )]
    outstanding: u16,
    /// Close a warm connection after this time without a query; without the option, the resolver
    /// decides.
    #[arg(
        long,
        value_name = "MILLISECONDS",
        value_parser = deadline_ms()
    )]
    idle_timeout_ms: Option<u64>,
    /// Send this many questions in one message; the resolver sends each answer when known (partial
    /// responses, docs/formats/partial-responses.md). Falls back to one question per message if the
    /// resolver lacks support.
    #[arg(
        long,
        value_name = "COUNT",
        value_parser = clap::value_parser!(u16).range(2..=QUESTIONS_MAX_COUNT as i64),
        conflicts_with_all = ["together", "outstanding"]
    )]
    questions_per_message: Option<u16>,
    /// Send each of these questions in a separate message, all at the same time: the baseline for
    /// one message.
    #[arg(long, requires = "questions_per_message")]
    one_by_one: bool,
    /// Number of rounds; each round queries every resolver for every name.
    #[arg(long, default_value_t = 1)]
    count: u64,
    /// Pause between two queries.
    #[arg(long, default_value_t = 0, value_name = "MILLISECONDS", value_parser = pause_ms())]
    interval_ms: u64,
    /// Distribution of pauses: constant, or with the interval as the mean.
    #[arg(long, value_enum, default_value = "constant")]
    intervals: PauseDistribution,
    /// Shuffle the order of resolvers for each name, by this seed.
    #[arg(long)]
    seed: Option<u64>,
    /// Deadline of each query, connection set-up and retries included.
    #[arg(long, default_value_t = 10_000, value_name = "MILLISECONDS", value_parser = deadline_ms())]
    timeout_ms: u64,
    #[command(flatten)]
    client: ClientArguments,
    #[command(flatten)]
    edns: EdnsArguments,
}

/// Queries, and writes a record per query.
pub fn run(arguments: Arguments) -> ExitCode {
    match arguments.prepare().and_then(ask_all) {
        Ok(()) => ExitCode::SUCCESS,
        Err(refusal) => refusal.exit(),
    }
}

fn ask_all(rounds: QueryRounds) -> Result<(), CommandRefusal> {
    output::write_record(&output::start_record("query", monotonic_ns()))
        .map_err(CommandRefusal::unwritten)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime
        .map_err(|error| CommandRefusal::internal(format_args!("start the runtime: {error}")))?;
    runtime
        .block_on(rounds.run())
        .map_err(CommandRefusal::unwritten)
}

impl Arguments {
    /// Prepares everything with a chance to fail or to take time before a clock starts.
    fn prepare(self) -> Result<QueryRounds, CommandRefusal> {
        let pace = self.pace()?;
        let names = self.questions()?;
        let policy = ConnectionPolicy {
            takes_first_end: self.connection == ConnectionArgument::Cold,
            idle_timeout: self.idle_timeout_ms.map(Duration::from_millis),
            ..ConnectionPolicy::default()
        };
        let deadline = Duration::from_millis(self.timeout_ms);
        let mut targets = Vec::new();
        for url in &self.resolver {
            let client = self.client.client_or_missing(url, self.edns.options())?;
            targets.push(Arc::new(QueriedResolver::new(client, policy, deadline)));
        }
        Ok(QueryRounds {
            targets,
            names,
            count: self.count,
            pauses: PauseSequence::new(
                Duration::from_millis(self.interval_ms),
                self.intervals,
                self.seed.unwrap_or(1),
            ),
            shuffle: self.seed.map(ResolverShuffle::new),
            pace,
            is_cold: self.connection == ConnectionArgument::Cold,
        })
    }

    fn pace(&self) -> Result<QueryPacing, CommandRefusal> {
        let is_cold = self.connection == ConnectionArgument::Cold;
        if is_cold && self.outstanding > 1 {
            return Err(CommandRefusal::usage(
                "have --outstanding queries on a cold connection, which has one; \
                 give --connection warm",
            ));
        }
        if is_cold && self.idle_timeout_ms.is_some() {
            return Err(CommandRefusal::usage(
                "keep a cold connection until --idle-timeout-ms; give --connection warm",
            ));
        }
        if let Some(count) = self.questions_per_message {
            return Ok(QueryPacing::InMessages {
                count: usize::from(count),
                one_by_one: self.one_by_one,
            });
        }
        match (self.together, self.outstanding) {
            (true, 1) => Ok(QueryPacing::Together),
            (true, _) => Err(CommandRefusal::usage(
                "ask --together and keep more --outstanding; give one of them",
            )),
            (false, 1) => Ok(QueryPacing::OneByOne),
            (false, most) => Ok(QueryPacing::Outstanding(usize::from(most))),
        }
    }

    fn questions(&self) -> Result<Vec<Vec<Arc<Question>>>, CommandRefusal> {
        let of_name = |name: &String| {
            let types = self.record_type.iter();
            types
                .map(|record_type| self.question(name, record_type).map(Arc::new))
                .collect()
        };
        self.name.iter().map(of_name).collect()
    }

    fn question(&self, name: &str, record_type: &str) -> Result<Question, CommandRefusal> {
        let question = Question::parse(name, record_type);
        let question = question.and_then(|question| question.with_class(&self.class));
        let mut question = question.map_err(CommandRefusal::usage)?;
        question.dnssec_ok = self.dnssec;
        Ok(question)
    }
}
