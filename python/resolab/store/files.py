"""Writing files with the guarantee: a file with its final name is complete and on the disk.

For: the only write functions of this package. Not for: the content of the files.
"""

import errno
import glob
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from resolab.basics.errors import StorageError

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
_NO_PLACE = (errno.ENOTDIR, errno.ENOENT, errno.EROFS, errno.ENAMETOOLONG, errno.EISDIR)


@contextmanager
def machine_errors(action: str, *, of_run: bool = False, elsewhere: str = "give another folder") -> Iterator[None]:
    """Turn an operating system error into one line: the failed action, reason, remedy; for a run, the way to resume."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise StorageError(f"failed to {action}: {reason}; {_way_out(error, elsewhere, of_run=of_run)}") from error


def _way_out(error: OSError, elsewhere: str, *, of_run: bool) -> str:
    """Return the remedy; where no file is possible, freeing space does not help and no run began."""
    if error.errno in _NO_PLACE:
        return elsewhere
    way_out = "free some space" if error.errno in _NO_ROOM else "see to that"
    return f"{way_out} or {elsewhere}" + ("; `resolab resume` goes on with the run" if of_run else "")


def escape_for_duckdb(file: Path) -> str:
    """Escape a file's name for DuckDB; in names DuckDB reads `*`, `?` and `[` as patterns."""
    return glob.escape(str(file))


def sync_folder(folder: Path) -> None:
    """Put a folder's entries on the disk; a rename is only durable after this."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_private(file: Path, content: bytes) -> None:
    """Write a file readable only by its owner, from its first byte on."""
    with machine_errors(f"write {file}"):
        file.unlink(missing_ok=True)
        # What somebody puts there in between is not written to: it may be a link, or open to others.
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)


def write_whole(file: Path, content: bytes, *, of_run: bool = False) -> None:
    """Write a file atomically: a reader finds the old content or the new, never a part."""
    partial = file.with_name(file.name + ".partial")
    with machine_errors(f"write {file}", of_run=of_run):
        try:
            with partial.open("wb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            partial.replace(file)
            sync_folder(file.parent)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise


def write_named(file: Path, content: bytes) -> None:
    """Write a user's file, in a possibly missing folder: whole or not at all; directly into a special file.

    A device or pipe keeps its name, and so does a link to a file.
    """
    with machine_errors(f"write {file}"):
        file.parent.mkdir(parents=True, exist_ok=True)
        is_special = file.absolute().is_relative_to("/dev") or file.absolute().is_relative_to("/proc")
        if is_special or (file.exists() and not file.is_file()):
            file.write_bytes(content)
            return
    write_whole(file.resolve(), content)
