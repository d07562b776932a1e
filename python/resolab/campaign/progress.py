"""Progress of a campaign for people: a bar with an estimate of the end on a terminal, a line now and then elsewhere.

For: standard error only. Not for: results.
"""

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

LINE_EVERY_S = 30.0


def duration_text(seconds: float) -> str:
    """Write a duration as people say it, e.g. `7 min 05 s`."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


class CampaignProgress:
    """Counts trials; the estimate is the mean of the trials of this process, set-up not counted."""

    def __init__(self, total: int, done: int, console: Console) -> None:
        self._console = console
        self._total, self._done, self._already_done = total, done, done
        self._failures = self._flagged = 0
        self._started_s = self._last_line_s = time.monotonic()
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("ETA"),
            TimeRemainingColumn(elapsed_when_finished=False),
            TextColumn("{task.fields[counts]}"),
            console=console,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("trials", total=total, completed=done, counts="")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._bar.stop()

    def say(self, message: str) -> None:
        """Say something beside the bar."""
        self._console.print(message, highlight=False)

    def trial_done(self, *, failed: bool, flagged: bool) -> None:
        """Count one trial."""
        self._done += 1
        self._failures += failed
        self._flagged += flagged
        self._bar.update(self._task, completed=self._done, counts=self._counts())
        now = time.monotonic()
        if not self._console.is_terminal and (now - self._last_line_s > LINE_EVERY_S or self._done == self._total):
            self._last_line_s = now
            self.say(
                f"{self._done}/{self._total} trials, {self._counts()}, ETA {duration_text(self._remaining_s(now))}"
            )

    def _remaining_s(self, now: float) -> float:
        per_trial = (now - self._started_s) / max(1, self._done - self._already_done)
        return per_trial * (self._total - self._done)

    def _counts(self) -> str:
        elapsed = max(1e-9, time.monotonic() - self._started_s)
        per_hour = (self._done - self._already_done) / elapsed * 3600
        return f"{per_hour:.0f}/h, {self._failures} failed, {self._flagged} flagged"
