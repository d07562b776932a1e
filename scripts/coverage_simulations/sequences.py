"""Print the coverage of confidence sequences at every interim analysis, and their number of blocks.

The tables of docs/method/statistics.md.

For: knowing value and cost of the rule `confidence_sequence`. Not for: intervals of a fixed number of blocks
(`intervals.py`), or the certainty of `plan power` (`power.py`).
"""

import argparse

from resolab.stats.coverage.sequence import KINDS, blocks_taken, simulate_coverage, simulate_fixed_coverage

CAPS = (40, 200)
FIXED = (12, 24, 48)
LEAST = 12


def print_coverage(rounds: int) -> None:
    """Print a row per kind of data, a column per cap."""
    print("| data | " + " | ".join(f"sequence, {cap}" for cap in CAPS) + " | fixed 95 % from 12 on, 40 |")
    print("|" + " --- |" * (len(CAPS) + 2))
    for kind in KINDS:
        shares = simulate_coverage(kind, CAPS, rounds)
        # An interval of a fixed number of blocks costs some fifty times as much to compute.
        shares += simulate_fixed_coverage(kind, CAPS[:1], LEAST, rounds // 4)
        print(f"| {kind} | " + " | ".join(f"{share * 100:.1f}" for share in shares) + " |", flush=True)


def print_blocks(rounds: int) -> None:
    """Print a row per kind of data and fixed number of blocks."""
    columns = ("data", "difference ms", "fixed blocks", "mean", "four in five within", "within the fixed number")
    print(f"| {' | '.join((*columns, 'mean if twice as large'))} |")
    print("|" + " --- |" * 7)
    for kind in KINDS:
        for fixed in FIXED:
            one = blocks_taken(kind, fixed, rounds)
            words = (kind, f"{one.effect:.1f}", str(fixed), f"{one.mean:.0f}", f"{one.p80:.0f}")
            shares = (f"{one.within_fixed_ratio * 100:.0f} %", f"{one.mean_of_twice:.0f}")
            print(f"| {' | '.join((*words, *shares))} |", flush=True)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=2_000, help="simulated campaigns per cell (default: %(default)d)")
    parser.add_argument("--only", choices=("coverage", "blocks"))
    options = parser.parse_args()
    if options.only != "blocks":
        print_coverage(options.rounds)
    if options.only != "coverage":
        print()
        print_blocks(options.rounds)


if __name__ == "__main__":
    main()
