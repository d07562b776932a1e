"""Replay queries of many subnets through unbound, with client subnets (RFC 7871) and without; print its hit ratios.

For: `scripts/bench client-subnet`, the figures of docs/method/client-subnet.md. It uses the release build, or
RESOLAB_CORE. Not for: what a hit is worth to a page; that is the factor `resolver_cache`. Exit code 1 when the closed
form misses.
"""

import argparse
import subprocess
import sys
from pathlib import Path

from benches.client_subnet import figures
from benches.common import result
from benches.common.progress import Progress, duration
from benches.common.servers import needed
from resolab.errors import ResolabError

PROGRAM = "bench client-subnet"


def main() -> int:
    """Measure and print."""
    options = _options()
    facts = result.facts(quick=options.quick)
    measured_s = options.seconds or (10.0 if options.quick else 30.0)
    wanted = figures.Wanted(options.rate, options.ttl_s, measured_s, options.delay_ms, options.seed)
    foreseen_s = figures.estimate_s(wanted)
    print(f"{PROGRAM}: about {duration(foreseen_s)}", file=sys.stderr)
    progress = Progress(foreseen_s, PROGRAM)
    try:
        needed("unbound")
        parts = figures.measure(wanted, progress)
    except ResolabError as error:
        print(f"\n{PROGRAM}: {error}", file=sys.stderr)
        return error.exit_code
    except subprocess.SubprocessError as error:
        print(f"\n{PROGRAM}: {error}", file=sys.stderr)
        return 70
    except KeyboardInterrupt:
        return 130
    finally:
        progress.end()
    return result.finish(facts, parts, options.json)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog=f"scripts/{PROGRAM}", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="ten seconds of each")
    parser.add_argument("--seconds", type=float, metavar="N", help="measured of each (default: 30; quick: 10)")
    parser.add_argument("--rate", type=float, default=1_000.0, metavar="N", help="queries a second (default: 1,000)")
    parser.add_argument("--ttl-s", type=int, default=10, metavar="N", help="of every name (default: 10)")
    parser.add_argument("--delay-ms", type=float, default=30.0, metavar="MS", help="of the authority (default: 30)")
    parser.add_argument("--seed", type=int, default=1, help="of the traces (default: 1)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result there for machines, too")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
