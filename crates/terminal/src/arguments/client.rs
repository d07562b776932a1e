//! The arguments of commands with a resolver's client. Not for: querying.

use crate::arguments::durations::deadline_ms;
use crate::arguments::key_exchange_groups::GroupArguments;
use crate::command_refusal::CommandRefusal;
use crate::output;
use clap::ValueEnum;
use resolab_dns::bootstrap::GivenAddresses;
use resolab_dns::{
    ClientOptions, DnsClient, EdnsOptions, Padding, ResolverAddress, ResolverLocation,
    UdpRetryPolicy,
};
use resolab_record::{DnsTransport, DohMethod, HandshakeMode, KeyExchangeGroup};
use resolab_transport::client::{Sha256, Trust};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Once;
use std::time::Duration;

/// The environment variables of every resolver client, as help text.
pub const ENVIRONMENT_HELP: &str = "\
Environment:
  SSLKEYLOGFILE  file the TLS secrets of all connections are appended to
  QLOGDIR        folder for a qlog of each QUIC connection (JSON-SEQ); opening one takes its time";

/// The environment variables of a client without QUIC logs.
pub const KEY_LOG_HELP: &str = "\
Environment:
  SSLKEYLOGFILE  file the TLS secrets of all connections are appended to";

/// A handshake mode, as typed.
#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum HandshakeArgument {
    /// Without a ticket: a full handshake.
    Full,
    /// With a ticket, without early data.
    Resumed,
    /// With a ticket: the query itself is sent as early data.
    ZeroRtt,
}

impl From<HandshakeArgument> for HandshakeMode {
    fn from(typed: HandshakeArgument) -> Self {
        match typed {
            HandshakeArgument::Full => Self::Full,
            HandshakeArgument::Resumed => Self::Resumed,
            HandshakeArgument::ZeroRtt => Self::ZeroRtt,
        }
    }
}

/// A DoH method, as typed.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum DohMethodArgument {
    /// The query is in the body.
    Post,
    /// The query is in the URL.
    Get,
}

impl From<DohMethodArgument> for DohMethod {
    fn from(typed: DohMethodArgument) -> Self {
        match typed {
            DohMethodArgument::Post => Self::Post,
            DohMethodArgument::Get => Self::Get,
        }
    }
}

/// A retry policy, as typed.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum RetryArgument {
    /// Like the C library: 5 s a try, two tries.
    System,
    /// By the measured round trip times (RFC 6298), from 1 s, doubling, three tries.
    Modern,
    /// A single try, until the deadline.
    None,
}

/// The time of looking up a host name, as typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BootstrapArgument {
    /// Before any clock starts.
    Before,
    /// Inside the measured time.
    Inside,
}

/// The settings of a resolver's client.
#[derive(Debug, clap::Args)]
pub struct ClientArguments {
    /// Requested handshake; the record has the actual handshake. Tickets are fetched in this
    /// process.
    #[arg(long, value_enum, default_value = "full")]
    handshake: HandshakeArgument,
    #[command(flatten)]
    groups: GroupArguments,
    /// PEM file with the certificate authorities to trust, instead of the system's.
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Required public key of the resolver's certificate, beside a valid chain: sha256/ and the
    /// base64 of the SHA-256 of its SubjectPublicKeyInfo (RFC 7858). May be given several times.
    #[arg(long, value_name = "sha256/BASE64")]
    pin: Vec<String>,
    /// Do not check certificates; with --pin, check the public key only. Records contain the fact.
    #[arg(long)]
    insecure: bool,
    /// Address of a resolver's host name, instead of asking the system.
    #[arg(long, value_name = "HOST=ADDRESS")]
    resolve: Vec<String>,
    /// HTTP method of DoH queries; the default of resolab-load is GET, like dnsperf.
    #[arg(long, value_enum, default_value = "post")]
    doh_method: DohMethodArgument,
    /// TCP Fast Open for DoTCP, DoT and DoH: data in the SYN, once the resolver gave a cookie.
    #[arg(long)]
    tcp_fast_open: bool,
    /// Do not pad queries on encrypted transports.
    #[arg(long)]
    no_padding: bool,
    /// Retry policy of DoUDP; TCP and QUIC retransmit by the kernel's rules and RFC 9002.
    #[arg(long, value_enum, default_value = "system", conflicts_with_all = ["udp_timeout_ms", "udp_try_count"])]
    retry: RetryArgument,
    /// Time before DoUDP sends a query again, instead of a policy of --retry (5000 if only
    /// --udp-try-count is given).
    #[arg(long, value_name = "MILLISECONDS", value_parser = deadline_ms())]
    udp_timeout_ms: Option<u64>,
    /// Most tries of a DoUDP query, instead of a policy of --retry (2 if only --udp-timeout-ms is
    /// given).
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    udp_try_count: Option<u32>,
    /// Time of looking up the resolver's host name. Inside the measured time, the address is looked
    /// up for every new connection, and a failed look-up is a failed query.
    #[arg(long, value_enum, default_value = "before")]
    bootstrap: BootstrapArgument,
    /// Resolver for looking up the host name, over DoUDP: udp:// and an address. Default: the
    /// system's.
    #[arg(long, value_name = "URL")]
    bootstrap_resolver: Option<ResolverAddress>,
}

