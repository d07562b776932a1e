"""The browsers installed on this machine.

For: the path of the binary itself (a distribution's wrapper script adds its own flags) and its version. Not for:
starting the browser.
"""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from resolab.errors import MachineError

VERSION_TIMEOUT_S = 20.0


@dataclass(frozen=True)
class _BrowserLocations:
    """The possible locations of a browser."""

    name: str
    variable: str
    package: str
    places: tuple[str, ...]
    commands: tuple[str, ...]


_CHROMIUM = _BrowserLocations(
    name="Chromium",
    variable="RESOLAB_CHROMIUM",
    package="chromium",
    places=(
        "/usr/lib/chromium/chromium",
        "/usr/lib64/chromium-browser/chromium-browser",
        "/opt/google/chrome/chrome",
    ),
    commands=("chromium", "chromium-browser", "google-chrome"),
)
_FIREFOX = _BrowserLocations(
    name="Firefox",
    variable="RESOLAB_FIREFOX",
    package="firefox-esr",
    places=("/usr/lib/firefox-esr/firefox-esr", "/usr/lib/firefox/firefox", "/usr/lib64/firefox/firefox"),
    commands=("firefox-esr", "firefox"),
)


def find_chromium() -> Path:
    """Find a stock Chromium: `RESOLAB_CHROMIUM` if set, else the binary instead of a distribution's wrapper."""
    return _find(_CHROMIUM)


def find_firefox() -> Path:
    """Find a stock Firefox: `RESOLAB_FIREFOX` if set, else the binary instead of a distribution's wrapper."""
    return _find(_FIREFOX)


def chromium_version(binary: Path | None = None) -> str:
    """Return the browser's own version text, e.g. `Chromium 156.0.8078.79`."""
    return " ".join(_version_words(binary or find_chromium())[:2])


def firefox_version(binary: Path | None = None) -> str:
    """Return the browser's own version text, e.g. `Mozilla Firefox 153.7.0esr`."""
    return " ".join(_version_words(binary or find_firefox())[:3])


def _find(wanted: _BrowserLocations) -> Path:
    named = os.environ.get(wanted.variable)
    if named is not None:
        if not os.access(named, os.X_OK):
            raise MachineError(
                f"could not find {wanted.name} at {named}: set {wanted.variable} to its binary, or unset it"
            )
        return Path(named)
    for place in wanted.places:
        if Path(place).is_file():
            return Path(place)
    for command in wanted.commands:
        found = shutil.which(command)
        if found:
            return Path(found)
    raise MachineError(f"could not find {wanted.name}: install the package {wanted.package}")


def _version_words(path: Path) -> list[str]:
    try:
        done = subprocess.run(
            [str(path), "--version"],
            capture_output=True,
            text=True,
            timeout=VERSION_TIMEOUT_S,
            check=True,
            start_new_session=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise MachineError(f"could not ask {path} for its version: {error}") from error
    return done.stdout.split()
