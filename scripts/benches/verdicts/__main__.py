"""Compute the error rates of verdicts: on published loads of equal copies, in simulated campaigns, and with a tail.

For: `scripts/bench verdicts`, the figures of docs/benchmarks.md. Computations only: no lab, no quiet machine. Not for:
the time to a verdict. Exit code 1 when a rate misses its bound.
"""

import argparse
import sys
from pathlib import Path

from benches.common.result import facts, finish
from benches.verdicts import alike, campaigns, tail

PARTS = ("alike", "campaigns", "tail")


def main() -> int:
    """Compute the selected parts and print them."""
    options = _options()
    count = options.campaigns
    makers = {
        "alike": lambda: alike.measure(options.loads, options.seed),
        "campaigns": lambda: campaigns.measure(count, options.seed),
        "tail": lambda: tail.measure(max(1, count // 10), options.seed),
    }
    about = facts(quick=False)
    return finish(about, [makers[name]() for name in options.only or PARTS], options.json)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/bench verdicts", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only", nargs="+", choices=PARTS, metavar="PART", help=f"of {', '.join(PARTS)} (default: all)"
    )
    parser.add_argument(
        "--loads", type=Path, default=Path("docs/results/aa"), metavar="DIR", help="a dataset with three copies"
    )
    parser.add_argument(
        "--campaigns", type=int, default=2_000, metavar="N", help="simulated campaigns (default: %(default)s)"
    )
    parser.add_argument(
        "--seed", type=int, default=1, metavar="N", help="of every random number (default: %(default)s)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result there for machines, too")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
