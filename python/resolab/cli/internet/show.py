"""`resolab internet show`, `truth` and `failures`: a box's parts and expected results, as tables or JSON.

For: descriptions of a box. Not for: starting a box (`up`).
"""

import argparse
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from rich.table import Table
from rich.text import Text

from resolab.basics.errors import UsageError
from resolab.basics.protocols import transport_label
from resolab.basics.wording import clean
from resolab.cli.console import Console
from resolab.extras.internet import compose
from resolab.extras.internet.failures import FAILURES, OPT_OUT_URL
from resolab.extras.internet.layout import HOME, BoxLayout
from resolab.extras.internet.places import VantagePoint, find_vantage_point, map_to_paper
from resolab.extras.internet.sites import PAGES
from resolab.extras.internet.truth import every_truth

_WIDEST = 400
"""The maximum width of a line, in characters."""


def show(options: argparse.Namespace) -> int:
    """Print the parts of a box."""
    layout = _compose_layout(options)
    if options.json:
        print_json(describe_layout(layout))
    else:
        print_layout(layout)
    return 0


def failures(options: argparse.Namespace) -> int:
    """Print the deliberate failures of a box."""
    told = [msgspec.to_builtins(one) for one in FAILURES]
    if options.json:
        print_json({"failures": told, "opt_out": OPT_OUT_URL})
        return 0
    print_table(
        ["name", "page or resolver", "what happens", "shows as"],
        [[f.name, f.url, f.what, f.shows_as] for f in FAILURES],
    )
    print(f"\nwho does not want to be measured: {OPT_OUT_URL}, the file opt-out/opt-out.txt of the box's folder")
    return 0


def truth(options: argparse.Namespace) -> int:
    """Print the closed forms."""
    layout = _compose_layout(options)
    names = {resolver.name for resolver in layout.resolvers}
    if options.resolver is not None and options.resolver not in names:
        raise UsageError(f"no resolver {options.resolver!r} in the box; there are {', '.join(sorted(names))}")
    rows = [
        one
        for one in every_truth(layout, options.qnames or _one_behind_each_server(layout))
        if options.resolver in (None, one.resolver)
    ]
    if options.json:
        print_json([msgspec.to_builtins(one) | {"total_ms": one.total_ms} for one in rows])
        return 0
    columns = ["resolver", "transport", "connection", "name", "knows", "round trips", "RTT ms", "asks", "total ms"]
    cells = [
        [one.resolver, transport_label(one.dns_transport), one.connection, one.qname, one.knowledge.value,
         str(one.round_trips), f"{one.rtt_ms:g}", ", ".join(one.asked), f"{one.total_ms:g}"]
        for one in rows
    ]  # fmt: skip
    print_table(columns, cells)
    return 0


def _compose_layout(options: argparse.Namespace) -> BoxLayout:
    # The folder is only named in a layout; nothing is put there.
    return compose(Path(tempfile.gettempdir()), options.page or PAGES, options.place)


def _one_behind_each_server(layout: BoxLayout) -> list[str]:
    """Return a site's host for each server of zones."""
    found: dict[str, str] = {}
    servers = {server.host for server in layout.servers}
    for zone in layout.zones:
        if (
            zone.server in servers
            and zone.records
            and zone.is_served
            and zone.is_readable
            and zone.origin.endswith(".test")
        ):
            found.setdefault(zone.server, zone.records[0].owner)
    return list(found.values())


def describe_layout(layout: BoxLayout) -> dict[str, object]:
    """Describe a layout for programs."""
    return {
        "hosts": [
            {"name": host.name, "address": host.address, "one_way_ms": host.one_way_ms,
             "networks": [msgspec.to_builtins(network) for network in host.networks]}
            for host in layout.hosts
        ],
        "resolvers": [
            {"name": one.name, "software": one.software, "recursion_by": one.recursion_by,
             "rtt_ms": layout.rtt_ms(HOME, one.address), "addresses": one.addresses}
            for one in layout.resolvers
        ],
        "sites": [
            {"page": site.page, "url": site.url, "domain": site.domain, "names_count": len(site.origins),
             "rtt_ms": layout.rtt_ms(HOME, site.origins[0].address)}
            for site in layout.sites
        ],
        "opt_out": OPT_OUT_URL,
        "place": layout.place,
        "pings": {} if layout.place is None else msgspec.to_builtins(find_vantage_point(layout.place).pings),
    }  # fmt: skip


def print_layout(layout: BoxLayout) -> None:
    """Print the parts of a box as tables."""
    if layout.place is not None:
        _print_place(find_vantage_point(layout.place))
    print_table(
        ["host", "address", "RTT from home ms"],
        [[host.name, host.address, f"{layout.rtt_ms(HOME, host.address):g}"] for host in layout.hosts[1:]],
    )
    print()
    resolvers = [
        [one.name, address, "never answers" if transport in one.swallows else ""]
        for one in layout.resolvers
        for transport, address in one.addresses.items()
    ]
    print_table(["resolver", "address, for -r", ""], resolvers)
    print()
    sites = [
        [site.url, f"{layout.rtt_ms(HOME, site.origins[0].address):g}", str(len(site.origins))] for site in layout.sites
    ]
    print_table(["site", "RTT ms", "names"], sites)


def _print_place(place: VantagePoint) -> None:
    print(f"as seen from {place.title}:")
    rows = [
        [resolver, map_to_paper().get(resolver, "the machine's own"), f"{ping.rtt_ms:g}", ping.source]
        for resolver, ping in place.pings.items()
    ]
    print_table(["resolver", "stands for", "RTT from home ms", "source"], rows)
    print()


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table of text cells."""
    table = Table(box=None, pad_edge=False)
    for column in columns:
        table.add_column(column, no_wrap=True)
    for row in rows:
        table.add_row(*(Text(clean(cell)) for cell in row))
    console = Console()
    # A table that is cut by a narrow terminal or a pipe says nothing: its lines may break instead.
    Console(
        width=max(console.width, console.measure(table, options=console.options.update(width=_WIDEST)).maximum)
    ).print(table, highlight=False)


def print_json(value: Mapping[str, object] | Sequence[object]) -> None:
    """Print JSON on a single line."""
    print(msgspec.json.encode(value).decode(), flush=True)
