"""The end of a benchmark: the machine's facts, tables for people, data for machines, and the exit code.

For: every `scripts/bench` with parts. Not for: measuring.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from benches.common.part import BenchPart
from resolab.lab import engine
from resolab.store import describe_machine

WIDTH = 190


def finish(facts: dict[str, str], parts: Sequence[BenchPart], json_file: Path | None) -> int:
    """Show the result, write a file for machines if requested, and return the exit code: 1 when a figure is missed."""
    facts["load average at the end"] = _load_average()
    _show(facts, parts)
    if json_file:
        whole = {"facts": facts, "parts": [part.as_json() for part in parts]}
        json_file.write_text(json.dumps(whole, indent=1) + "\n", "utf-8")
    return int(any(part.missed_count for part in parts))


def facts(*, quick: bool) -> dict[str, str]:
    """Describe machine, binary and length."""
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


def _show(facts: dict[str, str], parts: Sequence[BenchPart]) -> None:
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
