"""Show a campaign's progress to people: a bar with the expected end on a terminal, otherwise a line now and then.

For: standard error only. Not for: results.
"""

import time
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Self

from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from resolab.basics.wording import format_count
from resolab.campaign.interim_answer import InterimRow

LINE_EVERY_S = 30.0
LINES_BELOW_COUNT = 4
"""Lines of a terminal kept free below the interim answer, for the bar and the prompt."""
INTERIM_ROWS_MAX_COUNT = 40


def duration_text(seconds: float) -> str:
    """Return a duration in common units, e.g. `7 min 05 s` or `38 d 14 h`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours_of_day = divmod(hours, 24)
    if days >= 2:
        return f"{days} d {hours_of_day:02d} h"
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


class _BarBelowAnswer(Progress):
    """A progress bar with the interim answer above."""

    answer: Sequence[str] = ()

    def get_renderables(self) -> Iterable[RenderableType]:
        """Return the lines of the interim answer, then the bar."""
        if self.answer:
            space = max(0, self.console.size.height - LINES_BELOW_COUNT)
            yield from (Text(line, no_wrap=True, overflow="ellipsis") for line in self.answer[:space])
        yield from super().get_renderables()


class CampaignProgress:
    """The trial counter. The estimate is the mean of this process's trials, without set-up.

    Trials of earlier processes count as done, but not as failures or for the pace.
    """

    def __init__(self, total: int, done: int, console: Console) -> None:
        self._console = console
        self._total, self._done, self._already_done = total, done, done
        self._expected = total
        self._failures = self._flagged = 0
        self._precision = ""
        self._started_s: float | None = None
        self._last_line_s = time.monotonic()
        self._has_answered = False
        self._bar = _BarBelowAnswer(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
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
        # The report's table follows.
        self._bar.answer = ()
        self._bar.stop()

    def say(self, message: str) -> None:
        """Print a message beside the bar."""
        self._console.print(message, highlight=False, markup=False, soft_wrap=True)

    def trials_begin(self) -> None:
        """Start the clock, once: the first testbed is ready."""
        if self._started_s is None:
            self._started_s = self._last_line_s = time.monotonic()

    def expect(self, total: int, precision: str) -> None:
        """Store the result of an interim analysis: the interval widths and the expected end of the campaign."""
        self._expected, self._precision = min(total, self._total), precision

    def answer(self, label: str, unit: str, blocks_count: int, rows: Sequence[InterimRow]) -> None:
        """Show the answer so far: in place on a terminal; elsewhere as lines, the first time only."""
        if not rows:
            return
        head = f"after {format_count(blocks_count, 'block')}, {label}: median paired difference, without intervals"
        shown = rows[:INTERIM_ROWS_MAX_COUNT]
        width = max(len(one.treatment) for one in shown)
        lines = [head, *(_interim_line(one, unit, width) for one in shown)]
        if len(shown) < len(rows):
            lines.append(f"  and {format_count(len(rows) - len(shown), 'comparison')} more")
        self._bar.answer = lines
        if not self._console.is_terminal and not self._has_answered:
            self.say("\n".join(lines))
        self._has_answered = True

    def trial_done(self, *, failed: bool, flagged: bool) -> None:
        """Count a finished trial."""
        self.trials_begin()
        self._done += 1
        self._failures += failed
        self._flagged += flagged
        now = time.monotonic()
        text = self._text(now)
        self._bar.update(self._task, completed=self._done, counts=text)
        if not self._console.is_terminal and (now - self._last_line_s > LINE_EVERY_S or self._done == self._total):
            self._last_line_s = now
            self.say(f"{self._done}/{self._total} trials, {text}")

    def _text(self, now: float) -> str:
        elapsed = max(1e-9, now - (now if self._started_s is None else self._started_s))
        done = self._done - self._already_done
        remaining_s = elapsed / done * max(0, self._expected - self._done)
        parts = [f"{done / elapsed * 3600:.0f} loads/h", f"{self._failures} failed", f"{self._flagged} flagged"]
        if self._already_done:
            parts[-1] += f" of the {done} since it went on"
        parts.append(f"ETA {duration_text(remaining_s)}")
        if self._precision:
            parts.append(self._precision)
        return ", ".join(parts)


def _interim_line(row: InterimRow, unit: str, width: int) -> str:
    value, count = row.difference.value, row.difference.n
    shown = "at least the limit" if value is None else f"{value:+.0f} {unit}"
    return f"  {row.treatment:<{width}}  {shown}  against {row.baseline}, n = {count}"
