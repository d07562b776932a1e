//! The arguments of `resolab-load`, and their conversion to a plan. Not for: carrying out the plan.

use clap::{Parser, ValueEnum};
use resolab_dns::bootstrap::GivenAddresses;
use resolab_dns::client::tls_of;
use resolab_dns::{ClientOptions, EdnsOptions, Padding, ResolverAddress};
use resolab_load::{
    ArrivalProcess, Condition, GatheringRule, LONGEST_NS, LoadPacing, LoadPlan, QueryTemplates,
    SLOTS_MAX, SendLimit,
};
use resolab_record::DnsTransport;
use resolab_terminal::VERSION;
use resolab_terminal::arguments::client::{DohMethodArgument, KEY_LOG_HELP, warn_once};
use resolab_terminal::arguments::key_exchange_groups::GroupArguments;
use resolab_terminal::command_refusal::CommandRefusal;
use resolab_transport::client::Sha256;
use std::net::Ipv6Addr;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

const DEFAULT_CONNECTIONS_PER_THREAD: u32 = 10;
const DEFAULT_OUTSTANDING: u32 = 100;
/// The most connections. Each connection is a socket; no system gives a process more.
const CONNECTIONS_MAX: i64 = 1_000_000;
/// The range of rates: from about one query per day to more than any network takes.
const RATES_PER_S: RangeInclusive<f64> = 1e-5..=1e9;
/// The range of times, in seconds. Twice the longest time, in ns, still fits into 64 bits.
const TIMES_S: RangeInclusive<f64> = 1e-3..=1e9;
const DEFAULT_DURATION: Duration = Duration::from_secs(10);

/// Puts load on a resolver, in a closed or an open loop, over any transport.
///
/// Standard output is text, or JSON Lines with --json; standard error is for people. Exit codes: 0
/// done, 1 a condition of --fail was met, 2 usage, 3 bad configuration, 4 the machine lacks
/// something, 5 the resolver was gone in mid-run, or not there, 70 internal, 127 unsupported
/// combination, 141 the reader of standard output has gone.
#[allow(clippy::struct_excessive_bools)] // Each is a switch of its own.
#[derive(Debug, Parser)]
#[command(name = "resolab-load", version = VERSION, after_help = KEY_LOG_HELP)]
pub struct Arguments {
    /// Resolver: udp://, tcp://, tls://, https://, h3://, quic://, a DNS stamp (sdns://), or an
    /// address.
    #[arg(short, long, value_name = "URL", required_unless_present = "server")]
    resolver: Option<ResolverAddress>,
    /// Host name or address of the resolver in dnsperf's form, with --port and --mode, instead of
    /// --resolver.
    #[arg(short, long, value_name = "HOST", conflicts_with = "resolver")]
    server: Option<String>,
    /// Port of --server; the transport's default unless given.
    #[arg(short, long, requires = "server", conflicts_with = "resolver", value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
    /// Transport to use with --server.
    #[arg(
        short,
        long,
        requires = "server",
        conflicts_with = "resolver",
        value_enum,
        default_value = "udp"
    )]
    mode: ServerMode,
    /// File of queries, one per line: NAME, NAME TYPE, or RANK,NAME; # and ; begin comments; -:
    /// standard input. Queries are sent in order and repeated.
    #[arg(
        short = 'd',
        long,
        value_name = "FILE",
        required_unless_present = "name"
    )]
    names: Option<PathBuf>,
    /// Names to query with type A, instead of a file.
    #[arg(value_name = "NAME", conflicts_with = "names")]
    name: Vec<String>,
    /// Limit of queries without an answer at any moment. In a closed loop 100; with --rate a
    /// distant limit unless given, and reaching the limit delays sending.
    #[arg(short = 'q', long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    outstanding: Option<u32>,
    /// Connections, or sockets for DoUDP, kept open; 10 a thread, or as many as --outstanding.
    #[arg(short, long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=CONNECTIONS_MAX))]
    connections: Option<u32>,
    /// Threads sharing the load.
    #[arg(short = 'T', long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    threads: u32,
    /// Open loop: queries sent per second, independent of the answers.
    #[arg(short = 'Q', long, value_name = "QUERIES/S", value_parser = rate)]
    rate: Option<f64>,
    /// Open loop with exponentially distributed distances instead of equal distances.
    #[arg(long, requires = "rate")]
    poisson: bool,
    /// Seed of --poisson, for repeatable distances.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Duration of sending; 10 unless --count is given.
    #[arg(short = 'l', long, value_name = "SECONDS", value_parser = seconds, conflicts_with = "count")]
    duration: Option<f64>,
    /// Number of queries to send.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// Time limit for an answer, and for a connection.
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 5000, value_parser = clap::value_parser!(u64).range(1..=LONGEST_NS / 1_000_000))]
    timeout_ms: u64,
    /// Closed loop: time between the first answer and reading all answers; saves processor time per
    /// query. auto: up to 100, by the response times; 0: never.
    #[arg(long, value_name = "auto|MICROSECONDS", default_value = "auto", value_parser = gathering)]
    coalesce: GatheringRule,
    /// DoUDP: hand queries to the kernel in trains (UDP_SEGMENT). Recorded. Not for measurements of
    /// a path without segmentation, like loopback.
    #[arg(long)]
    gso: bool,
    /// Wait for the next send by spinning: a whole core for less lateness.
    #[arg(long)]
    spin: bool,
    /// Interval of progress reports.
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = seconds)]
    pub(super) interval: f64,
    #[command(flatten)]
    groups: GroupArguments,
    /// PEM file with the certificate authorities to trust, instead of the system's.
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Required public key of the resolver's certificate (see query). May be given several times.
    #[arg(long, value_name = "sha256/BASE64")]
    pin: Vec<Sha256>,
    /// Do not check certificates; with --pin, check the public key only.
    #[arg(long)]
    insecure: bool,
    /// Address of the resolver's host name, instead of asking the system.
    #[arg(long, value_name = "HOST=ADDRESS")]
    resolve: Vec<String>,
    /// HTTP method of DoH queries: GET like dnsperf; the default of query and stub is POST.
    #[arg(long, value_enum, default_value = "get")]
    doh_method: DohMethodArgument,
    /// Queries with EDNS(0), padded on encrypted transports (RFC 8467). Without --edns, queries
    /// have no EDNS(0), like dnsperf.
    #[arg(long)]
    edns: bool,
    /// EDNS(0) without padding of queries.
    #[arg(long, requires = "edns")]
    no_padding: bool,
    /// Records instead of text: start, load_progress and load, one JSON object per line.
    #[arg(long)]
    pub(super) json: bool,
    /// A histogram of the response times (records always have it).
    #[arg(long)]
    pub(super) histogram: bool,
    /// Exit with 1 if the results meet the condition, e.g. lost>0.1%, p99>5ms, rate<40000,
    /// servfail>0, errors>0, late_p99>150us, rate_error>0.1%. May be given several times.
    #[arg(long, value_name = "CONDITION")]
    pub(super) fail: Vec<Condition>,
}

