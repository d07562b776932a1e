"""Measure the emulated path against its limits; print one table with the machine's facts.

For: `scripts/bench link`, the figures of docs/benchmarks.md. Runs the measured build, or RESOLAB_CORE. Not for: single
profiles (`./resolab calibrate`). Exit code 1 when a figure misses its limit.
"""

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable

from rich.console import Console
from rich.table import Table

from benches.link import cycles, delay, link, load
from benches.link.bench import LinkBench
from benches.link.figure import LinkFigure
from resolab.basics.errors import ResolabError
from resolab.basics.records import PathBackend
from resolab.lab import engine
from resolab.store import describe_machine

FIGURES: dict[str, Callable[[LinkBench], Awaitable[list[LinkFigure]]]] = {
    "delay": delay.busy_as_root,
    "delay-rootless": delay.rootless,
    "rate": link.rate,
    "loss": link.loss,
    "tcp": load.tcp,
    "cpu": load.cpu,
    "cycles": cycles.cycles,
    "lateness": load.lateness,
}


def main() -> int:
    """Measure the selected figures and print the result."""
    options = _options()
    # Devices and processes are put back as they were, also on a polite end.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    cycles_count = options.cycles or (250 if options.quick else 1_000)
    bench = LinkBench(options.quick, PathBackend(options.backend) if options.backend else None, cycles_count)
    facts = _facts(bench)
    try:
        figures = asyncio.run(_measure(bench, options.only or list(FIGURES)))
    except ResolabError as error:
        print(f"bench link: {error}", file=sys.stderr)
        return error.exit_code
    facts["load average at the end"] = _load_average()
    if options.json:
        print(json.dumps({"facts": facts, "figures": [figure.as_json() for figure in figures]}))
    else:
        _show(facts, figures)
    return int(not options.json and any(figure.verdict == "MISSED" for figure in figures))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/bench link", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a quarter of the length; the figures are coarser")
    parser.add_argument("--only", action="append", choices=list(FIGURES), help="this figure; can be given again")
    parser.add_argument("--backend", choices=[one.value for one in PathBackend], help="what moves the packets")
    parser.add_argument("--cycles", type=int, help="start/stop cycles (default: 1000; quick: 250)")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of the table; always exit code 0")
    return parser.parse_args()


async def _measure(bench: LinkBench, names: list[str]) -> list[LinkFigure]:
    figures = []
    for name in names:
        began = time.monotonic()
        print(f"{name} ...", end="", file=sys.stderr, flush=True)
        figures += await FIGURES[name](bench)
        print(f" {time.monotonic() - began:.0f} s", file=sys.stderr)
    return figures


def _facts(bench: LinkBench) -> dict[str, str]:
    machine = describe_machine()
    core = subprocess.run([engine.find_core(), "--version"], capture_output=True, text=True, check=False)
    memory = "" if machine.memory_bytes is None else f", {machine.memory_bytes / 2**30:.0f} GiB"
    return {
        "machine": f"{machine.processor or machine.architecture}, {machine.cores_count} cores{memory}",
        "kernel": machine.kernel,
        "core": f"{core.stdout.strip()} ({engine.find_core()})",
        "back end": bench.backend.value if bench.backend else "default",
        "user": "root" if os.geteuid() == 0 else f"uid {os.geteuid()}",
        "length": "quick" if bench.quick else "full",
        "load average at the start": _load_average(),
    }


def _load_average() -> str:
    return " ".join(f"{value:.2f}" for value in os.getloadavg())


def _show(facts: dict[str, str], figures: list[LinkFigure]) -> None:
    console = Console(width=None if sys.stdout.isatty() else 160)
    for name, value in facts.items():
        console.print(f"{name}: {value}", highlight=False)
    table = Table("figure", "must", "aim", "measured", "verdict")
    for figure in figures:
        table.add_row(figure.name, figure.must, figure.aim, figure.measured, figure.verdict)
    console.print(table)
    for figure in figures:
        for what, values in figure.details.get("p50_p99_max_us", {}).items():
            console.print(f"{figure.name.partition(':')[0]}, {what}: {values}", highlight=False)


if __name__ == "__main__":
    sys.exit(main())
