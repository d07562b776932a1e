"""Measure the round trips until a name and its page's first byte are there, by the tap; print one table.

For: `scripts/bench coalescing`, the figures of docs/method/coalescing.md. Runs the measured build, or RESOLAB_CORE. Not
for: studies (see plans). Exit code 1 when a figure misses its limit.
"""

import argparse
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from benches.coalescing import figures
from benches.common import result
from resolab.basics.errors import ResolabError


def main() -> int:
    """Measure and print the result."""
    # What it started is ended, and what it wrote for itself removed, also on a polite end.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    options = _options()
    facts = result.facts(quick=options.quick)
    count = options.fetches or (3 if options.quick else 10)
    with tempfile.TemporaryDirectory(prefix="resolab-bench-") as scratch:
        try:
            part = figures.measure(options.profile, count, options.pages_kb, Path(scratch))
        except ResolabError as error:
            print(f"bench coalescing: {error}", file=sys.stderr)
            return error.exit_code
        except subprocess.SubprocessError as error:
            print(f"bench coalescing: {error}", file=sys.stderr)
            return 70
        except KeyboardInterrupt:
            return 130
    return result.finish(facts, [part], options.json)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/bench coalescing", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="three fetches of each cell")
    parser.add_argument("--fetches", type=int, metavar="N", help="of each cell (default: 10; quick: 3)")
    parser.add_argument("--profile", default="4g")
    parser.add_argument("--pages-kb", type=int, nargs="+", default=figures.PAGES_KB, metavar="KB")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result there for machines, too")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
