"""Measure a fleet: no loss under any failure, the cost of hundreds of agents, and a fleet's extra time per block.

For: `scripts/bench fleet`, the figures of docs/benchmarks.md. Exit code 1 when a block is not in a dataset exactly
once, or a fleet's extra time exceeds its limit. The program mounts separate file systems, in a separate mount
namespace: run the program as root. Not for: the measurements of trials.
"""

import argparse
import asyncio
import json
import os
import signal
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benches.common.result import facts
from benches.fleet import chaos, light, overhead, scale
from resolab.basics.errors import ResolabError

APART = "RESOLAB_BENCH_MOUNTS"


def main() -> int:
    """Measure the selected parts."""
    options = _options()
    if APART not in os.environ:
        arguments = ["unshare", "--mount", "--propagation", "private", sys.executable, "-m", "benches.fleet"]
        os.environ[APART] = "own"
        os.execvp(arguments[0], [*arguments, *sys.argv[1:]])
    # What it started is ended, also on a polite end.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    light.stub_versions()
    with tempfile.TemporaryDirectory(prefix="resolab-bench-") as folder:
        home = options.folder or Path(folder)
        home.mkdir(parents=True, exist_ok=True)
        try:
            return _measure(options, home)
        except (ResolabError, TimeoutError) as error:
            print(f"bench fleet: {error}", file=sys.stderr)
            return 70


def _measure(options: argparse.Namespace, home: Path) -> int:
    machine = facts(quick=False)
    for name, value in machine.items():
        print(f"{name}: {value}")
    gone = (
        asyncio.run(chaos.rounds(home / "chaos", options.rounds, options.blocks, options.seed))
        if options.rounds
        else []
    )
    if gone:
        print(chaos.summary(gone))
    done = (
        asyncio.run(scale.sizes(home / "scale", options.agents, options.sizes, options.seed)) if options.sizes else []
    )
    added: overhead.Overhead | None = None
    if options.overhead:
        added = overhead.measure(home / "overhead", options.overhead, options.blocks)
        print(overhead.line(added))
    if options.json:
        result: dict[str, Any] = {
            "facts": machine,
            "rounds": [asdict(one) for one in gone],
            "sizes": [asdict(one) for one in done],
        }
        result["overhead"] = None if added is None else asdict(added)
        options.json.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    lost = any(one.problems for one in gone) or any(one.problems for one in done)
    return int(lost or (added is not None and added.median_s > overhead.MOST_S))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench fleet", description=__doc__)
    parser.add_argument("--rounds", type=int, default=20, metavar="N", help="rounds of chaos (default: 20; 0: none)")
    parser.add_argument(
        "--blocks", type=int, default=25, metavar="N", help="of a vantage point in a round (default: 25)"
    )
    parser.add_argument(
        "--sizes", type=int, nargs="*", default=[2_000, 20_000], metavar="N", help="blocks of all agents together"
    )
    parser.add_argument(
        "--overhead",
        type=int,
        default=4,
        metavar="N",
        help="rounds of run and fleet of one, real browsers (default: 4; evenly many, so that a drift falls out)",
    )
    parser.add_argument("--agents", type=int, default=200, metavar="N", help="in the runs of --sizes (default: 200)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="keep logs there (default: a folder that goes)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result there for machines, too")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
