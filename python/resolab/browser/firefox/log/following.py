"""A log that its Firefox still writes, read load by load.

For: each byte once; the part that is of one load. Not for: whole logs for people, which are of other modules.

Each line is written at once (`LOGGED_FOR_JUDGING`).
"""

import time
from pathlib import Path

from resolab.browser.browser_log import BrowserLog
from resolab.browser.firefox.log.lines import line_of
from resolab.browser.firefox.log.reading import Log
from resolab.errors import ConfigurationError


class FollowedLog:
    """One browser process's log."""

    def __init__(self, file: Path) -> None:
        """Follow a file; it is there once the browser has started."""
        self._file = file
        self._read_bytes = 0
        self._rest = ""
        self._log = Log()
        self._since_ms = 0.0

    def mark(self) -> None:
        """Begin a load's part here."""
        self._since_ms = time.time() * 1000

    def read(self) -> BrowserLog:
        """Return what is of the load since the mark."""
        try:
            with self._file.open("rb") as file:
                file.seek(self._read_bytes)
                new = file.read()
        except OSError as error:
            raise ConfigurationError(f"failed to read Firefox's log {self._file}: {error}") from error
        self._read_bytes += len(new)
        *lines, self._rest = (self._rest + new.decode("utf-8", "replace")).split("\n")
        for text in lines:
            if (line := line_of(text)) is not None:
                self._log.take(line)
        return self._log.made().since(self._since_ms)
