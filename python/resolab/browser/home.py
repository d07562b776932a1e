"""A browser's throw-away home: a folder that exists before the browser starts and is gone after it ended.

For: making and removing it, whatever happens while it is filled. Not for: what is in it (`profile` of each browser).
"""

import shutil
import tempfile
from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar

from resolab.browser.settings import BrowserSettings


class BrowserHome(ABC):
    """A temporary folder that is the browser's HOME and holds its profile."""

    PREFIX: ClassVar[str]
    """Start of the folder's name."""

    def __init__(self, settings: BrowserSettings) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix=self.PREFIX, dir=settings.scratch_folder))
        self.profile_folder = self.folder / "profile"
        try:
            self._write(settings)
        except BaseException:
            self.remove()
            raise

    def remove(self) -> None:
        """Delete everything; a browser that still dies may write a last file meanwhile."""
        shutil.rmtree(self.folder, ignore_errors=True)
        if self.folder.exists():
            shutil.rmtree(self.folder, ignore_errors=True)

    @abstractmethod
    def _write(self, settings: BrowserSettings) -> None:
        """Fill the folder."""
