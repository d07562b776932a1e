"""The files of Chromium's throw-away home: profile, preferences, DoH, trusted authority.

For: writing these files. Not for: the folder's life (`home`), flags (`flags`) or the process (`process`).
"""

import shutil
from pathlib import Path

import msgspec

from resolab.browser.authority import trust
from resolab.browser.home import BrowserHome
from resolab.browser.settings import BrowserSettings, DohMethod, DohSettings

PREFERENCES = {
    # 2: never. With prediction the look-up and the connection are made before the navigation and its phases vanish.
    "net": {"network_prediction_options": 2},
    # The error page of a name that does not exist asks for a search engine's name.
    "alternate_error_pages": {"enabled": False},
    "search": {"suggest_enabled": False},
    "safebrowsing": {"enabled": False},
    "translate": {"enabled": False},
}


class ChromiumHome(BrowserHome):
    """A home with Chromium's profile, and the certificate database at Chromium's path."""

    PREFIX = "resolab-chromium-"

    def _write(self, settings: BrowserSettings) -> None:
        default = self.profile_folder / "Default"
        default.mkdir(parents=True)
        (default / "Preferences").write_bytes(msgspec.json.encode(PREFERENCES))
        if settings.doh is not None or settings.any_name:
            state = {"dns_over_https": _dns_over_https(settings.doh)}
            (self.profile_folder / "Local State").write_bytes(msgspec.json.encode(state))
        if settings.ca_file is not None:
            self._trust(settings.ca_file)

    def _trust(self, ca_file: Path) -> None:
        database = self.folder / ".pki" / "nssdb"
        database.mkdir(parents=True)
        trust(ca_file, database)
        # Newer versions look here first.
        shutil.copytree(database, self.folder / ".local" / "share" / "pki" / "nssdb")


def _dns_over_https(doh: DohSettings | None) -> dict[str, str]:
    # Without a word Chromium asks name servers that it knows over DoH, though they were given for Do53.
    return {"mode": "off"} if doh is None else {"mode": "secure", "templates": _template(doh)}


def _template(doh: DohSettings) -> str:
    """Write the URI template (RFC 8484, section 4.1): with a `dns` variable the browser uses GET, else POST."""
    return doh.url + ("{?dns}" if doh.method is DohMethod.GET else "")