/// The transport names of dnsperf, and names for transports missing in dnsperf.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum ServerMode {
    /// Plain DNS over UDP; default port 53.
    Udp,
    /// Plain DNS over TCP; default port 53.
    Tcp,
    /// DNS over TLS; default port 853.
    Dot,
    /// DNS over HTTP/2, path /dns-query.
    Doh,
    /// DNS over HTTP/3, path /dns-query.
    Doh3,
    /// DNS over QUIC; default port 853.
    Doq,
}

impl ServerMode {
    fn scheme(self) -> &'static str {
        match self {
            Self::Udp => "udp",
            Self::Tcp => "tcp",
            Self::Dot => "tls",
            Self::Doh => "https",
            Self::Doh3 => "h3",
            Self::Doq => "quic",
        }
    }
}

fn rate(text: &str) -> Result<f64, String> {
    number_within(text, &RATES_PER_S)
}

fn seconds(text: &str) -> Result<f64, String> {
    number_within(text, &TIMES_S)
}

fn number_within(text: &str, range: &RangeInclusive<f64>) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if range.contains(&number) => Ok(number),
        _ => Err(format!(
            "give a number from {} to {}",
            range.start(),
            range.end()
        )),
    }
}

fn gathering(text: &str) -> Result<GatheringRule, String> {
    if text == "auto" {
        return Ok(GatheringRule::Adaptive);
    }
    match text.parse() {
        Ok(micros @ 0..=100_000) => Ok(GatheringRule::Fixed(Duration::from_micros(micros))),
        _ => Err("give auto, or microseconds up to 100000".to_owned()),
    }
}

