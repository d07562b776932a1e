"""`scripts/bench internet --live-against-lab`: options, the box, the rounds, the table.

Load the box's sites by live mode in the box and by the lab beside it, in turn, with the same browsers and transports.
Print for each page, browser and transport the ratio of the medians of `plt` and the test of equivalence within 5 %.
Needs root, the requirements of `resolab internet` (scripts/setup --interop) and a machine without other work. Exit code
1 when a cell is not shown to be alike.
"""

import argparse
import asyncio
import signal
import sys
import time
from pathlib import Path

from benches.common import result
from benches.common.part import BenchPart
from benches.common.progress import duration
from benches.internet.against_lab import comparison_files, rounds, steady_cache
from benches.internet.against_lab.comparison import compare_cells, number_loads, table
from resolab.basics.errors import ConfigurationError, ResolabError
from resolab.basics.records import DnsTransport, ResolverCache
from resolab.extras.internet import BoxLayout, BoxResolver, box_folder, compose
from resolab.plan import Corpus

FLAG = "--live-against-lab"
PROGRAM = f"bench internet {FLAG}"
PAGES = ("calibre-2020-07", "google-2018-11", "paulirish-2024-05")
TRANSPORTS = ("doudp", "dot", "doh")
BROWSERS = ("firefox",)
RESOLVER = "quick"
BOX = "box"
ROUNDS, LOADS = 5, 4


def main(words: list[str]) -> int:
    """Measure and print the result."""
    # Whatever was started is ended, also on a polite end.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    options = _options(words)
    try:
        facts = result.facts(quick=options.rounds * options.loads < ROUNDS * LOADS)
        part = asyncio.run(_measure(options))
    except ResolabError as error:
        print(f"\n{PROGRAM}: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    return result.finish(facts, [part], options.json)


async def _measure(options: argparse.Namespace) -> BenchPart:
    if options.folder.exists() and any(options.folder.iterdir()):
        raise ConfigurationError(f"folder {options.folder} is not empty: give one of its own")
    # Kept, so that `resolab internet check` can tell whether the resolver's caches were as they were meant to be.
    with box_folder(options.folder / BOX) as box_place:
        layout = steady_cache.steady_layout(compose(box_place / "opt-out", options.pages), options.cache)
        sides = sides_of(layout, options)
        comparison_files.write(sides, options.folder, Corpus.from_project())
        began_s = time.monotonic()
        print(f"{PROGRAM}: about {duration(rounds.estimate_s(sides))}; all of it in {options.folder}", file=sys.stderr)
        box = steady_cache.SteadyBox(layout, box_place)
        box.cache = options.cache
        async with box:
            say = rounds.stamp_messages(began_s, lambda text: print(text, file=sys.stderr, flush=True))
            live, lab = await rounds.rounds(sides, box, options.folder.resolve(), say)
    return table(compare_cells(number_loads(live), number_loads(lab)))


def sides_of(layout: BoxLayout, options: argparse.Namespace) -> comparison_files.ComparisonSettings:
    """Join the box with the command line's options."""
    sites = [site for site in layout.sites if site.page in options.pages]
    resolver = _resolver(layout, options.resolver)
    sides = comparison_files.ComparisonSettings(
        layout=layout,
        resolver=resolver,
        sites=sites,
        transports=[DnsTransport(one) for one in options.transports],
        browsers=options.browsers,
        cache=options.cache,
        recursion_ms=steady_cache.recursion_ms(layout, resolver, sites, options.cache),
        loads=options.loads,
        rounds=options.rounds,
    )
    comparison_files.check(sides)
    return sides


def _resolver(layout: BoxLayout, name: str) -> BoxResolver:
    try:
        return layout.resolver(name)
    except StopIteration:
        known = ", ".join(one.name for one in layout.resolvers)
        raise ConfigurationError(f"no resolver {name!r} in the box; there are {known}") from None


def _options(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog=f"scripts/{PROGRAM}", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, required=True, help="a new one, for pages, profile, plans and datasets")
    parser.add_argument(
        "--pages", nargs="+", default=PAGES, metavar="PAGE", help="of the corpus (default: %(default)s)"
    )
    parser.add_argument("--resolver", default=RESOLVER, help="of the box (default: %(default)s)")
    parser.add_argument("--transports", nargs="+", default=TRANSPORTS, choices=[one.value for one in DnsTransport])
    parser.add_argument("--browsers", nargs="+", default=BROWSERS, choices=["chromium", "firefox"])
    parser.add_argument(
        "--cache", type=ResolverCache, default=ResolverCache.HIT, choices=list(ResolverCache),
        help="what the resolver knows of each name of a page, every time (default: hit)",
    )  # fmt: skip
    parser.add_argument("--rounds", type=_count, default=ROUNDS, metavar="N", help="(default: %(default)s)")
    parser.add_argument(
        "--loads", type=_count, default=LOADS, metavar="N",
        help="of each page, browser and transport by each side in a round (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result there for machines, too")
    return parser.parse_args(words)


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return number
