"""Trial files: one JSON Lines file per trial, with its final name only after the whole trial is on the disk.

For: writing during a run, listing finished trials, reading back. Not for: tables (`tables`).
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

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import FORMAT_VERSION, Record, TrialEndRecord, TrialKind, TrialRecord
from resolab.store.files import machine_errors, sync_folder
from resolab.store.folder import TRIALS

SUFFIX = ".jsonl"
PARTIAL = ".partial"
_ID = re.compile(r"b(\d+)-t(\d+)")
_ENCODER = msgspec.json.Encoder()
_DECODER: msgspec.json.Decoder[Record] = msgspec.json.Decoder(Record)


def trial_id(block: int, position: int) -> str:
    """Return a trial's name within the dataset, e.g. `b003-t017`."""
    return f"b{block:03}-t{position:03}"


def find_finished_trials(folder: Path) -> dict[str, Path]:
    """Map the identifier of every finished trial to the trial's file, in the order of the run."""
    return {file.stem: file for file in sorted((folder / TRIALS).glob(f"*{SUFFIX}"), key=_sort_key)}


def _sort_key(file: Path) -> tuple[float, float, str]:
    """Return a sort key by numbers: as text, block 1000 would come before block 999. Foreign files come last."""
    numbers = _ID.fullmatch(file.stem)
    block, position = map(int, numbers.groups()) if numbers else (math.inf, math.inf)
    return block, position, file.stem


def read_trial(file: Path) -> Iterator[Record]:
    """Read the records of a trial's file, each checked against its shape."""
    with file.open("rb") as stream:
        yield from trial_records(stream, file)


def refuse_without_page_loads(folder: Path, action: str) -> None:
    """Raise ConfigurationError for a dataset whose trials have no page load."""
    first = next(iter(find_finished_trials(folder).values()), None)
    head = None if first is None else next(iter(read_trial(first)))
    if isinstance(head, TrialRecord) and head.kind is not TrialKind.PAGE_LOAD:
        problem = f"its trials are of the kind {head.kind}, without a page load"
        raise ConfigurationError(f"failed to {action} {folder}: {problem}; `resolab report` shows its answer")


def trial_records(lines: Iterable[bytes], file: Path) -> Iterator[Record]:
    """Read a trial's records from the lines of its file, the trial's own record first."""
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
    """The file of the trial in flight; use in a `with` statement and call `finish` at the end of the trial.

    Left without `finish`, after an error or a kill, no finished-looking file remains.
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
        """Append one record to the trial's file."""
        if self._stream is None:
            raise ValueError(f"{self.file} is not open")
        with machine_errors(f"write {self._partial}", of_run=True):
            self._stream.write(_ENCODER.encode(record) + b"\n")

    def finish(self, end: TrialEndRecord) -> Path:
        """Append the last record, sync the file to the disk and rename to the final name."""
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
        """Remove the unfinished file; after `finish` no such file exists."""
        if self._stream is not None:
            # Closing flushes, which fails again on a full disk; the file goes anyway.
            with suppress(OSError):
                self._stream.close()
            self._stream = None
        with suppress(OSError):
            self._partial.unlink(missing_ok=True)
