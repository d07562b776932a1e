"""Progress messages for a person waiting for queries, on a terminal's standard error."""

import time
from typing import TYPE_CHECKING, Self

from rich.text import Text

from resolab.basics.records import QueryRecord
from resolab.cli.console import Console

if TYPE_CHECKING:
    from rich.status import Status

SILENT_FOR_S = 0.5
"""The time without progress messages, in s; a shorter wait needs no progress."""
REDRAW_S = 0.1


class QueryProgressLine:
    """A counter of queries; silent when standard error is no terminal."""

    def __init__(self, expected: int, console: Console) -> None:
        self._expected, self._done, self._failed = expected, 0, 0
        self._console = console
        self._status: Status | None = None
        self._begun_s = self._drawn_s = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._status is not None:
            self._status.stop()

    def take(self, record: QueryRecord) -> None:
        """Count a query record."""
        self._done += 1
        self._failed += record.failure is not None
        now_s = time.monotonic()
        if not self._console.is_terminal or now_s - self._begun_s < SILENT_FOR_S or now_s - self._drawn_s < REDRAW_S:
            return
        self._drawn_s = now_s
        line = Text(self.line(now_s - self._begun_s))
        if self._status is None:
            self._status = self._console.status(line)
            self._status.start()
        self._status.update(line)

    def line(self, elapsed_s: float) -> str:
        """Return the progress as text."""
        left_s = round(elapsed_s * (self._expected - self._done) / self._done)
        minutes, seconds = divmod(max(0, left_s), 60)
        eta = f"{minutes} min {seconds:02d} s" if minutes else f"{seconds} s"
        failed = f", {self._failed} failed" if self._failed else ""
        return f"{self._done}/{self._expected} queries{failed}, ETA {eta}"