impl Arguments {
    /// Returns the plan; reads the names, and looks up the resolver's address if necessary.
    pub fn plan(&self) -> Result<LoadPlan, CommandRefusal> {
        let resolver = self.resolver()?;
        if self.gso && resolver.transport != DnsTransport::Doudp {
            return Err(CommandRefusal::unsupported(
                "use --gso with a stream or with QUIC",
            ));
        }
        let given = GivenAddresses::parse(&self.resolve).map_err(CommandRefusal::usage)?;
        let (resolver_address, _) = given
            .locate(&resolver)
            .map_err(CommandRefusal::configuration)?;
        let options = ClientOptions {
            groups: self.groups.groups.clone(),
            ca_file: self.ca.clone(),
            pins: self.pin.clone(),
            is_insecure: self.insecure,
            ..ClientOptions::default()
        };
        let (tls, certificate_checked) =
            tls_of(&resolver, &options).map_err(CommandRefusal::configuration)?;
        if certificate_checked == Some(false) {
            warn_once();
        }
        let names = match &self.names {
            Some(path) => QueryTemplates::read(path, self.edns_options(), tls.is_some()),
            None => {
                QueryTemplates::parse(&self.name.join("\n"), self.edns_options(), tls.is_some())
            }
        };
        let (connections, outstanding) = self.limits()?;
        Ok(LoadPlan {
            names: Arc::new(names.map_err(CommandRefusal::configuration)?),
            resolver,
            resolver_address,
            tls,
            certificate_checked,
            doh_method: self.doh_method.into(),
            threads: self.threads,
            connections,
            outstanding,
            pace: self.pace(),
            extent: self.extent(),
            timeout: Duration::from_millis(self.timeout_ms),
            gathering: self.coalesce,
            segmentation_offload: self.gso,
            spin: self.spin,
            seed: self.seed,
        })
    }

    /// Returns the resolver, from the URL or from dnsperf's options.
    fn resolver(&self) -> Result<ResolverAddress, CommandRefusal> {
        let Some(server) = &self.server else {
            // One of the two is required.
            return self
                .resolver
                .clone()
                .ok_or_else(|| CommandRefusal::usage("put load on no resolver"));
        };
        let host = match server.parse::<Ipv6Addr>() {
            Ok(address) => format!("[{address}]"),
            Err(_) => server.clone(),
        };
        let port = self.port.map_or(String::new(), |port| format!(":{port}"));
        let path = match self.mode {
            ServerMode::Doh | ServerMode::Doh3 => "/dns-query",
            ServerMode::Udp | ServerMode::Tcp | ServerMode::Dot | ServerMode::Doq => "",
        };
        let url = format!("{}://{host}{port}{path}", self.mode.scheme());
        url.parse().map_err(CommandRefusal::usage)
    }

    fn edns_options(&self) -> Option<EdnsOptions> {
        let padding = if self.no_padding {
            Padding::None
        } else {
            Padding::default()
        };
        self.edns.then(|| EdnsOptions {
            padding,
            ..EdnsOptions::default()
        })
    }

    fn pace(&self) -> LoadPacing {
        let arrivals = if self.poisson {
            ArrivalProcess::Poisson
        } else {
            ArrivalProcess::Constant
        };
        self.rate
            .map_or(LoadPacing::Closed, |rate_per_s| LoadPacing::Open {
                rate_per_s,
                arrivals,
            })
    }

    fn extent(&self) -> SendLimit {
        let duration = self
            .duration
            .map_or(DEFAULT_DURATION, Duration::from_secs_f64);
        self.count
            .map_or(SendLimit::Duration(duration), SendLimit::Count)
    }

