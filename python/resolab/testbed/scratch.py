"""The testbed's scratch folder: keys, configuration and browser profiles, removed at the end and after a kill.

For: a folder only this user can read, named after its process, so that the next run can tell whose process is gone. Not
for: anything worth keeping.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NAME = re.compile(r"resolab-(\d+)-\w+")


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Make the folder; clear away those of runs that were killed."""
    remove_abandoned()
    folder = Path(tempfile.mkdtemp(prefix=f"resolab-{os.getpid()}-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_abandoned() -> None:
    """Remove this user's scratch folders whose process is no more."""
    for folder in Path(tempfile.gettempdir()).glob("resolab-*"):
        name = NAME.fullmatch(folder.name)
        if name and not Path("/proc", name[1]).exists() and folder.stat().st_uid == os.geteuid():
            shutil.rmtree(folder, ignore_errors=True)
