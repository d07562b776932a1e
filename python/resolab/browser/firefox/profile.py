"""The files of Firefox's throw-away home: profile, preferences, trusted authority.

For: writing these files. Not for: the folder's life (`home`), the preferences' values (`preferences`) or the process.
"""

from resolab.browser.authority import trust
from resolab.browser.firefox.preferences import preferences, user_js
from resolab.browser.home import BrowserHome
from resolab.browser.settings import BrowserSettings


class FirefoxHome(BrowserHome):
    """A home with Firefox's profile."""

    PREFIX = "resolab-firefox-"

    def _write(self, settings: BrowserSettings) -> None:
        values = preferences(settings)
        self.profile_folder.mkdir()
        (self.profile_folder / "user.js").write_text(user_js(values), "utf-8")
        if settings.ca_file is not None:
            trust(settings.ca_file, self.profile_folder)
