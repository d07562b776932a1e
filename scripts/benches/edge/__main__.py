"""Measure the edge beside other servers under the same load: processor time per query and per page; print one result.

For: `scripts/bench edge`, the figures of docs/benchmarks.md. Runs the measured build, or RESOLAB_CORE. Not for: the
cost of clients (`bench dns`). Exit code 1 when a figure misses its limit.
"""

import argparse
import sys
from pathlib import Path

from benches.common import program
from benches.common.progress import Progress
from benches.edge import cache, cache_verdict, pages, queries
from benches.edge.bench import EdgeBench

PROGRAM = "bench edge"
PARTS = {"queries": queries, "cache": cache, "verdict": cache_verdict, "pages": pages}
TRANSPORTS = ["doudp", "dot", "doh", "doq", "doh3"]


def main() -> int:
    """Measure the selected parts and print the result."""
    options = _options()

    def bench(scratch: Path, progress: Progress) -> EdgeBench:
        return EdgeBench(options.quick, scratch, progress, options.transports)

    return program.run(PROGRAM, PARTS, options, bench, {})


def _options() -> argparse.Namespace:
    parser = program.parser(PROGRAM, __doc__, PARTS)
    parser.add_argument("--transports", nargs="+", default=TRANSPORTS, choices=TRANSPORTS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
