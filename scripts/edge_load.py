#!/usr/bin/env python3
"""Many DoQ connections to the edge at full size: 10,000 open, 1,000 new connections per second for 30 s.

For: the load to be handled by the edge without an error or growth afterwards; needs a quiet machine and a release
build. Not for: speed (`scripts/bench`).
"""

import argparse
import os
import subprocess
import sys


def main() -> int:
    """Run the load test with the given sizes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--open", type=int, default=10_000, help="connections held open")
    parser.add_argument("--rate", type=int, default=1_000, help="new connections a second beside them")
    parser.add_argument("--seconds", type=int, default=30, help="for how long")
    sizes = parser.parse_args()
    environment = dict(os.environ)
    environment |= {"RESOLAB_OPEN": str(sizes.open), "RESOLAB_RATE": str(sizes.rate)}
    environment |= {"RESOLAB_SECONDS": str(sizes.seconds)}
    command = ["cargo", "test", "--release", "-p", "resolab-edge", "--test", "many_connections", "--", "--nocapture"]
    return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
