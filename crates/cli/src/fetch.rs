//! `resolab-core fetch`: fetches a name and a page together, and writes a record per fetch. Not
//! for: the fetch itself; see `resolab_fetch::fetch`.

use crate::fetching_arguments::FetchingArguments;
use clap::ValueEnum;
use resolab_dns::ResolverAddress;
use resolab_fetch::fetch::{FetchClient, FetchError, FetchOptions, PageAddress};
use resolab_record::{CoalescingMode, Record};
use resolab_terminal::arguments::client::HandshakeArgument;
use resolab_terminal::command_refusal::CommandRefusal;
use resolab_terminal::output;
use resolab_transport::clock::monotonic_ns;
use resolab_transport::exact_timer::wait_for;
use std::process::ExitCode;
use std::time::Duration;

/// A connection mode, as typed.
#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
enum FetchModeArgument {
    /// The query on a connection to the resolver, the page on a connection to the page's server.
    Separate,
    /// DoH3 and the page on one HTTP/3 connection.
    SharedConnection,
    /// DoQ and HTTP/3 on one connection under the private ALPN.
    PrivateAlpn,
}

/// The arguments of fetches.
#[derive(clap::Args)]
pub struct Arguments {
    /// Sharing of connections between query and page.
    #[arg(long, value_enum)]
    mode: FetchModeArgument,
    /// Send the page's request in the same flight as the query, if the connection's certificate
    /// covers its host. The response counts only if the answer agrees (the connection's address, or
    /// an ORIGIN frame). Needs a shared connection.
    #[arg(long)]
    speculative: bool,
    /// Requested handshake of every connection; the record has the actual handshake. Tickets are
    /// fetched in this process.
    #[arg(long, value_enum, default_value = "full")]
    handshake: HandshakeArgument,
    #[command(flatten)]
    fetching: FetchingArguments,
    /// Resolver: h3://, or quic:// with --mode separate.
    #[arg(long, value_name = "URL")]
    resolver: ResolverAddress,
    /// Reconnect without the server's address token (RFC 9000 section 8.1.3).
    #[arg(long)]
    no_address_token: bool,
    /// Address of the page.
    #[arg(value_name = "https://NAME/PATH")]
    page: PageAddress,
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
    client: &FetchClient,
    count: u64,
    interval: Duration,
    deadline: Duration,
) -> Result<(), CommandRefusal> {
    output::write_record(&output::start_record("fetch", monotonic_ns()))
        .map_err(CommandRefusal::unwritten)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CommandRefusal::internal(format_args!("start the runtime: {error}")))?;
    let all = async {
        for sequence in 0..count {
            if sequence > 0 && !interval.is_zero() {
                wait_for(interval).await;
            }
            if let Some(primed) = client.prime(sequence, deadline).await {
                output::write_record(&Record::Fetch(Box::new(primed)))?;
                wait_for(interval).await;
            }
            let fetched = client.fetch_once(sequence, deadline).await;
            output::write_record(&Record::Fetch(Box::new(fetched)))?;
        }
        Ok(())
    };
    runtime.block_on(all).map_err(CommandRefusal::unwritten)
}

impl Arguments {
    /// Prepares everything with a chance to fail or to take time before a clock starts.
    fn prepare(self) -> Result<FetchClient, CommandRefusal> {
        let resolver_at = self.fetching.locate(&self.resolver)?;
        let options = FetchOptions {
            mode: match self.mode {
                FetchModeArgument::Separate => CoalescingMode::Separate,
                FetchModeArgument::SharedConnection => CoalescingMode::SharedConnection,
                FetchModeArgument::PrivateAlpn => CoalescingMode::PrivateAlpn,
            },
            is_speculative: self.speculative,
            handshake_mode: self.handshake.into(),
            groups: self.fetching.groups.groups.clone(),
            keeps_address_tokens: !self.no_address_token,
            edns: self.fetching.edns(),
            ca_file: self.fetching.ca,
        };
        FetchClient::new(self.resolver, resolver_at, self.page, options).map_err(
            |error| match error {
                FetchError::Unsupported { .. } => CommandRefusal::unsupported(error),
                FetchError::Question(_) => CommandRefusal::usage(error),
                FetchError::Client(_) => CommandRefusal::configuration(error),
            },
        )
    }
}
