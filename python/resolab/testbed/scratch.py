"""The testbed's scratch folder: keys, configuration and browser profiles, removed at the end and after a kill.

For: a folder for as long as something runs. Not for: anything worth keeping, or how it is told whose process is gone
(`browser.locked_folder`).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from resolab.browser.locked_folder import LockedFolder, remove_abandoned


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Make the folder; clear away those of runs that were killed."""
    remove_abandoned()
    folder = LockedFolder()
    try:
        yield folder.path
    finally:
        folder.remove()
