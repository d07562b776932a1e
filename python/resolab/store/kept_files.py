"""Files a run keeps beside its trials: captures, keys, browsers' logs, screenshots, by the names that trials give them.

For: which names are such, and a trial's files taken into another dataset under new names. Not for: keeping them in the
first place (`testbed`).
"""

import re
import shutil
from pathlib import Path
from typing import Any

import msgspec

from resolab.errors import ConfigurationError

_PART = r"[A-Za-z0-9_][A-Za-z0-9._-]*"
KEPT_FILE = re.compile(rf"(?:netlogs|captures|key_logs|screenshots)(?:/{_PART}){{1,2}}")
"""What a trial may name beside itself."""
NAMING = ("capture_file", "key_log_file", "netlog_file", "screenshot_file")
"""Keys of records whose value is such a name."""
_MARKS = tuple(f'"{key}":"'.encode() for key in NAMING)


def names_files(line: bytes) -> bool:
    """Whether a trial's line names a file."""
    return any(mark in line for mark in _MARKS)


def taken_along(record: dict[str, Any], source: Path, target: Path, prefix: str) -> dict[str, Any]:
    """Copy the files a record names from one dataset to another; returns the record with their new names.

    The prefix goes before a name's first part below its folder, so that files of several runs stay apart. What is not
    there, since somebody removed it to save room, is not there afterwards either.
    """
    names = {key: record[key] for key in NAMING if record.get(key)}
    return record | {key: _taken(name, source, target, prefix) for key, name in names.items()}


def line_taken_along(line: bytes, source: Path, target: Path, prefix: str) -> bytes:
    """Do that for a line; one that names no file stays as it is."""
    if not names_files(line):
        return line
    return msgspec.json.encode(taken_along(msgspec.json.decode(line), source, target, prefix)) + b"\n"


def _taken(name: str, source: Path, target: Path, prefix: str) -> str:
    if not KEPT_FILE.fullmatch(name):
        raise ConfigurationError(
            f"failed to read a trial of {source}: it names {name!a}, which is no file of a dataset"
        )
    folder, _, rest = name.partition("/")
    renamed = f"{folder}/{prefix}-{rest}"
    old, new = source / name, target / renamed
    # A browser's log is of many trials, and copied once.
    if old.is_file() and not old.is_symlink() and not new.exists():
        new.parent.mkdir(parents=True, exist_ok=True)
        # With its mode: keys are for their owner alone.
        shutil.copy(old, new)
    return renamed
