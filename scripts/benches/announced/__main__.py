"""Compute what real pages would save by announced names, from their models; print the savings.

For: `scripts/bench announced`, the figures of real pages in docs/method/announced-names.md. Not for: measured waits
(the plan `announced`).
"""

import argparse
import sys
from pathlib import Path

from benches.announced import pages
from benches.announced.pages import AnnouncementBench
from benches.common import program
from benches.common.progress import Progress

PROGRAM = "bench announced"
PARTS = {"pages": pages}


def main() -> int:
    """Compute and print the result."""
    options = _options()

    def bench(_scratch: Path, progress: Progress) -> AnnouncementBench:
        return AnnouncementBench(progress, options.profile)

    return program.run(PROGRAM, PARTS, options, bench, {})


def _options() -> argparse.Namespace:
    parser = program.parser(PROGRAM, __doc__, PARTS)
    parser.add_argument("--profile", default="4g")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
