"""Measure the gateway: round trips in browsers by the tap, large bodies, the corpus through it; print one result.

For: `scripts/bench gateway`, the figures of docs/method/gateway.md. Runs the measured build, or RESOLAB_CORE. Not for:
the savings by sharing (see plans). Exit code 1 when a figure misses its limit.
"""

import argparse
import sys
from pathlib import Path

from benches.common import program
from benches.common.progress import Progress
from benches.gateway import bodies, corpus, round_trips
from benches.gateway.bench import GatewayBench
from resolab.plan import Corpus

PROGRAM = "bench gateway"
PARTS = {"round-trips": round_trips, "bodies": bodies, "corpus": corpus}
BROWSERS = ["chromium", "firefox"]


def main() -> int:
    """Measure the selected parts and print the result."""
    options = _options()
    models = Corpus.from_project().models()
    corpus_pages = [name for name, file in models.items() if file.parent.name == "corpus"]
    pages = options.pages or corpus_pages[:: 12 if options.quick else 1]
    loads = options.loads or (2 if options.quick else 6)

    def bench(scratch: Path, progress: Progress) -> GatewayBench:
        return GatewayBench(options.quick, scratch, progress, options.browsers, loads, pages)

    return program.run(PROGRAM, PARTS, options, bench, {})


def _options() -> argparse.Namespace:
    parser = program.parser(PROGRAM, __doc__, PARTS)
    parser.add_argument("--browsers", nargs="+", default=BROWSERS, choices=BROWSERS)
    parser.add_argument("--loads", type=int, metavar="N", help="of each cell of round-trips (default: 6; quick: 2)")
    parser.add_argument("--pages", nargs="+", metavar="NAME", help="of corpus (default: all; quick: every twelfth)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
