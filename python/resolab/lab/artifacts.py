"""Keep files beside a testbed's records: pictures, browsers' logs, packets and keys, as files of the dataset.

For: the paths of the files, and their assignment to trials. Not for: reading the files (`resolab.extras.evidence`).

Every program of a testbed appends its secrets to a common log. Secrets added during a trial belong to the trial. The
log is read at the trial's end, so a secret written later than its load would be stored with the next trial.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from resolab.basics.errors import ResolabError
from resolab.lab import engine
from resolab.store import write_private


@dataclass(frozen=True, slots=True)
class KeptFolders:
    """The folders of kept files; kinds of files without a folder are not kept."""

    screenshot_folder: Path | None = None
    netlog_folder: Path | None = None
    capture_folder: Path | None = None
    key_log_folder: Path | None = None

    def make_folders(self) -> None:
        """Make the missing folders."""
        for folder in (self.screenshot_folder, self.netlog_folder, self.capture_folder, self.key_log_folder):
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)


@dataclass(frozen=True, slots=True)
class TrialFiles:
    """The paths of a trial's kept files."""

    capture_file: Path | None = None
    key_log_file: Path | None = None
    netlog_file: Path | None = None

    @property
    def missing(self) -> list[Path]:
        """Return the requested files missing on disk."""
        files = (self.capture_file, self.key_log_file, self.netlog_file)
        return [file for file in files if file is not None and not file.exists()]


NOTHING_KEPT = KeptFolders()
NO_FILES = TrialFiles()


@dataclass(slots=True)
class TrialFileKeeper:
    """A keeper of packets and keys, for one trial at a time."""

    kept: KeptFolders
    scratch: Path
    _key_log: Path | None = field(init=False)

    def __post_init__(self) -> None:
        """Make the log for the programs' secrets, so programs never create the file with wider permissions."""
        self._key_log = None
        if self.kept.key_log_folder is not None:
            self._key_log = self.scratch / "keys.log"
            self._key_log.touch(0o600)

    @property
    def key_log_file(self) -> Path | None:
        """Return the secrets' log of every program of the testbed."""
        return self._key_log

    @asynccontextmanager
    async def keep(self, path: engine.Path, trial_id: str) -> AsyncIterator[TrialFiles]:
        """Keep packets and keys during the block; the files are complete afterwards."""
        files = TrialFiles(
            capture_file=_file(self.kept.capture_folder, f"{trial_id}.pcapng"),
            key_log_file=_file(self.kept.key_log_folder, f"{trial_id}.keys"),
        )
        if files.capture_file is not None:
            # Of a trial that was cut short and is repeated.
            files.capture_file.unlink(missing_ok=True)
            await path.start_capture(files.capture_file)
        known_bytes = 0 if self._key_log is None else self._key_log.stat().st_size
        try:
            yield files
        except BaseException:
            if files.capture_file is not None:
                with suppress(ResolabError):
                    await path.stop_capture()
            raise
        if files.capture_file is not None:
            await path.stop_capture()
        if files.key_log_file is not None:
            self._write_keys(files.key_log_file, known_bytes)

    def _write_keys(self, file: Path, known_bytes: int) -> None:
        assert self._key_log is not None  # There is one where keys are kept.
        with self._key_log.open("rb") as log:
            log.seek(known_bytes)
            write_private(file, log.read())


def _file(folder: Path | None, name: str) -> Path | None:
    return None if folder is None else folder.resolve() / name
