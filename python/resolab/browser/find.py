"""The browsers of this machine: stock browsers and builds at a path.

For: the path of the binary itself (a distribution's wrapper script adds its own flags), its version, and the digest of
its code. Not for: starting the browser.
"""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from resolab.basics.errors import MachineError
from resolab.basics.records import BrowserKind

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


VERSION_OF: Mapping[BrowserKind, Callable[..., str]] = {
    BrowserKind.CHROMIUM: chromium_version,
    BrowserKind.FIREFOX: firefox_version,
    BrowserKind.CHROMIUM_HEADLESS_SHELL: chromium_version,
}
"""The version text of the build at a path; without a path, of the machine's stock browser."""
FIND: Mapping[BrowserKind, Callable[[], Path]] = {
    BrowserKind.CHROMIUM: find_chromium,
    BrowserKind.FIREFOX: find_firefox,
}
"""The path of each stock browser."""
_LIBRARIES = {BrowserKind.FIREFOX: "libxul.so"}
"""The file beside the program with the browser's code, for programs that only load this file."""


def check_build(name: str, path: Path) -> None:
    """Raise `MachineError` unless the program of a plan's build can be run."""
    if not path.is_file():
        problem = "there is no such file"
    elif not os.access(path, os.X_OK):
        problem = "the file is not executable"
    else:
        return
    raise MachineError(f"could not find browser {name} at {path}: {problem}; correct path in [browser.{name}]")


def hash_code(kind: BrowserKind, program: Path) -> tuple[Path, str]:
    """Return the file with a build's code, and the file's sha256 in hex."""
    program = program.resolve()
    library = program.with_name(_LIBRARIES.get(kind, program.name))
    file = library if library.is_file() else program
    try:
        with file.open("rb") as stream:
            return file, hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise MachineError(f"could not read browser {file}: {error.strerror}; make the file readable") from error


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