impl ClientArguments {
    /// Prepares a client for the resolver at `url`; asks the system for the address if necessary.
    /// `--no-padding` takes precedence over `edns`.
    pub fn client(&self, url: &str, edns: EdnsOptions) -> Result<DnsClient, CommandRefusal> {
        self.client_at(url, edns, |given, resolver| {
            let located = given.locate(resolver);
            Ok(located.map_err(CommandRefusal::configuration)?.into())
        })
    }

    /// Prepares a client among several resolvers. Without an address of the resolver, each query
    /// fails.
    pub fn client_or_missing(
        &self,
        url: &str,
        edns: EdnsOptions,
    ) -> Result<DnsClient, CommandRefusal> {
        self.client_at(url, edns, |given, resolver| {
            Ok(given.locate_or_missing(resolver))
        })
    }

    fn client_at(
        &self,
        url: &str,
        edns: EdnsOptions,
        before: impl Fn(&GivenAddresses, &ResolverAddress) -> Result<ResolverLocation, CommandRefusal>,
    ) -> Result<DnsClient, CommandRefusal> {
        let resolver: ResolverAddress = url.parse().map_err(CommandRefusal::usage)?;
        let options = self.options(edns)?;
        let given = GivenAddresses::parse(&self.resolve).map_err(CommandRefusal::usage)?;
        let location = match (self.bootstrap, self.bootstrap_address()?) {
            (BootstrapArgument::Inside, by) => given.locate_inside(&resolver, by),
            (BootstrapArgument::Before, None) => before(&given, &resolver)?,
            (BootstrapArgument::Before, Some(_)) => {
                let what = "use --bootstrap-resolver: it needs --bootstrap inside";
                return Err(CommandRefusal::usage(what));
            }
        };
        let client =
            DnsClient::new(resolver, location, &options).map_err(CommandRefusal::configuration)?;
        if client.certificate_checked == Some(false) {
            warn_once();
        }
        Ok(client)
    }

    /// Returns the trust for other servers than the resolver, from the resolver's options.
    pub fn trust(&self) -> Result<Trust, CommandRefusal> {
        let trust = Trust::from_authorities(self.ca.as_deref(), Vec::new(), Vec::new());
        trust.map_err(CommandRefusal::configuration)
    }

    /// Returns the key exchange groups to offer, the preferred group first.
    pub fn groups(&self) -> &[KeyExchangeGroup] {
        &self.groups.groups
    }

    fn bootstrap_address(&self) -> Result<Option<SocketAddr>, CommandRefusal> {
        let Some(resolver) = &self.bootstrap_resolver else {
            return Ok(None);
        };
        match (resolver.transport, resolver.ip()) {
            (DnsTransport::Doudp, Some(ip)) => Ok(Some(SocketAddr::new(ip, resolver.port))),
            _ => Err(CommandRefusal::usage(format_args!(
                "use {} as --bootstrap-resolver: give udp:// and an address",
                resolver.url
            ))),
        }
    }

