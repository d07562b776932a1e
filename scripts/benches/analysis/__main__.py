"""Measure the growth of the query analysis: datasets of the real schema, all query tables and figures of each.

For: `scripts/bench analysis`, the figures of docs/benchmarks.md. Each dataset is synthetic and lies in a temporary
folder. Separate processes analyse the dataset, one after the other; then the dataset is removed. The run with the
median time represents the dataset. Not for: page loads; the hours of a campaign bound their number. Exit code 1 when
the largest dataset of 1e8 rows or more exceeds the limits of time or memory.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benches.analysis import dataset, measure
from resolab.store import describe_machine

ROWS = (1_000_000, 10_000_000, 100_000_000)
SECONDS_LIMIT, RESIDENT_LIMIT_MB = 60.0, 2_000.0
ANALYSIS_ROWS = 100_000_000
DISK_BYTES_PER_ROW = 24
"""Some 10 bytes per row in Parquet, and about the same for DuckDB's temporary files."""


def main() -> int:
    """Measure the selected sizes and print the result."""
    # What it started is ended, and what it wrote for itself removed, also on a polite end.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    options = _options()
    if options.measure:
        print(json.dumps(measure.analyse(options.measure)))
        return 0
    results: list[dict[str, Any]] = []
    for rows in sorted(options.rows):
        with tempfile.TemporaryDirectory(prefix="resolab-bench-", dir=options.scratch) as scratch:
            free = shutil.disk_usage(scratch).free
            if free < rows * DISK_BYTES_PER_ROW:
                needed = rows * DISK_BYTES_PER_ROW / 1e9
                print(
                    f"bench analysis: {rows:.0e} rows need {needed:.1f} GB in {scratch}; give --scratch",
                    file=sys.stderr,
                )
                return 4
            results.append(_measure_dataset(rows, Path(scratch), options.rounds))
    for one in results:
        one["cost_per_row_ratio"] = (one["seconds"] / one["rows"]) / (results[0]["seconds"] / results[0]["rows"])
    facts = _facts()
    console = Console(width=160)
    console.print(_table(results), highlight=False)
    console.print(json.dumps(facts), highlight=False, soft_wrap=True)
    if options.json:
        options.json.write_text(json.dumps({"facts": facts, "results": results}, indent=2) + "\n", "utf-8")
    large = [one for one in results if one["rows"] >= ANALYSIS_ROWS]
    missed = any(one["seconds"] > SECONDS_LIMIT or one["resident_max_mb"] > RESIDENT_LIMIT_MB for one in large)
    return int(missed)


def _measure_dataset(rows: int, scratch: Path, rounds: int) -> dict[str, Any]:
    """Make a dataset and analyse the dataset in separate processes; the measured memory is the analysis's alone."""
    print(f"bench analysis: making {rows:,} rows", file=sys.stderr)
    made_s = dataset.make(scratch, rows)
    size = sum(file.stat().st_size for file in scratch.rglob("*.parquet"))
    print(f"bench analysis: made in {made_s:.0f} s, {size / 1e6:.0f} MB; analysing", file=sys.stderr)
    command = [sys.executable, "-m", "benches.analysis", "--measure", str(scratch)]
    runs: list[dict[str, Any]] = [
        json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout) for _ in range(rounds)
    ]
    runs.sort(key=lambda one: one["seconds"])
    middle = runs[len(runs) // 2]  # the whole of it, so that its parts add up to it
    most_mb = max(one["resident_max_mb"] for one in runs)
    facts = {"rows": rows, "parquet_mb": size / 1e6, "made_s": made_s, "rounds_s": [one["seconds"] for one in runs]}
    return facts | middle | {"resident_max_mb": most_mb}


def _facts() -> dict[str, object]:
    machine = describe_machine()
    return {
        "processor": machine.processor,
        "cores_count": machine.cores_count,
        "kernel": machine.kernel,
        "load_average": [round(one, 2) for one in os.getloadavg()],
    }


def _table(results: list[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False)
    names = ("rows", "seconds", "processor s", "resident MB", "rows/s", "cost per row", "Parquet MB")
    for name in (*names, "rounds, s", "parts, s"):
        table.add_column(name, justify="left" if "," in name else "right")
    for one in results:
        parts = ", ".join(f"{name} {seconds:.1f}" for name, seconds in one["parts_s"].items())
        table.add_row(
            f"{one['rows']:.0e}", f"{one['seconds']:.1f}", f"{one['processor_s']:.1f}",
            f"{one['resident_max_mb']:.0f}", f"{one['rows'] / one['seconds']:.2e}",
            f"{one['cost_per_row_ratio']:.2f}", f"{one['parquet_mb']:.0f}",
            ", ".join(f"{seconds:.1f}" for seconds in one["rounds_s"]), parts,
        )  # fmt: skip
    return table


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/bench analysis", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", nargs="+", type=lambda text: int(float(text)), default=list(ROWS), metavar="N")
    parser.add_argument("--scratch", type=Path, metavar="DIR", help="where the datasets are made (default: TMPDIR)")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="analyses of each (default: %(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result there for machines, too")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error(f"--rounds {options.rounds}: give 1 or more")
    return options


if __name__ == "__main__":
    sys.exit(main())
