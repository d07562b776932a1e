"""Measure an internet's exchange: round trips against the configuration by number of hosts, and the capacity.

For: `scripts/bench internet`, the figures of docs/formats/internet.md. Runs the measured build, or RESOLAB_CORE. Needs
root or an open /dev/net/tun. Not for: links in detail (`scripts/bench link`). Exit code 1 when a figure misses its
limit.
"""

import argparse
import sys

from benches.common import program
from benches.internet import delay, load
from benches.internet.against_lab import command as against_lab
from benches.internet.bench import InternetBench

PARTS = {"delay": delay, "load": load}
ASKS_COUNT, QUICK_ASKS_COUNT = 4_000, 1_000
LOAD_S, QUICK_LOAD_S = 5.0, 2.0


def main() -> int:
    """Measure the selected parts and print the result."""
    words = sys.argv[1:]
    if against_lab.FLAG in words:
        return against_lab.main([word for word in words if word != against_lab.FLAG])
    options = _options()
    asks_count = QUICK_ASKS_COUNT if options.quick else ASKS_COUNT
    load_s = QUICK_LOAD_S if options.quick else LOAD_S
    keep_awake = (False,) if options.no_keep_awake else (False, True)
    return program.run(
        "bench internet",
        PARTS,
        options,
        lambda _scratch, progress: InternetBench(asks_count, load_s, keep_awake, progress),
        {},
    )


def _options() -> argparse.Namespace:
    parser = program.parser("bench internet", __doc__, PARTS)
    parser.add_argument("--no-keep-awake", action="store_true", help="delays only with processors left to idle")
    parser.add_argument(
        against_lab.FLAG,
        action="store_true",
        help="page loads by live mode beside the lab's instead; see its --help",
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
