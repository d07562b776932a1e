"""Load pages by browsertime and by resolab in turn, through the same path; print the cost of an interval with each.

For: `scripts/bench peers`, a table of docs/benchmarks.md. Runs the measured build, or RESOLAB_CORE. Not for: judging;
no figure has a limit.
"""

import argparse
import asyncio
import signal
import sys
from pathlib import Path

from benches.common import result
from benches.common.part import BenchPart
from benches.common.progress import Progress, duration
from benches.peers import browsertime, measure, table
from benches.peers.comparison import LEAST_TURNS
from resolab.basics.errors import ResolabError
from resolab.plan import Corpus

PROGRAM = "bench peers"
PAGES, PROFILES = ("example", "wikipedia"), ("fiber", "4g")
LOADS, LOADS_OF_ROUND = 20, 5
LOAD_S = {"browsertime": 9.0, "resolab": 1.0}
START_S = 10.0


def main() -> int:
    """Measure and print the result."""
    # Whatever was started is ended, also on a polite end.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    options = _options()
    facts = result.facts(quick=options.loads < LOADS)
    try:
        facts["peer"] = browsertime.versions()
        facts["browsertime's waits"] = " ".join(browsertime.waits(short=options.short_waits))
        parts = asyncio.run(_measure(options))
    except ResolabError as error:
        print(f"\n{PROGRAM}: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    return result.finish(facts, parts, options.json)


async def _measure(options: argparse.Namespace) -> list[BenchPart]:
    corpus = Corpus.from_project()
    plan = measure.plan_of(options.pages, options.profiles, options.loads, corpus)
    cells_count = len(options.pages) * len(options.profiles)
    foreseen_s = START_S + cells_count * (options.loads + 1) * sum(LOAD_S.values())
    print(
        f"{PROGRAM}: {cells_count} cells, {options.loads} loads of each tool; about {duration(foreseen_s)}",
        file=sys.stderr,
    )
    progress = Progress(foreseen_s, PROGRAM)

    def say(what: str, tool: str, count: int) -> None:
        progress.step(what, count * LOAD_S[tool])

    try:
        progress.step("starting", START_S)
        async with measure.lab(plan, corpus, short_waits=options.short_waits) as lab:
            cells = await measure.measure(lab, options.loads, options.round, say)
    finally:
        progress.end()
    return [table.loads(cells, lab.start_seconds), table.ratios(cells)]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/bench peers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--loads",
        type=_count,
        default=LOADS,
        metavar="N",
        help=f"of each tool and cell (default: %(default)s; ratios have an interval from {LEAST_TURNS} rounds on)",
    )
    parser.add_argument(
        "--round", type=_count, default=LOADS_OF_ROUND, metavar="N",
        help="loads of one tool before the other's turn, of browsertime in one invocation (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--pages", nargs="+", default=PAGES, metavar="PAGE")
    parser.add_argument("--profiles", nargs="+", default=PROFILES, metavar="PROFILE")
    parser.add_argument(
        "--short-waits", action="store_true", help="browsertime asks after 1 s, not 5, whether the page is complete"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result there for machines, too")
    return parser.parse_args()


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return number


if __name__ == "__main__":
    sys.exit(main())