    fn udp_retry_policy(&self) -> UdpRetryPolicy {
        if (self.udp_timeout_ms, self.udp_try_count) != (None, None) {
            return UdpRetryPolicy::Custom {
                timeout: Duration::from_millis(self.udp_timeout_ms.unwrap_or(5000)),
                try_count: self.udp_try_count.unwrap_or(2),
            };
        }
        match self.retry {
            RetryArgument::System => UdpRetryPolicy::System,
            RetryArgument::Modern => UdpRetryPolicy::Modern,
            RetryArgument::None => UdpRetryPolicy::None,
        }
    }

    fn options(&self, edns: EdnsOptions) -> Result<ClientOptions, CommandRefusal> {
        let padding = if self.no_padding {
            Padding::None
        } else {
            edns.padding
        };
        let read = |text: &String| text.parse::<Sha256>();
        let pins: Result<_, _> = self.pin.iter().map(read).collect();
        Ok(ClientOptions {
            handshake_mode: self.handshake.into(),
            groups: self.groups.groups.clone(),
            doh_method: self.doh_method.into(),
            udp_retry_policy: self.udp_retry_policy(),
            tcp_fast_open: self.tcp_fast_open,
            edns: EdnsOptions { padding, ..edns },
            ca_file: self.ca.clone(),
            pins: pins.map_err(CommandRefusal::usage)?,
            is_insecure: self.insecure,
        })
    }
}

/// Warns once per run about unchecked certificates, for any number of resolvers.
pub fn warn_once() {
    static WARNED: Once = Once::new();
    WARNED.call_once(|| {
        output::note(
            "warning: --insecure: certificates are not checked, anybody may be answering; \
             records say so in certificate_checked",
        );
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct ClientCommandLine {
        #[command(flatten)]
        client: ClientArguments,
    }

    fn read(typed: &str) -> Result<ClientArguments, clap::Error> {
        let typed = ["query"].into_iter().chain(typed.split_whitespace());
        ClientCommandLine::try_parse_from(typed).map(|line| line.client)
    }

    #[test]
    fn a_policy_has_a_name_and_numbers_make_one_of_their_own() {
        let custom = |timeout_ms, try_count| UdpRetryPolicy::Custom {
            timeout: Duration::from_millis(timeout_ms),
            try_count,
        };
        for (typed, expected) in [
            ("", UdpRetryPolicy::System),
            ("--retry modern", UdpRetryPolicy::Modern),
            ("--retry none", UdpRetryPolicy::None),
            ("--udp-timeout-ms 300", custom(300, 2)),
            ("--udp-try-count 3", custom(5000, 3)),
        ] {
            assert_eq!(read(typed).unwrap().udp_retry_policy(), expected, "{typed}");
        }
        for typed in [
            "--retry system --udp-try-count 3",
            "--udp-try-count 0",
            "--retry often",
        ] {
            assert!(read(typed).is_err(), "{typed}");
        }
    }

    #[test]
    fn a_host_name_is_looked_up_when_asked_to_and_with_whom() {
        let locate = |typed: &str| {
            let arguments = read(typed).unwrap();
            let client = arguments.client("udp://dns.invalid:5300", EdnsOptions::default());
            client
                .map(|client| client.location)
                .map_err(|refusal| refusal.code)
        };
        let by = |typed| match locate(typed) {
            Ok(ResolverLocation::Unknown(look_up)) => look_up.by,
            other => panic!("{typed}: {other:?}"),
        };
        assert_eq!(by("--bootstrap inside"), None);
        let resolver = "--bootstrap inside --bootstrap-resolver udp://127.0.0.1:5301";
        assert_eq!(by(resolver), Some("127.0.0.1:5301".parse().unwrap()));
        let given = locate("--bootstrap inside --resolve dns.invalid=192.0.2.1").unwrap();
        assert_eq!(given.known(), Some("192.0.2.1:5300".parse().unwrap()));
        for typed in [
            "--bootstrap-resolver udp://127.0.0.1",
            "--bootstrap inside --bootstrap-resolver tcp://127.0.0.1",
            "--bootstrap inside --bootstrap-resolver udp://dns.example",
        ] {
            assert_eq!(locate(typed).unwrap_err(), output::EXIT_USAGE, "{typed}");
        }
    }
}
