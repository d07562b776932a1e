"""Load pages with browsers' logs on and compare the client side's facts with the edge's; print one result.

For: `scripts/bench client-side`, the figures of docs/method/client-side.md. Runs the measured build, or RESOLAB_CORE.
Not for: studies. Exit code 1 when a figure misses its limit.
"""

import argparse
import asyncio
import signal
import sys
import tempfile
from pathlib import Path

from benches.client_side import cells, cost, failures, table, verdicts
from benches.common import result
from benches.common.part import BenchPart
from benches.common.progress import Progress, duration
from resolab.basics.errors import ResolabError

PROGRAM = "bench client-side"
QUICK_LOADS, LOADS = 2, 10
QUICK_PAIRS, PAIRS = 10, 40
LOAD_S, START_S = 1.5, 12.0
"""The approximate duration of a load, and of a testbed's start and end."""


def main() -> int:
    """Measure and print the result."""
    # Whatever was started is ended, also on a polite end.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    options = _options()
    facts = result.facts(quick=options.quick)
    try:
        part = asyncio.run(_part(options))
    except ResolabError as error:
        print(f"\n{PROGRAM}: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    return result.finish(facts, [part], options.json)


async def _part(options: argparse.Namespace) -> BenchPart:
    if options.cost:
        return await _cost(options)
    return await (_failures(options) if options.failures else _agreement(options))


async def _failures(options: argparse.Namespace) -> BenchPart:
    groups = cells.groups(options.browser, options.only or failures.WAYS, ("h2",))
    step_s = failures.PAGE_TIMEOUT_S + START_S / len(failures.TRUTH)
    progress = Progress(len(groups) * len(failures.TRUTH) * step_s, PROGRAM)
    told: list[failures.FailedLookUp] = []
    try:
        with tempfile.TemporaryDirectory(prefix="resolab-client-side-") as folder:
            for group in groups:
                told += await failures.measure(
                    group, page=options.page, profile=options.profile, folder=Path(folder),
                    say=lambda what: progress.step(what, step_s),
                )  # fmt: skip
    finally:
        progress.end()
    return failures.table(told)


async def _agreement(options: argparse.Namespace) -> BenchPart:
    loads = options.loads or (QUICK_LOADS if options.quick else LOADS)
    groups = cells.groups(options.browser, options.only or cells.WAYS)
    trials_count = sum(group.cells_count for group in groups) * loads
    foreseen_s = len(groups) * START_S + trials_count * LOAD_S
    print(f"{PROGRAM}: {trials_count} loads; about {duration(foreseen_s)}", file=sys.stderr)
    progress = Progress(foreseen_s, PROGRAM)
    pairs: list[verdicts.VerdictPair] = []
    try:
        with tempfile.TemporaryDirectory(prefix="resolab-client-side-") as folder:
            for group in groups:
                progress.step(f"{group.browser} {group.way} {group.version}: starting", START_S)
                pairs += await verdicts.measure(
                    group, page=options.page, profile=options.profile, loads=loads, folder=Path(folder),
                    say=lambda what: progress.step(what, LOAD_S),
                )  # fmt: skip
    finally:
        progress.end()
    return table.agreement(pairs)


async def _cost(options: argparse.Namespace) -> BenchPart:
    pairs = options.loads or (QUICK_PAIRS if options.quick else PAIRS)
    groups = [one for one in cells.groups(options.browser, options.only or cells.WAYS, ("h2",)) if one.has_log]
    step_s = (START_S + 2 * pairs * LOAD_S) / (2 * pairs)
    foreseen_s = len(groups) * 2 * pairs * step_s
    print(f"{PROGRAM}: {len(groups) * pairs} pairs of loads; about {duration(foreseen_s)}", file=sys.stderr)
    progress = Progress(foreseen_s, PROGRAM)
    try:
        with tempfile.TemporaryDirectory(prefix="resolab-client-side-") as folder:
            costs = [
                await cost.measure(
                    group, page=options.page, profile=options.profile, pairs=pairs, folder=Path(folder),
                    say=lambda what: progress.step(what, step_s),
                )
                for group in groups
            ]  # fmt: skip
    finally:
        progress.end()
    return cost.table(costs)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/bench client-side", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_LOADS} loads of each cell")
    parser.add_argument("--only", nargs="+", choices=cells.WAYS, metavar="WAY", help=", ".join(cells.WAYS))
    parser.add_argument("--browser", nargs="+", choices=cells.BROWSERS, default=cells.BROWSERS)
    parser.add_argument("--loads", type=int, metavar="N", help=f"of each cell, or pairs (default: {LOADS})")
    parser.add_argument("--cost", action="store_true", help="instead: page load time with and without the log, in turn")
    parser.add_argument("--failures", action="store_true", help="instead: look-ups that fail in a known way")
    parser.add_argument("--page", default="example")
    parser.add_argument("--profile", default="fiber")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result there for machines, too")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
