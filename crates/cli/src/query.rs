//! `resolab-core query`: asks resolvers for names and writes one record per query. Not for: what a
//! query is; that is `resolab_dns`.

use crate::client_arguments::{ClientArguments, Refusal};
use crate::edns_arguments::EdnsArguments;
use crate::output;
use clap::ValueEnum;
use resolab_dns::{Asking, DnsClient, Question, Slot};
use resolab_record::{QueryPurpose, QueryRecord, Record};
use resolab_transport::clock::monotonic_ns;
use std::io;
use std::process::ExitCode;
use std::time::Duration;

/// Whether queries share a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ConnectionArgument {
    /// A new connection for each query.
    Cold,
    /// One connection for all queries to a resolver; the first opens it.
    Warm,
}

/// Arguments.
#[derive(clap::Args)]
pub struct Arguments {
    /// Resolver: udp://, tcp://, tls://, https://, h3://, quic://, a DNS stamp (sdns://), or an
    /// address. Several are asked in turn.
    #[arg(long, required = true, value_name = "URL")]
    resolver: Vec<String>,
    /// Names to ask for.
    #[arg(required = true, value_name = "NAME")]
    name: Vec<String>,
    /// Record type to ask for.
    #[arg(long = "type", default_value = "A", value_name = "TYPE")]
    record_type: String,
    /// Ask for DNSSEC records (the DO bit, RFC 3225).
    #[arg(long)]
    dnssec: bool,
    /// Whether queries share a connection.
    #[arg(long, value_enum, default_value = "cold")]
    connection: ConnectionArgument,
    /// Rounds: each asks every resolver for every name.
    #[arg(long, default_value_t = 1)]
    count: u64,
    /// Pause between queries.
    #[arg(long, default_value_t = 0, value_name = "MILLISECONDS")]
    interval_ms: u64,
    /// Shuffle the order of resolvers for each name, by this seed.
    #[arg(long)]
    seed: Option<u64>,
    /// Deadline of each query, connection set-up and retries included.
    #[arg(long, default_value_t = 10_000, value_name = "MILLISECONDS")]
    timeout_ms: u64,
    #[command(flatten)]
    client: ClientArguments,
    #[command(flatten)]
    edns: EdnsArguments,
}

/// Run.
pub fn run(arguments: Arguments) -> ExitCode {
    match prepare(arguments).and_then(Rounds::run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(refusal) => refusal.exit(),
    }
}

/// One resolver, the connection to it if one is kept, and how many queries it got.
struct Target {
    client: DnsClient,
    slot: Slot,
    sequence: u64,
}

struct Rounds {
    arguments: Arguments,
    targets: Vec<Target>,
    questions: Vec<Question>,
}

/// Everything that may fail or take its time before a clock starts.
fn prepare(arguments: Arguments) -> Result<Rounds, Refusal> {
    let read = |name: &String| Question::parse(name, &arguments.record_type);
    let questions: Result<_, _> = arguments.name.iter().map(read).collect();
    let mut targets = Vec::new();
    for url in &arguments.resolver {
        let client = arguments.client.client(url, arguments.edns.options())?;
        targets.push(Target {
            client,
            slot: None,
            sequence: 0,
        });
    }
    let mut questions: Vec<Question> = questions.map_err(Refusal::usage)?;
    for question in &mut questions {
        question.dnssec_ok = arguments.dnssec;
    }
    Ok(Rounds {
        arguments,
        targets,
        questions,
    })
}

impl Rounds {
    fn run(self) -> Result<(), Refusal> {
        let broken = |error: io::Error| Refusal::internal(format_args!("write a record: {error}"));
        output::write_record(&output::start_record("query", monotonic_ns())).map_err(broken)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let runtime = runtime
            .map_err(|error| Refusal::internal(format_args!("start the runtime: {error}")))?;
        runtime.block_on(self.ask_all()).map_err(broken)
    }

    async fn ask_all(mut self) -> io::Result<()> {
        let arguments = &self.arguments;
        let mut shuffle = arguments.seed.map(Shuffle);
        let mut order: Vec<usize> = (0..self.targets.len()).collect();
        let mut is_first = true;
        for _ in 0..arguments.count {
            for question in &self.questions {
                if let Some(shuffle) = &mut shuffle {
                    shuffle.apply(&mut order);
                }
                for index in &order {
                    if !std::mem::take(&mut is_first) && arguments.interval_ms > 0 {
                        tokio::time::sleep(Duration::from_millis(arguments.interval_ms)).await;
                    }
                    self.targets[*index].ask(question, arguments).await?;
                }
            }
        }
        for target in &mut self.targets {
            target.close().await;
        }
        Ok(())
    }
}

impl Target {
    async fn ask(&mut self, question: &Question, arguments: &Arguments) -> io::Result<()> {
        let deadline = Duration::from_millis(arguments.timeout_ms);
        if self
            .slot
            .as_ref()
            .is_some_and(|(session, _)| session.is_closed())
        {
            self.close().await;
        }
        if self.slot.is_none()
            && let Some(record) = self.client.prime(question, self.sequence, deadline).await
        {
            write(record)?;
        }
        let asking = Asking::begin(&self.client, question);
        let outcome = asking.ask(&mut self.slot, deadline).await;
        let record = asking.record(&outcome, QueryPurpose::Measured, self.sequence, None);
        self.sequence += 1;
        write(record)?;
        if arguments.connection == ConnectionArgument::Cold || outcome.result.is_err() {
            self.close().await;
        }
        Ok(())
    }

    async fn close(&mut self) {
        if let Some((session, _)) = self.slot.take() {
            session.close().await;
        }
    }
}

fn write(record: QueryRecord) -> io::Result<()> {
    output::write_record(&Record::Query(Box::new(record)))
}

/// Fisher-Yates with SplitMix64: the same seed gives the same order on every machine.
struct Shuffle(u64);

impl Shuffle {
    fn apply(&mut self, order: &mut [usize]) {
        for last in (1..order.len()).rev() {
            let pick = (self.next() % (last as u64 + 1)) as usize;
            order.swap(last, pick);
        }
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_fixes_the_orders_and_they_are_all_reached() {
        let orders = |seed| {
            let (mut shuffle, mut order) = (Shuffle(seed), vec![0, 1, 2]);
            let mut next = || {
                shuffle.apply(&mut order);
                order.clone()
            };
            (0..60).map(|_| next()).collect::<Vec<_>>()
        };
        assert_eq!(orders(7), orders(7));
        assert_ne!(orders(7), orders(8));
        let distinct: std::collections::HashSet<_> = orders(7).into_iter().collect();
        assert_eq!(distinct.len(), 6);
    }
}
