"""Print the coverage of intervals of pooled pairs for the median, with pages or blocks as the sampling unit.

The tables of docs/method/statistics.md.

For: choosing the least number of pages with the page as sampling unit, and the method. Not for: pairs of one page
(`intervals.py`).
"""

import argparse

from resolab.stats.coverage.clusters import KINDS_OF_PAGES, WAYS, simulate_coverage, simulate_coverage_over_blocks

PAGES = (6, 8, 12, 20, 40)
BLOCKS = (1, 2, 3, 6)
EFFECTS = (0.0, 0.5, 2.0)
GIVEN = ((0.0, 0.0), (0.0, 20.0), (-30.0, 0.0, 30.0), (0.0, 0.0, 10.0, 200.0))
NUMBERS_OF_BLOCKS = (6, 8, 12, 24, 40)


def print_pages(rounds: int) -> None:
    """Print a row per kind of data, effect of pages and number of blocks, a column per number of pages."""
    print("| data | effect of pages | blocks | " + " | ".join(map(str, PAGES)) + " |")
    print("|" + " --- |" * (len(PAGES) + 3))
    way = next(iter(WAYS))
    for kind in KINDS_OF_PAGES:
        for effect in EFFECTS:
            for blocks in BLOCKS:
                shares = [simulate_coverage(way, kind, pages, blocks, effect, rounds) * 100 for pages in PAGES]
                cells = " | ".join(f"{share:.1f}" for share in shares)
                print(f"| {kind} | {effect:g} | {blocks} | {cells} |", flush=True)


def print_ways(rounds: int) -> None:
    """Print the worst and the best of each method over kinds of data, by number of pages and their effect."""
    print("| way | effect of pages | " + " | ".join(map(str, PAGES)) + " |")
    print("|" + " --- |" * (len(PAGES) + 1))
    kinds = ("normal", "heavy tails", "bimodal", "waits 20 %")
    for way in WAYS:
        for effect in EFFECTS:
            cells = []
            for pages in PAGES:
                shares = [
                    simulate_coverage(way, kind, pages, blocks, effect, rounds) for kind in kinds for blocks in (2, 6)
                ]
                cells.append(f"{min(shares) * 100:.0f} to {max(shares) * 100:.0f}")
            print(f"| {way} | {effect:g} | {' | '.join(cells)} |", flush=True)


def print_given(rounds: int) -> None:
    """Print the same for fixed pages and random blocks, by the correlation of pages in a block."""
    print("| pages at, ms | correlation in a block | " + " | ".join(map(str, NUMBERS_OF_BLOCKS)) + " |")
    print("|" + " --- |" * (len(NUMBERS_OF_BLOCKS) + 2))
    for levels in GIVEN:
        for alike in (0.0, 0.7):
            shares = [
                simulate_coverage_over_blocks(levels, alike, blocks, rounds) * 100 for blocks in NUMBERS_OF_BLOCKS
            ]
            name = ", ".join(f"{one:g}" for one in levels)
            print(f"| {name} | {alike:g} | {' | '.join(f'{one:.1f}' for one in shares)} |", flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=1_000, help="simulations per cell (default: %(default)d)")
    parser.add_argument("--only", choices=("pages", "ways", "given"))
    options = parser.parse_args()
    for name, show in (("pages", print_pages), ("ways", print_ways), ("given", print_given)):
        if options.only in {None, name}:
            show(options.rounds)
            print()


if __name__ == "__main__":
    main()
