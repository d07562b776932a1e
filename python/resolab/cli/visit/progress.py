"""Progress messages for a person waiting for a visit, on a terminal's standard error. Not for: results."""

import time
from typing import TYPE_CHECKING, Self

from rich.text import Text

from resolab.campaign.progress import duration_text
from resolab.cli.console import Console
from resolab.extras.visit import VisitLoad

if TYPE_CHECKING:
    from rich.status import Status


class VisitProgress:
    """A counter of loads; silent when standard error is no terminal."""

    def __init__(self, total: int, console: Console) -> None:
        self._total, self._done, self._failed = total, 0, 0
        self._console = console
        self._status: Status | None = None
        self._begun_s = time.monotonic()

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._status = self._console.status(Text("starting"))
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._status is not None:
            self._status.stop()

    def begin(self) -> None:
        """Start the clock: browsers and resolvers are ready."""
        self._begun_s = time.monotonic()

    def take(self, one: VisitLoad) -> None:
        """Count a finished load."""
        self._done += 1
        self._failed += one.failure is not None
        if self._status is not None:
            self._status.update(Text(self.line(time.monotonic() - self._begun_s)))

    def line(self, elapsed_s: float) -> str:
        """Return the progress as text."""
        left_s = elapsed_s * (self._total - self._done) / max(1, self._done)
        failed = f", {self._failed} failed" if self._failed else ""
        return f"{self._done}/{self._total} loads{failed}, ETA {duration_text(max(0.0, left_s))}"
