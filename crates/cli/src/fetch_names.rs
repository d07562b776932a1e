//! `resolab-core fetch-names`: fetches a document and the addresses of the names in it, and writes one
//! record for each time.
//! Not for: what that is; that is `resolab_dns::fetch_names`.

use crate::client_arguments::Refusal;
use crate::group_arguments::GroupArguments;
use crate::output;
use clap::ValueEnum;
use resolab_dns::bootstrap::GivenAddresses;
use resolab_dns::fetch::PageAddress;
use resolab_dns::fetch_names::{FetchNamesClient, FetchNamesError, FetchNamesOptions};
use resolab_dns::{EdnsOptions, Padding, ResolverAddress};
use resolab_record::{CoalescingMode, NameAnnouncement, Record};
use resolab_transport::clock::monotonic_ns;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// An announcement as typed.
#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
enum AnnouncementArgument {
    /// None: names are asked for when they stand in what has come of the document.
    Document,
    /// A 103 before the document, with `Link: <https://NAME>; rel=dns-prefetch`.
    EarlyHints,
    /// Key 65400 of the HTTPS record of the document's own name.
    HttpsRecord,
    /// DoH responses pushed with the document; needs --mode shared_connection.
    ServerPush,
}

/// A mode as typed.
#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
enum ModeArgument {
    /// The document on a connection to its own server.
    Separate,
    /// The document on the resolver's connection, which its certificate must cover and its address be.
    SharedConnection,
}

/// Arguments of fetches of documents and names.
#[derive(clap::Args)]
pub struct Arguments {
    /// What is listened to of the names before the document says them.
    #[arg(long, value_enum, default_value = "document")]
    announcement: AnnouncementArgument,
    /// What the document comes over.
    #[arg(long, value_enum, default_value = "separate")]
    mode: ModeArgument,
    #[command(flatten)]
    groups: GroupArguments,
    /// Resolver: https://NAME/PATH. Its connection is open before the clock starts.
    #[arg(long, value_name = "URL")]
    resolver: ResolverAddress,
    /// PEM file with the certificate authorities to trust, instead of the system's.
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Address of the resolver's host name, instead of asking the system.
    #[arg(long, value_name = "HOST=ADDRESS")]
    resolve: Vec<String>,
    /// Do not pad queries.
    #[arg(long)]
    no_padding: bool,
    /// Times to fetch.
    #[arg(long, default_value_t = 1)]
    count: u64,
    /// Pause between fetches.
    #[arg(long, default_value_t = 0, value_name = "MILLISECONDS")]
    interval_ms: u64,
    /// Deadline of each fetch.
    #[arg(long, default_value_t = 10_000, value_name = "MILLISECONDS")]
    timeout_ms: u64,
    /// The document.
    #[arg(value_name = "https://NAME/PATH")]
    document: PageAddress,
}

/// Fetch, and write a record of each time.
pub fn run(arguments: Arguments) -> ExitCode {
    let (count, interval) = (arguments.count, arguments.interval_ms);
    let deadline = Duration::from_millis(arguments.timeout_ms);
    let fetched = arguments
        .prepare()
        .and_then(|client| fetch_all(&client, count, Duration::from_millis(interval), deadline));
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
) -> Result<(), Refusal> {
    let broken = |error: io::Error| Refusal::internal(format_args!("write a record: {error}"));
    let start = output::start_record("fetch_names", monotonic_ns());
    output::write_record(&start).map_err(broken)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Refusal::internal(format_args!("start the runtime: {error}")))?;
    let all = async {
        for sequence in 0..count {
            if sequence > 0 && !interval.is_zero() {
                tokio::time::sleep(interval).await;
            }
            let fetched = client.fetch_once(sequence, deadline).await;
            output::write_record(&Record::FetchNames(Box::new(fetched)))?;
        }
        Ok(())
    };
    runtime.block_on(all).map_err(broken)
}

impl Arguments {
    /// Everything that may fail or take its time before a clock starts.
    fn prepare(self) -> Result<FetchNamesClient, Refusal> {
        let given = GivenAddresses::parse(&self.resolve).map_err(Refusal::usage)?;
        let (resolver_at, _) = given
            .locate(&self.resolver)
            .map_err(Refusal::configuration)?;
        let default = EdnsOptions::default();
        let padding = if self.no_padding {
            Padding::None
        } else {
            default.padding
        };
        let options = FetchNamesOptions {
            announcement: match self.announcement {
                AnnouncementArgument::Document => NameAnnouncement::Document,
                AnnouncementArgument::EarlyHints => NameAnnouncement::EarlyHints,
                AnnouncementArgument::HttpsRecord => NameAnnouncement::HttpsRecord,
                AnnouncementArgument::ServerPush => NameAnnouncement::ServerPush,
            },
            mode: match self.mode {
                ModeArgument::Separate => CoalescingMode::Separate,
                ModeArgument::SharedConnection => CoalescingMode::SharedConnection,
            },
            groups: self.groups.groups.clone(),
            edns: EdnsOptions { padding, ..default },
            ca_file: self.ca,
        };
        FetchNamesClient::new(self.resolver, resolver_at, self.document, options).map_err(|error| {
            match error {
                FetchNamesError::Unsupported { .. } => Refusal::unsupported(error),
                FetchNamesError::Question(_) => Refusal::usage(error),
                FetchNamesError::Client(_) => Refusal::configuration(error),
            }
        })
    }
}
