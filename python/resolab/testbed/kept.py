"""What a testbed keeps beside its trials' records: pictures, browsers' logs, packets and keys, as files of the dataset.

For: where each goes, and which of it is a trial's. Not for: reading any of it again (`resolab.evidence`).

Every program of a testbed appends its secrets to one log; what came to it during a trial is the trial's. It is read
when the trial has ended, so a secret written later than the load it is for would stand with the next trial's.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from resolab import engine
from resolab.errors import ResolabError
from resolab.store import write_private


@dataclass(frozen=True, slots=True)
class Kept:
    """Folders of what is kept; what has none is not kept."""

    screenshot_folder: Path | None = None
    netlog_folder: Path | None = None
    capture_folder: Path | None = None
    key_log_folder: Path | None = None

    def make_folders(self) -> None:
        """Make those that are not there."""
        for folder in (self.screenshot_folder, self.netlog_folder, self.capture_folder, self.key_log_folder):
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)


@dataclass(frozen=True, slots=True)
class TrialFiles:
    """Where what was kept of one trial lies."""

    capture_file: Path | None = None
    key_log_file: Path | None = None
    netlog_file: Path | None = None

    @property
    def missing(self) -> list[Path]:
        """Those that were asked for and are not there."""
        files = (self.capture_file, self.key_log_file, self.netlog_file)
        return [file for file in files if file is not None and not file.exists()]


NOTHING_KEPT = Kept()
NO_FILES = TrialFiles()


@dataclass(slots=True)
class Keeper:
    """Keeps packets and keys of one trial at a time."""

    kept: Kept
    scratch: Path
    _key_log: Path | None = field(init=False)

    def __post_init__(self) -> None:
        """Make the log that programs append to: theirs is never made with wider rights."""
        self._key_log = None
        if self.kept.key_log_folder is not None:
            self._key_log = self.scratch / "keys.log"
            self._key_log.touch(0o600)

    @property
    def key_log_file(self) -> Path | None:
        """What every program of the testbed appends its secrets to."""
        return self._key_log

    @asynccontextmanager
    async def keeping(self, path: engine.Path, trial_id: str) -> AsyncIterator[TrialFiles]:
        """Keep packets and keys of what happens inside; the files are whole afterwards."""
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
