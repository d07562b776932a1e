"""The arguments of `resolab query`, and the arguments passed to resolab-core.

For: the help, and a table of passed options. Not for: checks done by resolab-core itself, with errors in one line.
"""

import argparse

DEFAULT_TIMEOUT_MS = 10_000
HANDSHAKES = ("full", "resumed", "zero_rtt")


def add_query(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> argparse.ArgumentParser:
    """Add the subcommand's parser."""
    query = commands.add_parser(
        "query",
        help="ask resolvers, over any transport, and show where the time went",
        description="Ask resolvers for names over any transport, and show the answers and where the time went, phase "
        "by phase. With --count the resolvers stand side by side, in pairs of queries asked in turn. Failed queries "
        "are rows, not errors. Guide: docs/guides/query.md.",
        epilog="example: resolab query example.com -r udp://9.9.9.9 -r quic://dns.adguard-dns.com --count 50",
    )
    query.add_argument(
        "names", nargs="*", metavar="NAME",
        help="name to ask for; @ADDRESS is short for -r ADDRESS, a record type or class beside a name for -t or "
        "--class, and +short prints the answers alone; after -- all words are names",
    )  # fmt: skip
    query.add_argument(
        "-x", "--reverse", action="append", default=[], metavar="ADDRESS",
        help="the name of an address (type PTR unless -t says otherwise)",
    )  # fmt: skip
    query.add_argument(
        "-r", "--resolver", action="append", default=[], metavar="URL", dest="resolvers",
        help="udp:// tcp:// tls:// https:// h3:// quic://, a DNS stamp (sdns://), or an address; may be given several "
        "times (default: the system's)",
    )  # fmt: skip
    query.add_argument("-p", "--port", type=_port, metavar="PORT", help="UDP port of resolvers given as addresses")
    query.add_argument("-t", "--type", metavar="TYPE[,TYPE...]", help="record types (default: A)")
    query.add_argument("--class", metavar="CLASS", dest="record_class", help="class, such as CH (default: IN)")
    query.add_argument("--together", action="store_true", help="ask for all types of a name at once, as browsers do")
    _add_rounds(query)
    _add_connection(query)
    _add_edns(query)
    place = query.add_argument_group("place")
    place.add_argument("--path", type=int, metavar="PID", help="ask from inside the path with this process id")
    place.add_argument(
        "--host", choices=["client", "server"], default="client", help="the path's host (default: client)"
    )
    query.add_argument(
        "--json", action="store_true",
        help="the records as they come, one JSON object a line, and at the end a summary of each resolver",
    )  # fmt: skip
    query.add_argument(
        "--fail", action="append", default=[], metavar="LIMIT",
        help="exit with 1 if this holds of any resolver, such as failed>1%%, p90>50ms, median>0.1s; may be given again",
    )  # fmt: skip
    query.set_defaults(plain_names=[])
    return query


def _add_rounds(query: argparse.ArgumentParser) -> None:
    rounds = query.add_argument_group("how often")
    rounds.add_argument("-c", "--count", type=_positive, default=1, help="ask each so often for each name")
    rounds.add_argument("--interval-ms", type=_not_negative, metavar="N", help="pause between queries (default: 0)")
    rounds.add_argument(
        "--seed", type=_not_negative, metavar="N",
        help="seed of the order of the resolvers, drawn anew for each round (default: 1; as given with one round)",
    )  # fmt: skip
    rounds.add_argument(
        "--timeout-ms", type=_positive, default=DEFAULT_TIMEOUT_MS, metavar="N",
        help="deadline of each query, set-up and retries included (default: %(default)d)",
    )  # fmt: skip

    rounds.add_argument(
        "--retry", choices=["system", "modern", "none"],
        help="when DoUDP asks again: as the C library, by round trip times, or never (default: system)",
    )  # fmt: skip
    rounds.add_argument("--udp-timeout-ms", type=_positive, metavar="N", help="how long each DoUDP try waits, instead")
    rounds.add_argument("--udp-try-count", type=_positive, metavar="N", help="how many DoUDP tries there are, instead")


def _add_connection(query: argparse.ArgumentParser) -> None:
    connection = query.add_argument_group("connection")
    connection.add_argument(
        "--connection", choices=["cold", "warm"], default="cold",
        help="a new connection for each query, or one for all to a resolver (default: cold)",
    )  # fmt: skip
    connection.add_argument(
        "--outstanding", type=_positive, metavar="N",
        help="queries under way at a time on a warm connection; resolvers then take turns no more (default: 1)",
    )  # fmt: skip
    connection.add_argument(
        "--questions-per-message", type=_positive, metavar="N",
        help="ask so many names and types in one message, whose answers leave as they are known (partial responses); "
        "one by one where the resolver does not know that",
    )  # fmt: skip
    connection.add_argument(
        "--one-by-one", action="store_true",
        help="with --questions-per-message: each in a message of its own all the same, all at one time",
    )  # fmt: skip
    connection.add_argument(
        "--idle-timeout-ms", type=_positive, metavar="N", help="close an idle warm connection after"
    )
    connection.add_argument("--tcp-fast-open", action="store_true", help="send the first data in the SYN (RFC 7413)")
    connection.add_argument(
        "--handshake", choices=HANDSHAKES, help="handshake to ask for; the table says what happened (default: full)"
    )
    connection.add_argument("--groups", metavar="GROUP,...", help="key exchange groups to offer, the favourite first")
    connection.add_argument("--doh-method", choices=["post", "get"], help="how DoH queries travel (default: post)")
    connection.add_argument("--ca", metavar="FILE", help="PEM file of the authorities to trust")
    connection.add_argument(
        "--pin", action="append", metavar="sha256/BASE64", help="public key the resolver must have, besides"
    )
    connection.add_argument("--insecure", action="store_true", help="do not check certificates")
    connection.add_argument(
        "--resolve", action="append", metavar="HOST=ADDRESS", help="address of a resolver's host name"
    )
    connection.add_argument(
        "--bootstrap", choices=["before", "inside"],
        help="look a resolver's host name up before the clock starts, or inside it (default: before)",
    )  # fmt: skip
    connection.add_argument(
        "--bootstrap-resolver", metavar="URL", help="resolver to look it up with (default: the system)"
    )


def _add_edns(query: argparse.ArgumentParser) -> None:
    edns = query.add_argument_group("EDNS(0)")
    edns.add_argument("--edns-payload", metavar="BYTES", help="UDP payload size to announce (default: 1232)")
    edns.add_argument("--padding", metavar="rfc8467|none|BYTES", help="padding on encrypted transports")
    edns.add_argument("--no-padding", action="store_true", help="the same as --padding none")
    edns.add_argument("--ecs", metavar="off|ADDRESS/LENGTH", help="client subnet to send")
    edns.add_argument("--cookie", action="store_true", help="send cookies")
    edns.add_argument("--nsid", action="store_true", help="ask which name server it is that answers (NSID)")
    edns.add_argument("--dnssec", action="store_true", help="ask for DNSSEC records (DO)")


PASSED = (
    "together", "interval_ms", "retry", "udp_timeout_ms", "udp_try_count", "outstanding", "idle_timeout_ms",
    "questions_per_message", "one_by_one",
    "tcp_fast_open", "handshake", "groups", "doh_method", "ca", "pin", "insecure", "resolve", "bootstrap",
    "bootstrap_resolver", "edns_payload", "padding", "no_padding", "ecs", "cookie", "nsid", "dnssec",
)  # fmt: skip
"""The options passed to resolab-core as typed, under the same name; options not typed are left out."""


def core_arguments(options: argparse.Namespace, resolvers: list[str], names: list[str]) -> list[str]:
    """Return the arguments of `resolab-core query`."""
    arguments = [f"--resolver={resolver}" for resolver in resolvers]
    arguments += [
        f"--count={options.count}",
        f"--timeout-ms={options.timeout_ms}",
        f"--connection={options.connection}",
    ]
    if options.type is not None:
        arguments.append(f"--type={options.type}")
    if options.record_class is not None:
        arguments.append(f"--class={options.record_class}")
    seed = 1 if options.seed is None and options.count > 1 else options.seed
    if seed is not None:
        arguments.append(f"--seed={seed}")
    for name in PASSED:
        value, flag = getattr(options, name), f"--{name.replace('_', '-')}"
        if value is True:
            arguments.append(flag)
        elif value is not None and value is not False:
            arguments += [f"{flag}={one}" for one in (value if isinstance(value, list) else [value])]
    return [*arguments, "--", *names]


def count_expected_queries(options: argparse.Namespace, resolvers: list[str], names: list[str]) -> int:
    """Return the expected number of measured queries."""
    types = 1 if options.type is None else len(options.type.split(","))
    return int(options.count) * types * len(names) * len(resolvers)


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port: 1 to 65535")
    return int(text)


def _positive(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of 1 or more")
    return int(text)


def _not_negative(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of 0 or more")
    return int(text)
