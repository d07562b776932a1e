"""A folder for temporary files with its process's lifetime; a later run removes the folder after a kill.

For: a name with the process id, a lock proving the process alive, and the removal of unlocked folders. Not for: the
folder's content (`home`, `testbed.scratch`).

The name alone is not enough: a process of another PID namespace may share the folder above. Any user may put anything
beside these folders; entries other than folders of this user are skipped.
"""

import fcntl
import os
import re
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

NAME = re.compile(r"resolab-(\d+)-\w+")
LOCK = ".lock"
_ATTEMPTS = 20
_LOCK_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


class LockedFolder:
    """The folder, readable only by this user."""

    def __init__(self) -> None:
        self._lock: int | None = None
        for _ in range(_ATTEMPTS):
            self.path = Path(tempfile.mkdtemp(prefix=f"resolab-{os.getpid()}-"))
            self._lock = _lock_folder(self.path)
            if self._lock is not None:
                return
        raise FileNotFoundError(f"folders in {self.path.parent} are removed as soon as they are made")

    def remove(self) -> None:
        """Remove the folder with all its files."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def remove_abandoned() -> None:
    """Remove this user's folders of ended processes."""
    for folder in Path(tempfile.gettempdir()).glob("resolab-*"):
        name = NAME.fullmatch(folder.name)
        if name and not Path("/proc", name[1]).exists():
            # Whatever stands there: what cannot be looked at or removed is somebody else's matter.
            with suppress(OSError):
                _remove_if_free(folder)


def _lock_folder(folder: Path) -> int | None:
    """Lock our own folder; `None`: a clean-up run took the folder for abandoned and removed it first."""
    try:
        return _hold(os.open(folder / LOCK, _LOCK_FLAGS, 0o600), fcntl.LOCK_EX)
    except FileNotFoundError:
        return None


def _remove_if_free(folder: Path) -> None:
    """Remove one of our folders when its lock is free; a process just about to lock the folder makes another.

    A folder without a lock file may have been made this instant: here too the lock is taken before any removal.
    """
    found = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if os.fstat(found).st_uid != os.geteuid():
            return
        lock = _hold(os.open(LOCK, _LOCK_FLAGS, 0o600, dir_fd=found), fcntl.LOCK_EX | fcntl.LOCK_NB)
        if lock is not None:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(lock)
    finally:
        os.close(found)


def _hold(lock: int, how: int) -> int | None:
    """Lock an open lock file; `None`: the file was removed before the lock was ours. Raises: BlockingIOError."""
    try:
        fcntl.flock(lock, how)
        if os.fstat(lock).st_nlink:
            return lock
    except OSError:
        os.close(lock)
        raise
    os.close(lock)
    return None
