"""The files kept by an agent on its own disk: each run's plan and trials, and bundles until the server has them.

For: a block's path from trials to a bundle for sending at any later time. Not for: running or sending a block.

    SPOOL/<run>/run.json            the run, as received
    SPOOL/<run>/dataset/            an ordinary dataset: a killed agent goes on with the existing trials
    SPOOL/<run>/bundles/<block>.tar.gz    whole, or missing; removed once the server has the bundle
"""

import shutil
from pathlib import Path

from resolab.basics.errors import StorageError
from resolab.extras.fleet.job import FleetRun, Job, check_run, decode, encode
from resolab.store import find_finished_trials
from resolab.store.files import machine_errors, write_whole

LEAST_FREE_BYTES = 256 * 1024 * 1024
"""The minimum free space for beginning a block, in bytes: with less, the block's files would be incomplete."""


class Spool:
    """The folder of an agent."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with machine_errors(f"make the spool {folder}"):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def keep(self, run: FleetRun) -> Path:
        """Write a run to disk; return its file."""
        file = self._locate_run(run.id) / "run.json"
        with machine_errors(f"write {file}"):
            file.parent.mkdir(parents=True, exist_ok=True)
            write_whole(file, encode(run))
        return file

    def dataset(self, run: str) -> Path:
        """Return the folder for a run's trials."""
        return self._locate_run(run) / "dataset"

    def trials_count(self, run: str) -> int:
        """Return the number of finished trials of a run."""
        return len(find_finished_trials(self.dataset(run)))

    def bundle(self, job: Job) -> Path:
        """Return the file for a packed block."""
        folder = self._locate_run(job.run) / "bundles"
        with machine_errors(f"make {folder}"):
            folder.mkdir(parents=True, exist_ok=True)
        return folder / f"{job.block}.tar.gz"

    def list_unsent(self, vantage: str) -> list[Job]:
        """List the packed but unsent blocks."""
        files = sorted(self.folder.glob("*/bundles/*.tar.gz"))
        return [
            Job(run=one.parent.parent.name, vantage=vantage, block=int(one.name.partition(".")[0]))
            for one in files
            if one.name.partition(".")[0].isdigit()
        ]

    def run(self, run: str) -> FleetRun:
        """Read a run kept in the spool."""
        file = self._locate_run(run) / "run.json"
        with machine_errors(f"read {file}"):
            return decode(file.read_bytes(), FleetRun, what=str(file))

    def check_space(self) -> None:
        """Raise `StorageError` when a block would not be complete."""
        free = shutil.disk_usage(self.folder).free
        if free < LEAST_FREE_BYTES:
            problem = f"{free // 1024**2} MB are free in {self.folder}, {LEAST_FREE_BYTES // 1024**2} are needed"
            raise StorageError(f"no block is begun: {problem}; make room there")

    def forget(self, run: str) -> None:
        """Remove the files of an ended run."""
        shutil.rmtree(self._locate_run(run), ignore_errors=True)

    def runs(self) -> list[str]:
        """List the runs with files in the spool."""
        return sorted(one.name for one in self.folder.iterdir() if one.is_dir())

    def _locate_run(self, run: str) -> Path:
        return self.folder / check_run(run)
