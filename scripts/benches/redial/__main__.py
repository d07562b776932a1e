"""Query by clients with random queries and with connections closed when idle; print the cost.

For: `scripts/bench redial`, the figures of docs/method/redials.md. Runs the measured build, or RESOLAB_CORE. Not for:
studies (see plans). Exit code 1 when a figure misses its limit.
"""

import argparse
import sys
from pathlib import Path

from benches.common import program
from benches.common.progress import Progress
from benches.redial import figures
from benches.redial.figures import RedialBench

PROGRAM = "bench redial"
PARTS = {"redials": figures}


def main() -> int:
    """Measure and print the result."""
    options = _options()
    count = options.queries or (40 if options.quick else 200)

    def bench(scratch: Path, progress: Progress) -> RedialBench:
        return RedialBench(scratch, progress, options.profiles, count, options.gap_ms)

    return program.run(PROGRAM, PARTS, options, bench, {})


def _options() -> argparse.Namespace:
    parser = program.parser(PROGRAM, __doc__, PARTS)
    parser.add_argument("--queries", type=int, metavar="N", help="of each client (default: 200; quick: 40)")
    parser.add_argument("--profiles", nargs="+", default=["fiber", "4g"], metavar="PROFILE")
    parser.add_argument("--gap-ms", type=int, default=500, metavar="MS", help="between queries, mean (default: 500)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
