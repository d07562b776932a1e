"""A netlog still being written by the browser, read load by load.

For: reading each byte once, for any number of loads; the part of the log about one load. Not for: whole logs
(`reader`).

Chromium writes events in groups, so a load's last events may be missing until the browser's next activity. The log's
clock is `CLOCK_MONOTONIC` in ms.
"""

import time
from pathlib import Path

from resolab.basics.errors import ConfigurationError
from resolab.browser.browser_log import BrowserLog
from resolab.browser.chromium.netlog.events import EventDecoder, Head, no_netlog, read_head
from resolab.browser.chromium.netlog.lines import is_begin
from resolab.browser.chromium.netlog.reader import NetlogBuilder


class NetlogFollower:
    """The netlog of one browser process, read while growing."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._read_bytes = 0
        self._rest = ""
        self._head_lines: list[str] = []
        self._head: Head | None = None
        self._decoder: EventDecoder | None = None
        self._log = NetlogBuilder()
        self._since_ms = 0.0

    def mark(self) -> None:
        """Begin a load's part here."""
        self._since_ms = time.monotonic() * 1000

    def read(self) -> BrowserLog:
        """Return the written part of the load since the mark.

        Raise `ConfigurationError` for a file without a valid netlog.
        """
        for line in self._new_lines():
            self._take(line)
        if self._head is None:
            raise no_netlog(self._file, "it has no events, one a line, as Chromium writes them")
        # The log's instants have whole milliseconds.
        return self._log.build(self._head, is_cut_off=True).select_since(self._since_ms - 1)

    def _take(self, line: str) -> None:
        if self._decoder is not None:
            if (event := self._decoder.event(line)) is not None:
                self._log.take(event)
            return
        self._head_lines.append(line)
        if is_begin(line):
            try:
                self._head = read_head(self._head_lines)
            except ValueError as problem:
                raise no_netlog(self._file, problem) from problem
            self._decoder, self._head_lines = self._head.decoder(self._log.names), []

    def _new_lines(self) -> list[str]:
        """Read the lines complete by now."""
        try:
            with self._file.open("rb") as file:
                file.seek(self._read_bytes)
                new = file.read()
        except OSError as error:
            raise ConfigurationError(f"failed to read netlog {self._file}: {error}") from error
        self._read_bytes += len(new)
        *lines, self._rest = (self._rest + new.decode("utf-8", "replace")).split("\n")
        return lines
