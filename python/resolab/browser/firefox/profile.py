"""Firefox's throw-away home: profile, preferences, trusted authority.

For: files on disk that exist before the browser starts and are gone after it ended.
Not for: what the preferences say (`preferences`) or the process.
"""

import shutil
import tempfile
from pathlib import Path

from resolab.browser.authority import trust
from resolab.browser.firefox.preferences import preferences, user_js
from resolab.browser.settings import BrowserSettings


class BrowserHome:
    """A temporary folder that is the browser's HOME and holds its profile and its temporary files."""

    def __init__(self, settings: BrowserSettings) -> None:
        values = preferences(settings)
        self.folder = Path(tempfile.mkdtemp(prefix="resolab-firefox-", dir=settings.scratch_folder))
        self.profile_folder = self.folder / "profile"
        self.temporary_folder = self.folder / "temporary"
        try:
            self.profile_folder.mkdir()
            self.temporary_folder.mkdir()
            (self.profile_folder / "user.js").write_text(user_js(values), "utf-8")
            if settings.ca_file is not None:
                trust(settings.ca_file, self.profile_folder)
        except BaseException:
            self.remove()
            raise

    def remove(self) -> None:
        """Delete everything; a browser that still dies may write a last file meanwhile."""
        shutil.rmtree(self.folder, ignore_errors=True)
        if self.folder.exists():
            shutil.rmtree(self.folder, ignore_errors=True)
