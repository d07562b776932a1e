"""Ask twenty names at once, one of them slow, in one message and one by one; print when, in how many bytes, packets.

For: `scripts/bench partial`, the figures of docs/method/partial-responses.md. It uses the release build, or
RESOLAB_CORE.
Not for: studies; those are plans. Exit code 1 when a figure is missed.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from benches.common import result
from benches.dns.cold import TRANSPORTS
from benches.partial import figures
from resolab.errors import ResolabError


def main() -> int:
    """Measure and print."""
    options = _options()
    facts = result.facts(quick=options.quick)
    wanted = figures.Wanted(
        options.profile,
        options.transports,
        options.names,
        options.delay_ms,
        options.rounds or (5 if options.quick else 20),
    )
    with tempfile.TemporaryDirectory(prefix="resolab-bench-") as scratch:
        try:
            parts = figures.measure(wanted, Path(scratch))
        except ResolabError as error:
            print(f"bench partial: {error}", file=sys.stderr)
            return error.exit_code
        except subprocess.SubprocessError as error:
            print(f"bench partial: {error}", file=sys.stderr)
            return 70
        except KeyboardInterrupt:
            return 130
    return result.finish(facts, parts, options.json)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/bench partial", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="five rounds of each cell")
    parser.add_argument("--rounds", type=int, metavar="N", help="of each cell (default: 20; quick: 5)")
    parser.add_argument("--profile", default="4g")
    parser.add_argument("--transports", nargs="+", default=TRANSPORTS, choices=TRANSPORTS)
    parser.add_argument("--names", type=int, default=20, metavar="N", help="asked at once (default: 20)")
    parser.add_argument(
        "--delay-ms", type=float, default=150.0, metavar="MS", help="of the last of them (default: 150)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result there for machines, too")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
