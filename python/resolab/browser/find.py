"""Which Chromium this machine has.

For: the path of the binary itself (a distribution's wrapper script adds flags of its own) and its version.
Not for: starting it.
"""

import os
import shutil
import subprocess
from pathlib import Path

from resolab.errors import MachineError

KNOWN_PLACES = (
    "/usr/lib/chromium/chromium",
    "/usr/lib64/chromium-browser/chromium-browser",
    "/opt/google/chrome/chrome",
)
COMMAND_NAMES = ("chromium", "chromium-browser", "google-chrome")
VERSION_TIMEOUT_S = 20.0


def find_chromium() -> Path:
    """Find a stock Chromium: `RESOLAB_CHROMIUM` if set, else the binary itself rather than a distribution's wrapper."""
    named = os.environ.get("RESOLAB_CHROMIUM")
    if named is not None:
        if not os.access(named, os.X_OK):
            raise MachineError(f"could not find Chromium at {named}: set RESOLAB_CHROMIUM to its binary, or unset it")
        return Path(named)
    for place in KNOWN_PLACES:
        if Path(place).is_file():
            return Path(place)
    for name in COMMAND_NAMES:
        found = shutil.which(name)
        if found:
            return Path(found)
    raise MachineError("could not find Chromium: install the package chromium")


def chromium_version(binary: Path | None = None) -> str:
    """Version as the browser itself tells it, e.g. `Chromium 156.0.8078.79`."""
    path = binary or find_chromium()
    try:
        done = subprocess.run(
            [str(path), "--version"], capture_output=True, text=True, timeout=VERSION_TIMEOUT_S, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise MachineError(f"could not ask {path} for its version: {error}") from error
    return " ".join(done.stdout.split()[:2])
