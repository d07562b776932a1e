"""Print the coverage of the interval of `plan power` for the needed blocks, as docs/method/statistics.md.

For: knowing the value of a pilot. Not for: the intervals of a run.
"""

import argparse

from resolab.stats.coverage.power import PilotCoverage, simulate_coverage
from resolab.stats.coverage.sequence import KINDS
from resolab.stats.power import IntervalRule, aim_at_width, aim_within_margin, excludes_zero

PAIRS = (8, 12, 24)
AIMS = {
    "difference of 8 ms": (excludes_zero(8.0), IntervalRule()),
    "width of 10 ms": (aim_at_width(10.0), IntervalRule()),
    "within ±8 ms": (aim_within_margin(8.0), IntervalRule()),
    "difference of 8 ms, sequence": (excludes_zero(8.0), IntervalRule(at_any_look=True)),
}


def _cell(one: PilotCoverage) -> str:
    silent = f", {one.silent_ratio * 100:.0f} % silent" if one.silent_ratio else ""
    return f"{one.held_ratio * 100:.0f} % ({one.low:g}, {one.median:g}, {one.high:g}){silent}"


def main() -> None:
    """Print a row per aim and kind of data, a column per size of the pilot."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200, help="pilots per cell (default: %(default)d)")
    parser.add_argument("--kind", choices=KINDS, action="append", help="only these data")
    options = parser.parse_args()
    print("| to see | data | blocks | " + " | ".join(f"pilot of {pairs}" for pairs in PAIRS) + " |")
    print("|" + " --- |" * (len(PAIRS) + 3))
    for name, (aim, rule) in AIMS.items():
        for kind in options.kind or KINDS:
            try:
                found = [simulate_coverage(kind, pairs, aim, rule, options.rounds) for pairs in PAIRS]
            except ValueError:
                print(f"| {name} | {kind} | more than 1000 |" + " |" * len(PAIRS), flush=True)
                continue
            cells = [_cell(one) for one in found]
            print(f"| {name} | {kind} | {found[0].truth} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
