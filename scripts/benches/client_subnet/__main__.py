"""Replay queries of many subnets through unbound, with and without client subnets (RFC 7871); print hit ratios.

A second part computes the effect on real pages, by their models.

For: `scripts/bench client-subnet`, the figures of docs/method/client-subnet.md. Runs the measured build, or
RESOLAB_CORE. Not for: loading pages (see the factor `resolver_cache`). Exit code 1 when the closed form misses.
"""

import argparse
import sys
from pathlib import Path

from benches.client_subnet import figures, pages
from benches.client_subnet.figures import ClientSubnetBench
from benches.common import program
from benches.common.progress import Progress

PROGRAM = "bench client-subnet"
PARTS = {"cache": figures, "pages": pages}


def main() -> int:
    """Measure and print the result."""
    options = _options()
    measured_s = options.seconds or (10.0 if options.quick else 30.0)

    def bench(_scratch: Path, progress: Progress) -> ClientSubnetBench:
        return ClientSubnetBench(progress, options.rate, options.ttl_s, measured_s, options.delay_ms, options.seed)

    return program.run(PROGRAM, PARTS, options, bench, {})


def _options() -> argparse.Namespace:
    parser = program.parser(PROGRAM, __doc__, PARTS)
    parser.add_argument("--seconds", type=float, metavar="N", help="measured of each (default: 30; quick: 10)")
    parser.add_argument("--rate", type=float, default=1_000.0, metavar="N", help="queries a second (default: 1,000)")
    parser.add_argument("--ttl-s", type=int, default=10, metavar="N", help="of every name (default: 10)")
    parser.add_argument("--delay-ms", type=float, default=30.0, metavar="MS", help="of the authority (default: 30)")
    parser.add_argument("--seed", type=int, default=1, help="of the traces (default: 1)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
