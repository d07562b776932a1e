"""Files kept beside the trials: captures, keys, browsers' logs, screenshots, by their names in trials.

For: recognising these names, and copying a trial's files into another dataset under new names. Not for: making the
files (`testbed`).
"""

import re
import shutil
from pathlib import Path
from typing import Any

import msgspec

from resolab.basics.errors import ConfigurationError

_PART = r"[A-Za-z0-9_][A-Za-z0-9._-]*"
KEPT_FILE = re.compile(rf"(?:netlogs|captures|key_logs|screenshots)(?:/{_PART}){{1,2}}")
"""The pattern for the names of kept files in a trial."""
NAMING = ("capture_file", "key_log_file", "netlog_file", "screenshot_file")
"""Keys of records with a kept file's name as value."""
_MARKS = tuple(f'"{key}":"'.encode() for key in NAMING)


def names_files(line: bytes) -> bool:
    """Return True when a trial's line names a file."""
    return any(mark in line for mark in _MARKS)


def copy_artifacts(record: dict[str, Any], source: Path, target: Path, prefix: str) -> dict[str, Any]:
    """Copy the files of a record from one dataset to another; return the record with their new names.

    The prefix goes before a name's first part below its folder, so files of several runs stay apart. A file missing in
    the source, perhaps removed for space, is missing in the target too.
    """
    names = {key: record[key] for key in NAMING if record.get(key)}
    return record | {key: _copy_file(name, source, target, prefix) for key, name in names.items()}


def line_taken_along(line: bytes, source: Path, target: Path, prefix: str) -> bytes:
    """Copy the files of a line; a line without files stays unchanged."""
    if not names_files(line):
        return line
    return msgspec.json.encode(copy_artifacts(msgspec.json.decode(line), source, target, prefix)) + b"\n"


def _copy_file(name: str, source: Path, target: Path, prefix: str) -> str:
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
