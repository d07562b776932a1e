"""Query twenty names in a single message and in twenty messages; print the bytes of each layer, and packets.

For: `scripts/bench partial`, the bytes of docs/method/partial-responses.md. Runs the measured build, or RESOLAB_CORE.
Not for: times (the plan `partial`). Exit code 1 when a figure misses its closed form.
"""

import argparse
import sys
from pathlib import Path

from benches.common import program
from benches.common.progress import Progress
from benches.dns.cold import TRANSPORTS
from benches.partial import sizes
from benches.partial.sizes import PartialResponseBench

PROGRAM = "bench partial"
PARTS = {"bytes": sizes}


def main() -> int:
    """Measure and print the result."""
    options = _options()

    def bench(scratch: Path, progress: Progress) -> PartialResponseBench:
        return PartialResponseBench(
            scratch,
            progress,
            options.profile,
            options.transports,
            options.names,
            options.delay_ms,
        )

    return program.run(PROGRAM, PARTS, options, bench, {})


def _options() -> argparse.Namespace:
    parser = program.parser(PROGRAM, __doc__, PARTS)
    parser.add_argument("--profile", default="4g")
    parser.add_argument("--transports", nargs="+", default=TRANSPORTS, choices=TRANSPORTS)
    parser.add_argument("--names", type=int, default=20, metavar="N", help="asked at once (default: 20)")
    parser.add_argument(
        "--delay-ms", type=float, default=150.0, metavar="MS", help="of the last of them (default: 150)"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
