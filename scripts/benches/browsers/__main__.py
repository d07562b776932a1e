"""Load a page in every cell of browser, resolver path, HTTP version and handshake; print one result.

For: `scripts/bench browsers`, the matrix of docs/benchmarks.md. Runs the measured build, or RESOLAB_CORE. Not for:
studies (see plans). Exit code 1 when a figure misses its limit.
"""

import argparse
import asyncio
import signal
import sys
import tempfile
from pathlib import Path

from benches.browsers import cells, first_byte, measure, table
from benches.browsers.measure import BrowserLoad
from benches.common import result
from benches.common.part import BenchPart
from benches.common.progress import Progress, duration
from resolab.basics.errors import ResolabError

PROGRAM = "bench browsers"
QUICK_LOADS, LOADS, FLIGHTS_LOADS = 3, 20, 5
LOAD_S, START_S = 2.5, 12.0
"""The approximate duration of a load, and of a testbed's start and end."""


def main() -> int:
    """Measure and print the result."""
    # Whatever was started is ended, also on a polite end.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    options = _options()
    facts = result.facts(quick=options.quick)
    try:
        if options.flights:
            return result.finish(facts, [asyncio.run(_flights(options))], options.json)
        loads = asyncio.run(_measure(options))
    except ResolabError as error:
        print(f"\n{PROGRAM}: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    wanted = _cells(options)
    round_trip_ms = measure.round_trip_ms(options.profile)
    parts = [table.matrix(wanted, loads, options.profile, round_trip_ms), table.overhead(options.browser, loads)]
    return result.finish(facts, parts, options.json)


async def _measure(options: argparse.Namespace) -> list[BrowserLoad]:
    count = options.loads or (QUICK_LOADS if options.quick else LOADS)
    wanted = _cells(options)
    by_way: dict[tuple[str, str], list[cells.BrowserCell]] = {(cell.browser, cell.way): [] for cell in wanted}
    for cell in wanted:
        by_way[cell.browser, cell.way].append(cell)
    foreseen_s = len(by_way) * START_S + len(wanted) * count * LOAD_S
    print(f"{PROGRAM}: {len(wanted)} cells, {count} loads each; about {duration(foreseen_s)}", file=sys.stderr)
    progress = Progress(foreseen_s, PROGRAM)
    loads: list[BrowserLoad] = []
    try:
        for (browser, way), of_way in by_way.items():
            progress.step(f"{browser} {way}: starting", START_S)
            loads += await measure.measure(
                of_way, profile=options.profile, loads=count, say=lambda what: progress.step(what, LOAD_S)
            )
    finally:
        progress.end()
    return loads


async def _flights(options: argparse.Namespace) -> BenchPart:
    count, wanted = options.loads or FLIGHTS_LOADS, _cells(options)
    by_way: dict[tuple[str, str], list[cells.BrowserCell]] = {(cell.browser, cell.way): [] for cell in wanted}
    for cell in wanted:
        by_way[cell.browser, cell.way].append(cell)
    progress = Progress(len(by_way) * START_S + len(wanted) * count * LOAD_S, PROGRAM)
    seen, problems = [], []
    try:
        with tempfile.TemporaryDirectory(prefix="resolab-flights-") as folder:
            for (browser, way), of_way in by_way.items():
                progress.step(f"{browser} {way}: starting", START_S)
                found = await first_byte.measure(
                    of_way, profile=options.profile, loads=count, folder=Path(folder),
                    say=lambda what: progress.step(what, LOAD_S),
                )  # fmt: skip
                seen += found[0]
                problems += found[1]
    finally:
        progress.end()
    return first_byte.table(wanted, seen, options.profile, problems)


def _cells(options: argparse.Namespace) -> list[cells.BrowserCell]:
    found = cells.cells(options.browser, options.only or cells.WAYS)
    return [cell for cell in found if options.page is None or f"{cell.http_version}-{cell.handshake}" in options.page]


def _options() -> argparse.Namespace:
    pages = [f"{version}-{handshake}" for version, handshake in cells.PAGES]
    parser = argparse.ArgumentParser(
        prog="scripts/bench browsers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_LOADS} loads of each cell")
    parser.add_argument(
        "--flights", action="store_true", help="what crosses the link up to the first byte, and the closed form of it"
    )
    parser.add_argument("--only", nargs="+", choices=cells.WAYS, metavar="WAY", help=", ".join(cells.WAYS))
    parser.add_argument("--browser", nargs="+", choices=cells.BROWSERS, default=cells.BROWSERS)
    parser.add_argument("--page", nargs="+", choices=pages, help="HTTP version and handshake; default: all")
    parser.add_argument("--loads", type=int, metavar="N", help=f"of each cell (default: {LOADS}; quick: {QUICK_LOADS})")
    parser.add_argument("--profile", default="4g")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result there for machines, too")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
