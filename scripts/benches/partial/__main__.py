"""Query twenty names in a single message and in twenty messages; print times, bytes and packets.

One of the names is slow.

For: `scripts/bench partial`, the figures of docs/method/partial-responses.md. Runs the measured build, or RESOLAB_CORE.
Not for: studies (see plans). Exit code 1 when a figure misses its limit.
"""

import argparse
import sys
from pathlib import Path

from benches.common import program
from benches.common.progress import Progress
from benches.dns.cold import TRANSPORTS
from benches.partial import drawn, figures, loss, sizes
from benches.partial.figures import PartialResponseBench

PROGRAM = "bench partial"
PARTS = {"names": figures, "bytes": sizes, "drawn": drawn, "loss": loss}


def main() -> int:
    """Measure and print the result."""
    options = _options()
    rounds_count = options.rounds or (5 if options.quick else 20)

    def bench(scratch: Path, progress: Progress) -> PartialResponseBench:
        return PartialResponseBench(
            scratch,
            progress,
            options.profile,
            options.transports,
            options.names,
            options.delay_ms,
            rounds_count,
        )

    return program.run(PROGRAM, PARTS, options, bench, {})


def _options() -> argparse.Namespace:
    parser = program.parser(PROGRAM, __doc__, PARTS)
    parser.add_argument("--rounds", type=int, metavar="N", help="of each cell (default: 20; quick: 5)")
    parser.add_argument("--profile", default="4g")
    parser.add_argument("--transports", nargs="+", default=TRANSPORTS, choices=TRANSPORTS)
    parser.add_argument("--names", type=int, default=20, metavar="N", help="asked at once (default: 20)")
    parser.add_argument(
        "--delay-ms", type=float, default=150.0, metavar="MS", help="of the last of them (default: 150)"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
