"""The lock of a dataset, for a single working process. Not for: readers; readers need no lock."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from resolab.basics.errors import ConfigurationError
from resolab.store.folder import LOCK


@contextmanager
def dataset_lock(folder: Path) -> Iterator[None]:
    """Hold the dataset's lock; the kernel releases the lock at any end of the process."""
    with (folder / LOCK).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigurationError(
                f"could not work on {folder}: another resolab is running it; wait for its end or stop it"
            ) from None
        yield
