"""The arguments of `resolab visit`. Not for: their meaning together (`command`)."""

import argparse
from pathlib import Path

BROWSERS = ("firefox", "chromium")
TRANSPORTS = ("doudp", "dotcp", "dot", "doh", "doh3", "doq")
"""The words of `BrowserKind` and `DnsTransport`, copied here as their import is too slow for the help."""
DEFAULT_SEED, DEFAULT_TIMEOUT_S = 1, 15.0


def add_visit(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> argparse.ArgumentParser:
    """Add the subcommand's parser."""
    visit = commands.add_parser(
        "visit",
        help="load pages over several resolvers, and say which is fastest and whether that is noise",
        description="Load pages of the real network a few times over each resolver and transport, in random order, and "
        "say which is fastest, by how much, and whether that is noise. Caps, opt-out list and stop signs are those of "
        "live plans. Guide: docs/guides/visit.md.",
        epilog="example: resolab visit wikipedia.org -r local -r 9.9.9.9 -r tls://9.9.9.9 "
        "--operator https://YOUR-PAGE-ABOUT-THIS",
    )
    _add_targets(visit)
    _add_measurement(visit)
    _add_output(visit)
    return visit


def _add_targets(visit: argparse.ArgumentParser) -> None:
    visit.add_argument("urls", nargs="+", metavar="URL", help="page to load; without a scheme it is https")
    visit.add_argument(
        "-r", "--resolver", action="append", default=[], metavar="RESOLVER", dest="resolvers",
        help="local (this machine's own), an address, or udp:// tcp:// tls:// https:// h3:// quic://; give several. "
        "Compared with local, else with the first",
    )  # fmt: skip
    visit.add_argument(
        "--operator", required=True, metavar="URL",
        help="page of your own that says who measures and how to be left out; it goes into every user agent",
    )  # fmt: skip
    visit.add_argument(
        "--transports", type=_transports, default=[], metavar="TRANSPORT,...",
        help=f"over which to ask resolvers given as addresses: {','.join(TRANSPORTS)} (default: doudp)",
    )  # fmt: skip


def _add_measurement(visit: argparse.ArgumentParser) -> None:
    visit.add_argument(
        "--loads", type=_loads, metavar="N",
        help="loads of each page over each resolver, the first apart (default: as many as fit into 3 minutes, "
        "from 2 to 11)",
    )  # fmt: skip
    visit.add_argument(
        "--browser", choices=BROWSERS, default=BROWSERS[0],
        help="which to load them with (default: %(default)s)",
    )  # fmt: skip
    visit.add_argument(
        "--timeout-s", type=_seconds, default=DEFAULT_TIMEOUT_S, metavar="N",
        help="time each load is given (default: %(default)g)",
    )  # fmt: skip
    visit.add_argument(
        "--seed", type=_parse_seed, default=DEFAULT_SEED, metavar="N", help="seed of the order (default: %(default)d)"
    )
    visit.add_argument(
        "--opt-out", metavar="URL|FILE",
        help="list of domains never to be contacted, one a line; where it cannot be had, nothing is loaded",
    )  # fmt: skip


def _add_output(visit: argparse.ArgumentParser) -> None:
    visit.add_argument("--dry-run", action="store_true", help="print whom it would contact, and contact nobody")
    visit.add_argument(
        "--json", action="store_true",
        help="one JSON object a line: each load as it ends, then a summary of each resolver, the fastest first",
    )  # fmt: skip
    visit.add_argument("--har", type=Path, metavar="FOLDER", help="write each load as an HTTP Archive")


def _transports(text: str) -> list[str]:
    words = [word.strip().lower() for word in text.split(",") if word.strip()]
    unknown = next((word for word in words if word not in TRANSPORTS), None)
    if unknown is not None or not words:
        raise argparse.ArgumentTypeError(f"{unknown or text!r} is no transport: give some of {','.join(TRANSPORTS)}")
    return list(dict.fromkeys(words))


def _loads(text: str) -> int:
    return _whole(text, 1, 60)


def _parse_seed(text: str) -> int:
    return _whole(text, 0, 2**63 - 1)


def _whole(text: str, low: int, high: int) -> int:
    if not (text.isascii() and text.isdigit() and low <= int(text) <= high):
        raise argparse.ArgumentTypeError(f"{text!r}: give a whole number from {low} to {high}")
    return int(text)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 1 <= value <= 600:
        raise argparse.ArgumentTypeError(f"{text!r}: give seconds from 1 to 600")
    return value
