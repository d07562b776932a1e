"""The progress of a benchmark and its remaining time, on standard error.

For: waiting people. Not for: results.
"""

import sys
import time

LINE_EVERY_S = 15.0
MINUTE_S = 60


class Progress:
    """The share of work done, in estimated seconds."""

    def __init__(self, total_s: float, program: str = "bench dns") -> None:
        self._program = program
        self._total_s = total_s
        self._done_s = 0.0
        self._began = time.monotonic()
        self._line_at = 0.0

    def step(self, what: str, estimate_s: float) -> None:
        """Print the current step; the step before is over."""
        now = time.monotonic()
        live = sys.stderr.isatty()
        if live or now >= self._line_at:
            text = f"{self._program}: {what}; {self._format_left(now)}"
            print(f"\r\x1b[2K{text}" if live else text, end="" if live else "\n", file=sys.stderr, flush=True)
            self._line_at = now + LINE_EVERY_S
        self._done_s += estimate_s

    def end(self) -> None:
        """End the progress line."""
        if sys.stderr.isatty():
            print(file=sys.stderr)

    def _format_left(self, now: float) -> str:
        return f"about {duration(estimate_left_s(now - self._began, self._done_s, self._total_s))} left"


def estimate_left_s(elapsed_s: float, done_s: float, total_s: float) -> float:
    """Scale the remaining estimate by the pace up to now; early, the plain estimate has more weight."""
    trust = min(1.0, done_s / (0.1 * total_s)) if total_s else 1.0
    pace = elapsed_s / done_s if done_s else 1.0
    return max(0.0, total_s - done_s) * (trust * pace + (1.0 - trust))


def duration(seconds: float) -> str:
    """Write a duration for people."""
    return f"{seconds:.0f} s" if seconds < 2 * MINUTE_S else f"{seconds / MINUTE_S:.0f} min"
