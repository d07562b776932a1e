"""The code shared by figures: durations, paths with a given link, and background load.

For: set-up and clean-up. Not for: any figure.
"""

import contextlib
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from resolab.basics.records import PathBackend, PathSummaryRecord, Record
from resolab.lab import engine

BUSY_LOOP = """
import os
parent = os.getppid()
while os.getppid() == parent:
    for _ in range(1_000_000):
        pass
"""


@dataclass(frozen=True)
class LinkBench:
    """The settings of the figures."""

    quick: bool
    backend: PathBackend | None
    cycles: int

    def seconds(self, whole: float) -> float:
        """Return the length of a measurement."""
        return whole / 4 if self.quick else whole


@dataclass
class MeasuredPath:
    """A path with its last records."""

    path: engine.Path
    summaries: list[PathSummaryRecord] = field(default_factory=list)

    @property
    def pid(self) -> int:
        """The process id of the path."""
        return self.path.ready.pid

    async def summary(self) -> PathSummaryRecord:
        """Close the window and return its summary."""
        await self.path.summary(label=None)
        return self.summaries[-1]


@contextlib.asynccontextmanager
async def run_path(
    bench: LinkBench, up: str, down: str, *, seed: int = 1, keep_awake: bool = False
) -> AsyncIterator[MeasuredPath]:
    """Make a path with these directions (TOML), and end the path."""
    summaries: list[PathSummaryRecord] = []

    def keep(record: Record) -> None:
        if isinstance(record, PathSummaryRecord):
            summaries.append(record)

    with tempfile.TemporaryDirectory(prefix="resolab-bench-") as folder:
        file = Path(folder) / "bench.toml"
        file.write_text(f'name = "bench"\nsource = "scripts/bench link"\n[up]\n{up}\n[down]\n{down}\n', "utf-8")
        path = await engine.Path.start(file, seed=seed, keep_awake=keep_awake, backend=bench.backend, on_record=keep)
        try:
            yield MeasuredPath(path, summaries)
        finally:
            await path.close()


@contextlib.contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """Run busy processes in the background; the processes end with this process at the latest."""
    loops = [subprocess.Popen([sys.executable, "-c", BUSY_LOOP]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
