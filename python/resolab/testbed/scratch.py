"""The testbed's scratch folder: keys, configuration and browser profiles, removed at the end and after a kill.

For: a folder only this user can read, named after its process and locked by it, so that the next run can tell whose
process is gone. The name alone is not enough: a process of another PID namespace may share the folder above. Not for:
anything worth keeping.
"""

import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NAME = re.compile(r"resolab-(\d+)-\w+")
LOCK = ".lock"


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Make the folder; clear away those of runs that were killed."""
    remove_abandoned()
    folder = Path(tempfile.mkdtemp(prefix=f"resolab-{os.getpid()}-"))
    try:
        with (folder / LOCK).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_abandoned() -> None:
    """Remove this user's scratch folders whose process is no more."""
    for folder in Path(tempfile.gettempdir()).glob("resolab-*"):
        name = NAME.fullmatch(folder.name)
        if name and not Path("/proc", name[1]).exists() and _is_ours(folder) and not _is_locked(folder):
            shutil.rmtree(folder, ignore_errors=True)


def _is_ours(folder: Path) -> bool:
    return folder.stat().st_uid == os.geteuid()


def _is_locked(folder: Path) -> bool:
    """Whether a living process holds it, whatever its number is from here."""
    try:
        with (folder / LOCK).open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        return False
    return False
