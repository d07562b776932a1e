"""What an agent keeps on its own disk: each run's plan and trials, and bundles until the server has them.

For: a block's way from trials to a bundle that can be sent at any later time. Not for: running or sending it.

    SPOOL/<run>/run.json            the run, as it came
    SPOOL/<run>/dataset/            an ordinary dataset: a killed agent goes on with the trials it has
    SPOOL/<run>/bundles/<block>.tar.gz    whole, or not there; removed once the server has it
"""

import shutil
from pathlib import Path

from resolab.errors import StorageError
from resolab.fleet.job import Job, Run, check_run, decode, encode
from resolab.store import finished_trials
from resolab.store.files import machine_errors, write_whole

LEAST_FREE_BYTES = 256 * 1024 * 1024
"""Below this no block is begun: what it writes would not end whole."""


class Spool:
    """The folder of one agent."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with machine_errors(f"make the spool {folder}"):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def keep(self, run: Run) -> Path:
        """Write a run down; returns its file."""
        file = self._of(run.id) / "run.json"
        with machine_errors(f"write {file}"):
            file.parent.mkdir(parents=True, exist_ok=True)
            write_whole(file, encode(run))
        return file

    def dataset(self, run: str) -> Path:
        """Name the folder trials of a run go into."""
        return self._of(run) / "dataset"

    def trials_count(self, run: str) -> int:
        """Count the trials of a run that have ended."""
        return len(finished_trials(self.dataset(run)))

    def bundle(self, job: Job) -> Path:
        """Name the file a block is packed into."""
        folder = self._of(job.run) / "bundles"
        with machine_errors(f"make {folder}"):
            folder.mkdir(parents=True, exist_ok=True)
        return folder / f"{job.block}.tar.gz"

    def waiting(self, vantage: str) -> list[Job]:
        """List the blocks that are packed and not yet sent."""
        files = sorted(self.folder.glob("*/bundles/*.tar.gz"))
        return [
            Job(run=one.parent.parent.name, vantage=vantage, block=int(one.name.partition(".")[0]))
            for one in files
            if one.name.partition(".")[0].isdigit()
        ]

    def run(self, run: str) -> Run:
        """Read a run that was kept."""
        file = self._of(run) / "run.json"
        with machine_errors(f"read {file}"):
            return decode(file.read_bytes(), Run, what=str(file))

    def check_space(self) -> None:
        """Raise when a block would not end whole."""
        free = shutil.disk_usage(self.folder).free
        if free < LEAST_FREE_BYTES:
            problem = f"{free // 1024**2} MB are free in {self.folder}, {LEAST_FREE_BYTES // 1024**2} are needed"
            raise StorageError(f"no block is begun: {problem}; make room there")

    def forget(self, run: str) -> None:
        """Remove what is kept of a run that has ended."""
        shutil.rmtree(self._of(run), ignore_errors=True)

    def runs(self) -> list[str]:
        """List the runs of which something is kept."""
        return sorted(one.name for one in self.folder.iterdir() if one.is_dir())

    def _of(self, run: str) -> Path:
        return self.folder / check_run(run)
