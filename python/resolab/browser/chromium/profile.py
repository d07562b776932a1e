"""The browser's throw-away home: profile, preferences, DoH, trusted authority.

For: files on disk that exist before the browser starts and are gone after it ended.
Not for: flags (`settings`) or the process (`process`).
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

import msgspec

from resolab.browser.settings import BrowserSettings, DohMethod, DohSettings
from resolab.errors import ConfigurationError, MachineError

CERTUTIL_TIMEOUT_S = 20.0

PREFERENCES = {
    # 2: never. With prediction the look-up and the connection are made before the navigation and its phases vanish.
    "net": {"network_prediction_options": 2},
    # The error page of a name that does not exist asks for a search engine's name.
    "alternate_error_pages": {"enabled": False},
    "search": {"suggest_enabled": False},
    "safebrowsing": {"enabled": False},
    "translate": {"enabled": False},
}


class BrowserHome:
    """A temporary folder that is the browser's HOME and holds its profile."""

    def __init__(self, settings: BrowserSettings) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="resolab-chromium-", dir=settings.scratch_folder))
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

    def _write(self, settings: BrowserSettings) -> None:
        default = self.profile_folder / "Default"
        default.mkdir(parents=True)
        (default / "Preferences").write_bytes(msgspec.json.encode(PREFERENCES))
        if settings.doh is not None:
            state = {"dns_over_https": {"mode": "secure", "templates": _template(settings.doh)}}
            (self.profile_folder / "Local State").write_bytes(msgspec.json.encode(state))
        if settings.ca_file is not None:
            self._trust(settings.ca_file)

    def _trust(self, ca_file: Path) -> None:
        if not ca_file.is_file():
            raise ConfigurationError(f"could not read the authority's certificate: {ca_file} is no file")
        database = self.folder / ".pki" / "nssdb"
        database.mkdir(parents=True)
        _certutil(database, "-N", "--empty-password")
        _certutil(database, "-A", "-t", "C,,", "-n", "resolab", "-i", str(ca_file))
        # Newer versions look here first.
        shutil.copytree(database, self.folder / ".local" / "share" / "pki" / "nssdb")


def _template(doh: DohSettings) -> str:
    """Write the URI template (RFC 8484, section 4.1): with a `dns` variable the browser uses GET, else POST."""
    return doh.url + ("{?dns}" if doh.method is DohMethod.GET else "")


def _certutil(database: Path, *arguments: str) -> None:
    command = ["certutil", "-d", f"sql:{database}", *arguments]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=CERTUTIL_TIMEOUT_S)
    except FileNotFoundError as error:
        raise MachineError("could not make the browser trust the lab: install certutil (libnss3-tools)") from error
    except subprocess.CalledProcessError as error:
        raise ConfigurationError(f"could not make the browser trust the lab: certutil said {error.stderr}") from error
    except subprocess.TimeoutExpired as error:
        raise MachineError("could not make the browser trust the lab: certutil did not end") from error
