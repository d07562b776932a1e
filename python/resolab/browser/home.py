"""A browser's throw-away home: a folder made before the browser's start and removed after its end.

For: making and removing the folder, even when filling fails. Not for: the folder's content (`profile` of each browser).
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
"""The limit for the temporary folder's path: Chromium makes a socket in a subfolder, and a socket's path may have 107
bytes."""


class BrowserHome(ABC):
    """A temporary folder as the browser's HOME, with its profile and its temporary files."""

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
        """Delete everything, twice if necessary: a dying browser may still write a last file."""
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
        """Fill the folder with the browser's profile files."""
