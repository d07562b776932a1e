"""The testbed's scratch folder: keys, configuration and browser profiles, removed at the end and after a kill.

For: a folder during the lifetime of a process. Not for: files worth keeping, or the check for ended processes
(`browser.locked_folder`).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from resolab.browser.locked_folder import LockedFolder, remove_abandoned


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Make the folder; remove the folders of killed runs."""
    remove_abandoned()
    folder = LockedFolder()
    try:
        yield folder.path
    finally:
        folder.remove()
