"""Measure the import of recordings: memory for large files, broken files, discoverers inferred without initiators.

For: `scripts/bench recordings`, the figures of docs/method/page-models.md. Exit code 1 when a file of 100 MB takes more
than 1 GB, or a broken file crashes the import. Not for: clones.
"""

import argparse
import json
import signal
import statistics
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from benches.recordings import broken, inferred, large

MEMORY_LIMIT_MB = 1_000.0
LIMITED_MB = 100


def main() -> int:
    """Measure the selected parts."""
    # What it started is ended, and what it wrote for itself removed, also on a polite end.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    options = _options()
    if options.read:
        print(json.dumps(large.read(options.read)))
        return 0
    console = Console(highlight=False)
    missed = [_large(console, size, options.scratch) for size in options.sizes]
    if options.broken:
        came_of = broken.run(options.broken, options.seed)
        console.print(
            f"{options.broken:,} broken files, seed {options.seed}: {dict(came_of)}, no crash", soft_wrap=True
        )
    if options.folder:
        _print_inferred(console, options.folder)
    return int(any(missed))


def _large(console: Console, size_mb: int, scratch: Path | None) -> bool:
    with tempfile.TemporaryDirectory(prefix="resolab-bench-", dir=scratch) as folder:
        file = Path(folder) / "large.har"
        large.write(file, size_mb * 1_000_000)
        command = [sys.executable, "-m", "benches.recordings", "--read", str(file)]
        said = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout)
    console.print(f"{size_mb} MB: {json.dumps(said)}", soft_wrap=True)
    return size_mb <= LIMITED_MB and said["resident_max_mb"] > MEMORY_LIMIT_MB


def _print_inferred(console: Console, folder: Path) -> None:
    found = list(inferred.compare(folder))
    for one in found:
        console.print(json.dumps(asdict(one)), soft_wrap=True)
    if found:
        middle = {
            "recordings": len(found),
            "parent_ratio": statistics.median(one.parent_ratio for one in found),
            "kind_ratio": statistics.median(one.kind_ratio for one in found),
            "depth_ratio": statistics.median(one.inferred_depth / one.depth for one in found),
        }
        console.print(f"medians: {json.dumps(middle)}", soft_wrap=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench recordings", description=__doc__)
    parser.add_argument(
        "--sizes",
        type=int,
        nargs="*",
        default=[LIMITED_MB],
        metavar="MB",
        help=f"sizes of the archives made and read (default: {LIMITED_MB})",
    )
    parser.add_argument("--broken", type=int, default=20_000, metavar="N", help="broken files (default: 20,000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="real HARs, to compare inference with what their recorders named")
    parser.add_argument("--scratch", type=Path, help="folder for large files (default: the system's)")
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
