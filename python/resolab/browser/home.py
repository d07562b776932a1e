"""A browser's throw-away home: a folder that exists before the browser starts and is gone after it ended.

For: making and removing it, whatever happens while it is filled. Not for: what is in it (`profile` of each browser).
"""

import os
import shutil
import tempfile
from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar

from resolab.browser.locked_folder import LockedFolder
from resolab.browser.settings import BrowserSettings

LONGEST_PATH_BYTES = 62
"""Of the folder for temporary files: Chromium makes a socket in a folder in it, whose path may have 107 bytes."""


class BrowserHome(ABC):
    """A temporary folder that is the browser's HOME and holds its profile and its temporary files."""

    PREFIX: ClassVar[str]
    """Start of the folder's name."""

    def __init__(self, settings: BrowserSettings) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix=self.PREFIX, dir=settings.scratch_folder))
        self.profile_folder = self.folder / "profile"
        self.temporary_folder = self.folder / "tmp"
        self._elsewhere: LockedFolder | None = None
        try:
            self._make_temporary_folder()
            self._write(settings)
        except BaseException:
            self.remove()
            raise

    def remove(self) -> None:
        """Delete everything; a browser that still dies may write a last file meanwhile."""
        for folder in (self.folder, self.temporary_folder):
            shutil.rmtree(folder, ignore_errors=True)
            if folder.exists():
                shutil.rmtree(folder, ignore_errors=True)
        if self._elsewhere is not None:
            self._elsewhere.remove()

    def _make_temporary_folder(self) -> None:
        if len(os.fsencode(self.temporary_folder)) <= LONGEST_PATH_BYTES:
            self.temporary_folder.mkdir()
        else:
            # As scratch folders of a campaign, so that the next one removes it after a kill, and not before.
            self._elsewhere = LockedFolder()
            self.temporary_folder = self._elsewhere.path

    @abstractmethod
    def _write(self, settings: BrowserSettings) -> None:
        """Fill the folder."""
