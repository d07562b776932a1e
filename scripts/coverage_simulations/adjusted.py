"""Print the coverage of adjusted differences, their savings, and the effect of a false assumption.

The tables of docs/method/statistics.md.

For: knowing the value of the adjusted estimate. Not for: the savings in a dataset (`scripts/what_adjusting_saves.py`).
"""

import argparse

from resolab.stats import ADJUSTABLE_FROM
from resolab.stats.coverage.adjusted import INSTANTS, PART_SPREAD, PARTS, simulate_adjusting

PAIRS = (ADJUSTABLE_FROM, 8, 12, 24, 40)
RARELY = 0.1
WEIGHTS = (1.0, 0.5)
MOVED = (0.1, 0.25, 0.5, 1.0)


def print_coverage(rounds: int) -> None:
    """Print a row per instant, part and weight, a column per number of pairs.

    A cell has the coverage when offered, the ratio of loads, and the share of cases with an offer; only the share if
    rare.
    """
    print("| instant | part | of it | " + " | ".join(map(str, PAIRS)) + " |")
    print("|" + " --- |" * (len(PAIRS) + 3))
    for instant in INSTANTS:
        for part in PARTS:
            for weight in WEIGHTS:
                found = [simulate_adjusting(instant, part, pairs, rounds, weight=weight) for pairs in PAIRS]
                cells = (
                    f"{one.held_ratio * 100:.1f} ({one.loads_ratio:.2f}; {one.offered_ratio * 100:.0f})"
                    if one.offered_ratio > RARELY
                    else f"({one.offered_ratio * 100:.0f})"
                    for one in found
                )
                print(f"| {instant} | {part} | {weight:g} | {' | '.join(cells)} |", flush=True)


def print_moved(rounds: int) -> None:
    """Print the outcome of comparisons with a treatment moving a normal part, by the move in spreads."""
    print("| moved by | " + " | ".join(map(str, PAIRS)) + " |")
    print("|" + " --- |" * (len(PAIRS) + 1))
    for moved in MOVED:
        found = [simulate_adjusting("normal", "normal", pairs, rounds, moved=moved * PART_SPREAD) for pairs in PAIRS]
        cells = (f"{100 - one.offered_ratio * 100:.0f} / {one.held_ratio * 100:.0f}" for one in found)
        print(f"| {moved:g} spreads | {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=1_000, help="simulations per cell (default: %(default)d)")
    parser.add_argument("--only", choices=("coverage", "moved"))
    options = parser.parse_args()
    if options.only != "moved":
        print_coverage(options.rounds)
    if options.only != "coverage":
        print()
        print_moved(options.rounds)


if __name__ == "__main__":
    main()
