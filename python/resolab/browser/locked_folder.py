"""A folder for temporary files that lasts as long as its process, and that a later run removes after a kill.

For: a name that tells the process, a lock that tells whether it lives, and the removal of what nobody holds. Not for:
what is in it (`home`, `testbed.scratch`).

The name alone is not enough: a process of another PID namespace may share the folder above. Anybody may put anything
beside these folders, and what is no folder of this user is passed by.
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
    """The folder, which only this user can read."""

    def __init__(self) -> None:
        self._lock: int | None = None
        for _ in range(_ATTEMPTS):
            self.path = Path(tempfile.mkdtemp(prefix=f"resolab-{os.getpid()}-"))
            self._lock = _locked(self.path)
            if self._lock is not None:
                return
        raise FileNotFoundError(f"folders in {self.path.parent} are removed as soon as they are made")

    def remove(self) -> None:
        """Remove it with all it holds."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def remove_abandoned() -> None:
    """Remove this user's folders whose process is no more."""
    for folder in Path(tempfile.gettempdir()).glob("resolab-*"):
        name = NAME.fullmatch(folder.name)
        if name and not Path("/proc", name[1]).exists():
            # Whatever stands there: what cannot be looked at or removed is somebody else's matter.
            with suppress(OSError):
                _remove_if_free(folder)


def _locked(folder: Path) -> int | None:
    """Lock a folder of ours; None: a run that clears up was faster, and took it for abandoned."""
    try:
        return _hold(os.open(folder / LOCK, _LOCK_FLAGS, 0o600), fcntl.LOCK_EX)
    except FileNotFoundError:
        return None


def _remove_if_free(folder: Path) -> None:
    """Remove a folder of ours whose lock nobody holds; a process that is about to lock it makes another folder.

    A folder without a lock file may have been made this instant: the lock is taken there too, before anything goes.
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
    """Lock an open lock file; None: it was removed before the lock was ours. Raises: BlockingIOError."""
    try:
        fcntl.flock(lock, how)
        if os.fstat(lock).st_nlink:
            return lock
    except OSError:
        os.close(lock)
        raise
    os.close(lock)
    return None
