//! `resolab-core ping`: round trips to an address or a resolver, as a record. Not for: measuring;
//! see `resolab_transport::ping`.

use resolab_dns::bootstrap::GivenAddresses;
use resolab_dns::{ResolverAddress, ZonedAddress};
use resolab_record::{DnsTransport, Record};
use resolab_terminal::command_refusal::CommandRefusal;
use resolab_terminal::output;
use resolab_transport::clock::monotonic_ns;
use resolab_transport::ping::{PingOrder, PingTarget, ping};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

/// The usual ports of resolvers, over any transport.
const USUAL_WAYS: [PingTarget; 5] = [
    PingTarget::Tcp(443),
    PingTarget::Tcp(853),
    PingTarget::Tcp(53),
    PingTarget::Quic(443),
    PingTarget::Quic(853),
];

/// The arguments of a ping.
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("target").required(true).multiple(true))]
pub struct Arguments {
    /// Address to ping; default: the address of the resolver.
    #[arg(group = "target")]
    address: Option<ZonedAddress>,
    /// Resolver with the port to try instead of 443, 853 and 53 when ICMP fails; URL as in query
    /// --resolver.
    #[arg(long, value_name = "URL", group = "target")]
    resolver: Option<ResolverAddress>,
    /// Methods to try, in this order, instead of all.
    #[arg(long, value_enum, value_name = "METHOD", value_delimiter = ',')]
    method: Vec<PingMethodArgument>,
    /// Number of pings to send.
    #[arg(long, value_name = "N", default_value_t = 5,
          value_parser = clap::value_parser!(u16).range(1..=1000))]
    count: u16,
    /// Time limit of each ping.
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 1_000,
          value_parser = clap::value_parser!(u64).range(1..=60_000))]
    timeout_ms: u64,
    /// Time from the end of a ping to the next.
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 200,
          value_parser = clap::value_parser!(u64).range(0..=60_000))]
    pause_ms: u64,
}

/// A ping method, as typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum PingMethodArgument {
    /// ICMP echo requests and replies.
    Icmp,
    /// TCP connections to a port.
    Tcp,
    /// QUIC version negotiation with the server.
    Quic,
}

/// Pings, writes the record and ends.
pub fn run(arguments: &Arguments) -> ExitCode {
    let address = match address(arguments) {
        Ok(address) => address,
        Err(message) => {
            return output::fail(output::EXIT_CONFIGURATION, format!("failed to {message}"));
        }
    };
    let targets = choose_targets(arguments);
    if targets.is_empty() {
        let what = "ping: the resolver's transport has none of the ways of --method; leave it out";
        return CommandRefusal::usage(what).exit();
    }
    let start = output::start_record("ping", monotonic_ns());
    let mut record = ping(&PingOrder {
        address: address.ip(),
        scope_id: scope_id(address),
        targets,
        count: arguments.count.into(),
        timeout: Duration::from_millis(arguments.timeout_ms),
        pause: Duration::from_millis(arguments.pause_ms),
    });
    record.resolver = arguments.resolver.as_ref().map(|given| given.url.clone());
    let written =
        output::write_record(&start).and_then(|()| output::write_record(&Record::Ping(record)));
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => CommandRefusal::unwritten(error).exit(),
    }
}

fn address(arguments: &Arguments) -> Result<SocketAddr, String> {
    let found = match (&arguments.address, &arguments.resolver) {
        (Some(address), _) => address.with_port(0),
        (None, Some(resolver)) => GivenAddresses::default()
            .locate(resolver)
            .map(|(address, _)| address),
        (None, None) => return Err("ping: nobody was named".to_owned()),
    };
    found.map_err(|error| error.to_string())
}

fn scope_id(address: SocketAddr) -> u32 {
    match address {
        SocketAddr::V4(_) => 0,
        SocketAddr::V6(address) => address.scope_id(),
    }
}

