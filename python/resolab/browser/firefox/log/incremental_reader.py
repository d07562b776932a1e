"""A log still being written by Firefox, read load by load.

For: reading each byte once; the part of the log about one load. Not for: whole logs for people, with other log modules.

Firefox writes each line at once (`LOGGED_FOR_JUDGING`).
"""

import time
from pathlib import Path

from resolab.basics.errors import ConfigurationError
from resolab.browser.browser_log import BrowserLog
from resolab.browser.firefox.log.lines import read_line
from resolab.browser.firefox.log.reader import FirefoxLogBuilder


class FirefoxLogFollower:
    """The log of one browser process, read while growing."""

    def __init__(self, file: Path) -> None:
        """Follow a file; the file exists once the browser has started."""
        self._file = file
        self._read_bytes = 0
        self._rest = ""
        self._log = FirefoxLogBuilder()
        self._since_ms = 0.0

    def mark(self) -> None:
        """Begin a load's part here."""
        self._since_ms = time.time() * 1000

    def read(self) -> BrowserLog:
        """Return the part of the load since the mark."""
        try:
            with self._file.open("rb") as file:
                file.seek(self._read_bytes)
                new = file.read()
        except OSError as error:
            raise ConfigurationError(f"failed to read Firefox's log {self._file}: {error}") from error
        self._read_bytes += len(new)
        *lines, self._rest = (self._rest + new.decode("utf-8", "replace")).split("\n")
        for text in lines:
            if (line := read_line(text)) is not None:
                self._log.take(line)
        return self._log.build().select_since(self._since_ms)
