"""Print the share of simulated intervals holding the truth, as the tables of docs/method/statistics.md.

For: choosing an interval's method and knowing its value. Not for: the tests, with fewer rounds and weaker checks, nor
for the simulation (`resolab.stats.coverage.intervals`).
"""

import argparse
from collections.abc import Sequence

from resolab.stats import LEVEL, STOPPING_LEVEL, STOPPING_MIN_BLOCKS, bootstrap, quantile_shift
from resolab.stats.coverage.intervals import DATA, INTERVALS, Interval, coverage_when_stopped

BLOCKS = (6, 8, 12, 20, 30, 40, 60)
STOPS_NEAR = (15, 25, 45)
STOPPING_RULES = ((LEVEL, 6), (LEVEL, 12), (STOPPING_LEVEL, STOPPING_MIN_BLOCKS))


def _row(words: Sequence[str]) -> str:
    return f"| {' | '.join(words)} |"


def _percent(shares: Sequence[float]) -> list[str]:
    return [f"{share * 100:.1f}" for share in shares]


def print_intervals(rounds: int, only: str) -> None:
    """Print a row per interval and kind of data, a column per number of blocks; empty without an interval."""
    print(_row(("method", "data", *map(str, BLOCKS))))
    print(_row(("---",) * (len(BLOCKS) + 2)))
    for name, interval in INTERVALS.items():
        for kind in DATA if only in name else ():
            shares = [_held(interval, kind, blocks, rounds) for blocks in BLOCKS]
            print(_row((name, kind, *shares)), flush=True)


def _held(interval: Interval, kind: str, blocks: int, rounds: int) -> str:
    try:
        return _percent([interval.coverage(kind, blocks, rounds)])[0] if blocks >= interval.least_blocks else ""
    except ValueError:  # so many values have no interval of this kind
        return ""


def print_stopping(rounds: int) -> None:
    """Print the remaining level when a run stops as soon as the interval of the difference is narrow enough."""
    print(_row(("level, least blocks", "data", *(f"stops near {blocks}" for blocks in STOPS_NEAR))))
    print(_row(("---",) * (len(STOPS_NEAR) + 2)))
    for level, least in STOPPING_RULES:
        for kind in ("skewed", "bimodal", "tied"):
            shares = [coverage_when_stopped(kind, level, least, blocks, rounds) for blocks in STOPS_NEAR]
            print(_row((f"{level * 100:g} %, {least}", kind, *_percent(shares))), flush=True)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=2_000, help="simulations per cell (default: %(default)d)")
    parser.add_argument("--only", default="", help="only methods whose name has this; `stopping` for the rule")
    options = parser.parse_args()
    # A fifth of the resamples makes the ends noisier and leaves their level.
    bootstrap.RESAMPLES_COUNT = quantile_shift.RESAMPLES_COUNT = 999
    if options.only != "stopping":
        print_intervals(options.rounds, options.only)
    if options.only in {"", "stopping"}:
        print()
        print_stopping(max(1, options.rounds // 2))


if __name__ == "__main__":
    main()