fn choose_targets(arguments: &Arguments) -> Vec<PingTarget> {
    let usual = match &arguments.resolver {
        None => USUAL_WAYS.to_vec(),
        Some(resolver) => vec![resolver_target(resolver)],
    };
    let all: Vec<PingTarget> = [PingTarget::Icmp].into_iter().chain(usual).collect();
    if arguments.method.is_empty() {
        return all;
    }
    let of = |wanted| all.iter().filter(move |target| method(**target) == wanted);
    arguments
        .method
        .iter()
        .copied()
        .flat_map(of)
        .copied()
        .collect()
}

/// Returns the method of the resolver's transport only: other ports of the resolver are unknown.
fn resolver_target(resolver: &ResolverAddress) -> PingTarget {
    match resolver.transport {
        DnsTransport::Doudp | DnsTransport::Dotcp | DnsTransport::Dot | DnsTransport::Doh => {
            PingTarget::Tcp(resolver.port)
        }
        DnsTransport::Doh3 | DnsTransport::Doq => PingTarget::Quic(resolver.port),
    }
}

fn method(target: PingTarget) -> PingMethodArgument {
    match target {
        PingTarget::Icmp => PingMethodArgument::Icmp,
        PingTarget::Tcp(_) => PingMethodArgument::Tcp,
        PingTarget::Quic(_) => PingMethodArgument::Quic,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct PingCommandLine {
        #[command(flatten)]
        ping: Arguments,
    }

    impl std::fmt::Debug for Arguments {
        fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            formatter.write_str("Arguments")
        }
    }

    fn read(typed: &str) -> Vec<PingTarget> {
        let typed = ["ping"].into_iter().chain(typed.split_whitespace());
        choose_targets(&PingCommandLine::try_parse_from(typed).unwrap().ping)
    }

    #[test]
    fn a_resolver_is_tried_at_its_own_port_only() {
        for (typed, expected) in [
            ("--resolver quic://192.0.2.1:8853", PingTarget::Quic(8853)),
            ("--resolver h3://192.0.2.1", PingTarget::Quic(443)),
            (
                "192.0.2.1 --resolver tls://dns.example",
                PingTarget::Tcp(853),
            ),
            ("--resolver 192.0.2.1", PingTarget::Tcp(53)),
        ] {
            assert_eq!(read(typed), [PingTarget::Icmp, expected], "{typed}");
        }
    }

    #[test]
    fn methods_are_tried_in_the_order_given() {
        assert_eq!(read("192.0.2.1").first(), Some(&PingTarget::Icmp));
        let tcp = [443, 853, 53].map(PingTarget::Tcp);
        assert_eq!(read("192.0.2.1 --method tcp"), tcp);
        let two = read("192.0.2.1 --method quic,icmp");
        assert_eq!(
            two,
            [
                PingTarget::Quic(443),
                PingTarget::Quic(853),
                PingTarget::Icmp
            ]
        );
    }

    #[test]
    fn an_address_of_one_link_keeps_its_zone() {
        let lo = nix::net::if_::if_nametoindex("lo").unwrap();
        for typed in [
            "--resolver fe80::1%lo",
            "--resolver quic://[fe80::1%25lo]",
            "fe80::1%lo",
        ] {
            let words = ["ping"].into_iter().chain(typed.split_whitespace());
            let arguments = PingCommandLine::try_parse_from(words).unwrap().ping;
            let address = address(&arguments).unwrap();
            assert_eq!(address.ip().to_string(), "fe80::1", "{typed}");
            assert_eq!(scope_id(address), lo, "{typed}");
        }
        for typed in ["fe80::1", "--resolver fe80::1", "fe80::1%nowhere"] {
            let words = ["ping"].into_iter().chain(typed.split_whitespace());
            let arguments = PingCommandLine::try_parse_from(words).unwrap().ping;
            assert!(address(&arguments).is_err(), "{typed}");
        }
        assert!(PingCommandLine::try_parse_from(["ping", "192.0.2.1%lo"]).is_err());
    }

    #[test]
    fn somebody_must_be_named() {
        assert!(PingCommandLine::try_parse_from(["ping"]).is_err());
    }
}
