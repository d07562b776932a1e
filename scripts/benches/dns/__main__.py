"""Measure the DNS clients: their error, their load's cost beside dnsperf's, their cold exchanges; print one result.

For: `scripts/bench dns`, the figures of docs/benchmarks.md and docs/method/accuracy.md. Runs the measured build, or
RESOLAB_CORE. Not for: studies (see plans). Exit code 1 when a figure misses its limit.
"""

import argparse
import sys
from pathlib import Path

from benches.common import program
from benches.common.part import DnsBench
from benches.common.progress import Progress
from benches.dns import accuracy, cold, load

PROGRAM = "bench dns"
PARTS = {"accuracy": accuracy, "load": load, "cold": cold}


def main() -> int:
    """Measure the selected parts and print the result."""
    options = _options()

    def bench(scratch: Path, progress: Progress) -> DnsBench:
        count = options.exchanges or (10 if options.quick else 200)
        idle_count = min(options.idle_exchanges or count, count)
        which = (options.profiles, options.transports, options.handshakes, options.against)
        arguments = (options.quick, scratch, progress, count, idle_count, *which)
        return DnsBench(*arguments)

    return program.run(PROGRAM, PARTS, options, bench, {"against": options.against} if options.against else {})


def _options() -> argparse.Namespace:
    parser = program.parser(PROGRAM, __doc__, PARTS)
    parser.add_argument("--transports", nargs="+", default=cold.TRANSPORTS, choices=cold.TRANSPORTS)
    chosen = parser.add_argument_group("cold exchanges")
    chosen.add_argument("--profiles", nargs="+", default=cold.PROFILES, metavar="PROFILE")
    chosen.add_argument("--handshakes", nargs="+", default=cold.HANDSHAKES, choices=cold.HANDSHAKES)
    chosen.add_argument("--exchanges", type=int, metavar="N", help="of each cell (default: 200; quick: 10)")
    chosen.add_argument("--idle-exchanges", type=int, metavar="N", help="without keep-awake (default: as many)")
    chosen.add_argument("--against", metavar="BINARY", help="another resolab-core to measure in turn with this one")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