    /// Returns the numbers of connections and outstanding queries. The shares of workers need at
    /// least one connection per thread and one query per connection.
    fn limits(&self) -> Result<(u32, u32), CommandRefusal> {
        let default = DEFAULT_CONNECTIONS_PER_THREAD * self.threads;
        let most = self.outstanding.unwrap_or(u32::MAX);
        let connections = self.connections.unwrap_or(default.min(most));
        let outstanding = match (self.outstanding, self.rate) {
            (Some(outstanding), _) => outstanding,
            (None, None) => DEFAULT_OUTSTANDING.max(connections),
            (None, Some(rate)) => {
                // Even if nothing is answered, until the timeout.
                let unanswered = rate * self.timeout_ms as f64 / 1e3;
                let room = f64::from(connections) * SLOTS_MAX as f64;
                (unanswered.min(room).ceil() as u32).max(connections)
            }
        };
        if connections < self.threads || outstanding < connections {
            return Err(CommandRefusal::usage(format_args!(
                "share {outstanding} outstanding queries over {connections} connections and {} threads: \
                 give --threads at most as many as --connections, and those at most as many as \
                 --outstanding",
                self.threads
            )));
        }
        Ok((connections, outstanding))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(typed: &str) -> Result<Arguments, clap::Error> {
        let words = "bench --resolver udp://127.0.0.1 --names /dev/null".split(' ');
        let typed = words.chain(typed.split_whitespace());
        Arguments::try_parse_from(typed)
    }

    fn limits(typed: &str) -> Option<(u32, u32)> {
        read(typed).unwrap().limits().ok()
    }

    #[test]
    fn connections_and_outstanding_follow_from_each_other() {
        assert_eq!(limits(""), Some((10, 100)));
        assert_eq!(limits("--outstanding 1"), Some((1, 1)));
        assert_eq!(limits("--outstanding 1000 --threads 2"), Some((20, 1000)));
        assert_eq!(limits("--connections 500"), Some((500, 500)));
        assert_eq!(limits("--rate 10 --timeout-ms 100"), Some((10, 10)));
        assert_eq!(limits("--rate 20000"), Some((10, 100_000)));
        assert_eq!(limits("--rate 1000000 --connections 1"), Some((1, 16_384)));
        assert_eq!(limits("--outstanding 5 --connections 6"), None);
        assert_eq!(limits("--threads 3 --connections 2"), None);
    }

    /// Checks the refusal of times below a nanosecond, and of times with more nanoseconds than 64
    /// bits hold.
    #[test]
    fn times_and_rates_are_what_a_clock_can_add() {
        for wrong in [
            "--interval 1e-10",
            "--interval nan",
            "--duration 1e10",
            "--duration 0",
            "--rate 1e-12",
            "--rate inf",
            "--timeout-ms 9223372036854775807",
            "--timeout-ms 600001",
            "--timeout-ms 0",
            "--connections 4294967295",
            "--threads 257",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        let longest = "--interval 1e9 --duration 1e9 --rate 1e-5 --timeout-ms 600000";
        let shortest = "--interval 0.001 --duration 0.001 --rate 1e9 --timeout-ms 1";
        for right in [longest, shortest] {
            assert!(read(right).unwrap().limits().is_ok(), "{right}");
        }
    }

    #[test]
    fn paces_extents_and_waits() {
        let plain = read("").unwrap();
        assert_eq!(plain.pace(), LoadPacing::Closed);
        assert_eq!(plain.extent(), SendLimit::Duration(DEFAULT_DURATION));
        assert_eq!(plain.coalesce, GatheringRule::Adaptive);
        let open = read("--rate 2.5 --poisson --duration 0.5 --coalesce 70").unwrap();
        let expected = LoadPacing::Open {
            rate_per_s: 2.5,
            arrivals: ArrivalProcess::Poisson,
        };
        assert_eq!(open.pace(), expected);
        assert_eq!(
            open.extent(),
            SendLimit::Duration(Duration::from_millis(500))
        );
        let fixed = GatheringRule::Fixed(Duration::from_micros(70));
        assert_eq!(open.coalesce, fixed);
        assert_eq!(read("--count 7").unwrap().extent(), SendLimit::Count(7));
    }

    #[test]
    fn letters_are_dnsperfs() {
        let typed = "bench -s 127.0.0.1 -p 5300 -m dot -d names -q 7 -c 3 -T 2 -Q 50 -l 4";
        let read = Arguments::try_parse_from(typed.split(' ')).unwrap();
        assert_eq!(read.names, Some(PathBuf::from("names")));
        let counts = (read.outstanding, read.connections, read.threads);
        assert_eq!(counts, (Some(7), Some(3), 2));
        assert_eq!((read.rate, read.duration), (Some(50.0), Some(4.0)));
        assert_eq!(read.resolver().ok().unwrap().url, "tls://127.0.0.1:5300");
        let of = |typed: &str| Arguments::try_parse_from(typed.split(' '));
        for (typed, url) in [
            ("bench -s dns.example a.test", "udp://dns.example"),
            (
                "bench -s ::1 -m doh -p 8443 a.test",
                "https://[::1]:8443/dns-query",
            ),
            ("bench -r quic://dns.example a.test", "quic://dns.example"),
        ] {
            assert_eq!(of(typed).unwrap().resolver().ok().unwrap().url, url);
        }
        assert!(of("bench a.test").is_err());
        assert!(of("bench -s ::1 -r udp://127.0.0.1 a.test").is_err());
        assert!(of("bench -r udp://127.0.0.1 -p 53 a.test").is_err());
    }

    #[test]
    fn names_stand_in_a_file_or_on_the_command_line() {
        let read = |typed: &str| Arguments::try_parse_from(typed.split(' '));
        let named = read("bench -r udp://127.0.0.1 a.test b.test").unwrap();
        assert_eq!(named.name, ["a.test", "b.test"]);
        let plan = named.plan().ok().unwrap();
        assert_eq!(plan.names.count(), 2);
        assert!(read("bench -r udp://127.0.0.1").is_err());
        assert!(read("bench -r udp://127.0.0.1 -d names a.test").is_err());
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for typed in [
            "--rate 0",
            "--rate -5",
            "--rate nan",
            "--poisson",
            "--count 5 --duration 1",
            "--coalesce sometimes",
            "--outstanding 0",
            "--no-padding",
            "--fail fast",
        ] {
            assert!(read(typed).is_err(), "{typed}");
        }
    }
}
