"""Fetch a document and the addresses of its names, with four kinds of announcement; print the waits for names.

For: `scripts/bench announced`, the figures of docs/method/announced-names.md. Runs the measured build, or RESOLAB_CORE.
Not for: studies (see plans). Exit code 1 when a figure misses its limit.
"""

import argparse
import sys
from pathlib import Path

from benches.announced import figures, pages
from benches.announced.figures import AnnouncementBench
from benches.common import program
from benches.common.progress import Progress

PROGRAM = "bench announced"
PARTS = {"names": figures, "pages": pages}


def main() -> int:
    """Measure and print the result."""
    options = _options()
    rounds_count = options.rounds or (4 if options.quick else 12)

    def bench(scratch: Path, progress: Progress) -> AnnouncementBench:
        return AnnouncementBench(
            scratch, progress, options.profile, options.names, rounds_count, options.congestion_control
        )

    return program.run(PROGRAM, PARTS, options, bench, {})


def _options() -> argparse.Namespace:
    parser = program.parser(PROGRAM, __doc__, PARTS)
    parser.add_argument("--rounds", type=int, metavar="N", help="of each cell (default: 12; quick: 4)")
    parser.add_argument("--profile", default="4g")
    parser.add_argument(
        "--names", type=int, default=8, metavar="N", help="in the document (default: 8; judged below 9)"
    )
    parser.add_argument(
        "--congestion-control",
        default="reno",
        metavar="NAME",
        help="of both hosts' TCP (default: reno; bbr paces, for which the closed form has no term)",
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
