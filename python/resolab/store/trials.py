"""Trial files: one JSON Lines file per trial, which has its final name only when the trial is whole on the disk.

For: writing during a run, listing what is finished, reading back. Not for: tables (`tables`).
"""

import math
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import msgspec

from resolab.errors import ConfigurationError
from resolab.records import FORMAT_VERSION, Record, TrialEndRecord, TrialRecord
from resolab.store.files import machine_errors, sync_folder
from resolab.store.folder import TRIALS

SUFFIX = ".jsonl"
PARTIAL = ".partial"
_ID = re.compile(r"b(\d+)-t(\d+)")
_ENCODER = msgspec.json.Encoder()
_DECODER: msgspec.json.Decoder[Record] = msgspec.json.Decoder(Record)


def trial_id(block: int, position: int) -> str:
    """Name a trial within its dataset, e.g. `b003-t017`."""
    return f"b{block:03}-t{position:03}"


def finished_trials(folder: Path) -> dict[str, Path]:
    """Map the identifier of every finished trial to its file, in the order of the run."""
    return {file.stem: file for file in sorted((folder / TRIALS).glob(f"*{SUFFIX}"), key=_place)}


def _place(file: Path) -> tuple[float, float, str]:
    """Sort trials by their numbers: as text, block 1000 stands before block 999; foreign files come last."""
    numbers = _ID.fullmatch(file.stem)
    block, position = map(int, numbers.groups()) if numbers else (math.inf, math.inf)
    return block, position, file.stem


def read_trial(file: Path) -> Iterator[Record]:
    """Read the records of a trial's file, each checked against its shape."""
    with file.open("rb") as stream:
        yield from trial_records(stream, file)


def trial_records(lines: Iterable[bytes], file: Path) -> Iterator[Record]:
    """Read a trial's records out of the lines of its file, the trial's own first."""
    number = 0
    for number, line in enumerate(lines, start=1):
        try:
            record = _DECODER.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            hint = "if the file was cut or damaged, remove it and `resolab resume` runs the trial again"
            raise ConfigurationError(f"failed to read {file} line {number}: {error}; {hint}") from error
        if isinstance(record, TrialRecord):
            _check_version(file, record.format_version)
        elif number == 1:
            raise _incomplete(file)
        yield record
    if number == 0:
        raise _incomplete(file)


def _incomplete(file: Path) -> ConfigurationError:
    return ConfigurationError(f"failed to read {file}: it lacks its first or last line; remove it and resume")


def _check_version(file: Path, version: str) -> None:
    if version.partition(".")[0] != FORMAT_VERSION.partition(".")[0]:
        hint = f"this resolab reads {FORMAT_VERSION}; use the version that wrote it"
        raise ConfigurationError(f"failed to read {file}: its format is {version}; {hint}")


class TrialWriter:
    """The file of the trial in flight; use as a context manager and call `finish` when the trial ended.

    Left without `finish`, by an error or a kill, nothing remains that looks finished.
    """

    def __init__(self, folder: Path, trial: TrialRecord) -> None:
        self.trial = trial
        self.file = folder / TRIALS / f"{trial.trial_id}{SUFFIX}"
        self._partial = self.file.with_name(self.file.name + PARTIAL)
        self._stream: BinaryIO | None = None

    def __enter__(self) -> Self:
        if self.file.exists():
            raise ConfigurationError(f"failed to write {self.file}: the trial is already there; finished trials stay")
        with machine_errors(f"write {self._partial}", of_run=True):
            self._stream = self._partial.open("wb")
        try:
            self.write(self.trial)
        except BaseException:
            self._abandon()
            raise
        return self

    def write(self, record: Record) -> None:
        """Append one record."""
        if self._stream is None:
            raise ValueError(f"{self.file} is not open")
        with machine_errors(f"write {self._partial}", of_run=True):
            self._stream.write(_ENCODER.encode(record) + b"\n")

    def finish(self, end: TrialEndRecord) -> Path:
        """Append the last record, put the file on the disk and give it its final name."""
        self.write(end)
        assert self._stream is not None  # write has checked it
        with machine_errors(f"write {self._partial}", of_run=True):
            self._stream.flush()
            os.fsync(self._stream.fileno())
            self._stream.close()
            self._stream = None
            self._partial.replace(self.file)
            sync_folder(self.file.parent)
        return self.file

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._abandon()

    def _abandon(self) -> None:
        """Remove what is unfinished; after `finish` there is nothing to remove."""
        if self._stream is not None:
            # Closing flushes, which fails again on a full disk; the file goes anyway.
            with suppress(OSError):
                self._stream.close()
            self._stream = None
        with suppress(OSError):
            self._partial.unlink(missing_ok=True)
