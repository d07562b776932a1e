//! `resolab-core fetch-names`: fetches a document and the addresses of the names in the document,
//! and writes a record per fetch. Not for: the fetch itself; see `resolab_fetch::fetch_names`.

use crate::fetching_arguments::FetchingArguments;
use clap::ValueEnum;
use resolab_dns::ResolverAddress;
use resolab_fetch::fetch::PageAddress;
use resolab_fetch::fetch_names::{FetchNamesClient, FetchNamesError, FetchNamesOptions};
use resolab_record::{CoalescingMode, NameAnnouncement, Record};
use resolab_terminal::command_refusal::CommandRefusal;
use resolab_terminal::output;
use resolab_transport::clock::monotonic_ns;
use resolab_transport::exact_timer::wait_for;
use std::process::ExitCode;
use std::time::Duration;

/// An announcement of names, as typed.
#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
enum AnnouncementArgument {
    /// No announcement: names are queried when found in the received part of the document.
    Document,
    /// A 103 before the document, with `Link: <https://NAME>; rel=dns-prefetch`.
    EarlyHints,
    /// Key 65400 of the HTTPS record of the document's own name.
    HttpsRecord,
    /// DoH responses pushed with the document; needs --mode shared_connection.
    ServerPush,
}

/// A connection mode, as typed.
#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
enum DocumentConnectionArgument {
    /// The document on a connection to the document's server.
    Separate,
    /// The document on the resolver's connection. The connection's certificate and address must
    /// fit.
    SharedConnection,
}

/// The arguments of fetches of documents and names.
#[derive(clap::Args)]
pub struct Arguments {
    /// Source of names announced before the document.
    #[arg(long, value_enum, default_value = "document")]
    announcement: AnnouncementArgument,
    /// Connection of the document.
    #[arg(long, value_enum, default_value = "separate")]
    mode: DocumentConnectionArgument,
    #[command(flatten)]
    fetching: FetchingArguments,
    /// Resolver: https://NAME/PATH. Its connection is open before the clock starts.
    #[arg(long, value_name = "URL")]
    resolver: ResolverAddress,
    /// Address of the document.
    #[arg(value_name = "https://NAME/PATH")]
    document: PageAddress,
}

/// Fetches, and writes a record per fetch.
pub fn run(arguments: Arguments) -> ExitCode {
    let (count, interval) = (arguments.fetching.count, arguments.fetching.interval());
    let deadline = arguments.fetching.deadline();
    let fetched = arguments
        .prepare()
        .and_then(|client| fetch_all(&client, count, interval, deadline));
    match fetched {
        Ok(()) => ExitCode::SUCCESS,
        Err(refusal) => refusal.exit(),
    }
}

fn fetch_all(
    client: &FetchNamesClient,
    count: u64,
    interval: Duration,
    deadline: Duration,
) -> Result<(), CommandRefusal> {
    let start = output::start_record("fetch_names", monotonic_ns());
    output::write_record(&start).map_err(CommandRefusal::unwritten)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CommandRefusal::internal(format_args!("start the runtime: {error}")))?;
    let all = async {
        for sequence in 0..count {
            if sequence > 0 && !interval.is_zero() {
                wait_for(interval).await;
            }
            let fetched = client.fetch_once(sequence, deadline).await;
            output::write_record(&Record::FetchNames(Box::new(fetched)))?;
        }
        Ok(())
    };
    runtime.block_on(all).map_err(CommandRefusal::unwritten)
}

impl Arguments {
    /// Prepares everything with a chance to fail or to take time before a clock starts.
    fn prepare(self) -> Result<FetchNamesClient, CommandRefusal> {
        let resolver_at = self.fetching.locate(&self.resolver)?;
        let options = FetchNamesOptions {
            announcement: match self.announcement {
                AnnouncementArgument::Document => NameAnnouncement::Document,
                AnnouncementArgument::EarlyHints => NameAnnouncement::EarlyHints,
                AnnouncementArgument::HttpsRecord => NameAnnouncement::HttpsRecord,
                AnnouncementArgument::ServerPush => NameAnnouncement::ServerPush,
            },
            mode: match self.mode {
                DocumentConnectionArgument::Separate => CoalescingMode::Separate,
                DocumentConnectionArgument::SharedConnection => CoalescingMode::SharedConnection,
            },
            groups: self.fetching.groups.groups.clone(),
            edns: self.fetching.edns(),
            ca_file: self.fetching.ca,
        };
        FetchNamesClient::new(self.resolver, resolver_at, self.document, options).map_err(|error| {
            match error {
                FetchNamesError::Unsupported { .. } => CommandRefusal::unsupported(error),
                FetchNamesError::Question(_) => CommandRefusal::usage(error),
                FetchNamesError::Client(_) => CommandRefusal::configuration(error),
            }
        })
    }
}
