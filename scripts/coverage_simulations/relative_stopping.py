"""Print the remaining level when a run stops by `ci_width_ratio`, as the table of docs/method/statistics.md.

For: knowing the value of the rule. Not for: intervals of a fixed number of blocks (`intervals.py`).
"""

import argparse

from resolab.stats import STOPPING_LEVEL, STOPPING_MIN_BLOCKS, bootstrap
from resolab.stats.coverage.stopping import KINDS, WidthStoppingRule, simulate, typical_width

TARGETS = (15, 25, 45)
RULES = (
    WidthStoppingRule(0.95, 6),
    WidthStoppingRule(0.95, 12),
    WidthStoppingRule(STOPPING_LEVEL, STOPPING_MIN_BLOCKS),
)


def main() -> None:
    """Print a row per rule and kind of data, a column per requested width."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=1_000, help="simulated runs per row (default: %(default)d)")
    parser.add_argument("--resamples", type=int, default=bootstrap.RESAMPLES_COUNT, help="default: %(default)d")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--level", type=float, help="only rules of this level")
    parser.add_argument("--kind", choices=KINDS, action="append", help="only these data")
    options = parser.parse_args()
    bootstrap.RESAMPLES_COUNT = options.resamples
    print("| level, least blocks | data | " + " | ".join(f"stops near {target}" for target in TARGETS) + " |")
    print("|" + " --- |" * (len(TARGETS) + 2))
    for rule in (one for one in RULES if options.level in {None, one.level}):
        for kind in options.kind or KINDS:
            widths = [typical_width(kind, target, rule.level) for target in TARGETS]
            cells = [
                f"{one.held_ratio * 100:.1f} ({one.blocks_mean:.0f})"
                for one in simulate(kind, widths, rule, options.rounds, options.seed)
            ]
            words = (f"{rule.level * 100:g} %, {rule.least_blocks}", kind, *cells)
            print(f"| {' | '.join(words)} |", flush=True)


if __name__ == "__main__":
    main()
