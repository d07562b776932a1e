"""Measure the DNS clients: their error, their load's cost beside dnsperf's, their cold exchanges; print one result.

For: `scripts/bench dns`, the figures of docs/benchmarks.md and docs/method/accuracy.md. It uses the release build, or
RESOLAB_CORE. Not for: studies; those are plans. Exit code 1 when a figure is missed.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from dns_figures import accuracy, cold, load
from dns_figures.part import Bench, Part
from dns_figures.progress import Progress, duration
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from resolab import engine
from resolab.errors import ResolabError
from resolab.store import describe_machine

PARTS = {"accuracy": accuracy, "load": load, "cold": cold}
WIDTH = 190


def main() -> int:
    """Measure what was asked for and print it."""
    options = _options()
    # Devices and processes are put back as they were, also on a polite end.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    facts = describe(quick=options.quick) | ({"against": options.against} if options.against else {})
    with tempfile.TemporaryDirectory(prefix="resolab-bench-") as scratch:
        try:
            parts = _measure(options, Path(scratch))
        except ResolabError as error:
            print(f"\nbench dns: {error}", file=sys.stderr)
            return error.exit_code
        except subprocess.SubprocessError as error:
            print(f"\nbench dns: {error}", file=sys.stderr)
            return 70
        except KeyboardInterrupt:
            return 130
    facts["load average at the end"] = _load_average()
    show(facts, parts)
    if options.json:
        result = {"facts": facts, "parts": [part.as_json() for part in parts]}
        options.json.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    return int(any(part.missed_count for part in parts))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/bench dns", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a trial of a few minutes; the figures are coarser")
    parser.add_argument("--only", action="append", choices=list(PARTS), help="this part; can be given again")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result there for machines, too")
    parser.add_argument("--transports", nargs="+", default=cold.TRANSPORTS, choices=cold.TRANSPORTS)
    chosen = parser.add_argument_group("cold exchanges")
    chosen.add_argument("--profiles", nargs="+", default=cold.PROFILES, metavar="PROFILE")
    chosen.add_argument("--exchanges", type=int, metavar="N", help="of each cell (default: 200; quick: 10)")
    chosen.add_argument("--idle-exchanges", type=int, metavar="N", help="without keep-awake (default: as many)")
    chosen.add_argument("--against", metavar="BINARY", help="another resolab-core to measure in turn with this one")
    return parser.parse_args()


def _measure(options: argparse.Namespace, scratch: Path) -> list[Part]:
    names = [name for name in PARTS if name in (options.only or PARTS)]

    def bench(progress: Progress) -> Bench:
        count = options.exchanges or (10 if options.quick else 200)
        idle_count = min(options.idle_exchanges or count, count)
        which = (options.profiles, options.transports, options.against)
        arguments = (options.quick, scratch, progress, count, idle_count, *which)
        return Bench(*arguments)

    foreseen_s = [PARTS[name].estimate_s(bench(Progress(0.0))) for name in names]
    print(f"bench dns: {', '.join(names)}; about {duration(sum(foreseen_s))}", file=sys.stderr)
    progress = Progress(sum(foreseen_s))
    try:
        return [part for name in names for part in PARTS[name].measure(bench(progress))]
    finally:
        progress.end()


def describe(*, quick: bool) -> dict[str, str]:
    """Return what the figures depend on: machine, kernel, program, load."""
    machine = describe_machine()
    core = subprocess.run([engine.find_core(), "--version"], capture_output=True, text=True, check=False)
    memory = "" if machine.memory_bytes is None else f", {machine.memory_bytes / 2**30:.0f} GiB"
    return {
        "machine": f"{machine.processor or machine.architecture}, {machine.cores_count} cores{memory}",
        "kernel": machine.kernel,
        "core": f"{core.stdout.strip()} ({engine.find_core()})",
        "length": "quick" if quick else "full",
        "load average at the start": _load_average(),
    }


def _load_average() -> str:
    return " ".join(f"{value:.2f}" for value in os.getloadavg())


def show(facts: dict[str, str], parts: list[Part]) -> None:
    """Print facts and tables."""
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    for name, value in facts.items():
        console.print(f"{name}: {value}", highlight=False, soft_wrap=True)
    for part in parts:
        table = Table(*map(escape, part.columns), title=escape(f"{part.name}: {part.title}"), title_justify="left")
        for row in part.rows:
            table.add_row(*map(escape, row))
        console.print()
        console.print(table)
        for remark in part.remarks:
            console.print(f"- {remark}", highlight=False, markup=False)
    missed = sum(part.missed_count for part in parts)
    console.print(f"\n{missed} figure(s) missed" if missed else "\nnothing missed")


if __name__ == "__main__":
    sys.exit(main())
