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
    """Lock a folder; None: a run that clears up was faster, and took it for abandoned."""
    try:
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except FileNotFoundError:
        return None
    fcntl.flock(lock, fcntl.LOCK_EX)
    if os.fstat(lock).st_nlink and (folder / LOCK).exists():
        return lock
    os.close(lock)
    return None


def _remove_if_free(folder: Path) -> None:
    """Remove a folder of ours whose lock nobody holds; whoever is about to take it finds it gone, and makes another."""
    found = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if os.fstat(found).st_uid != os.geteuid():
            return
        lock = None
        with suppress(FileNotFoundError):
            lock = os.open(LOCK, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=found)
        try:
            if lock is not None:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            if lock is not None:
                os.close(lock)
    finally:
        os.close(found)
