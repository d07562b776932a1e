"""Detect too many paths at a time for the machine: links late too often.

For: counting trials later than the plan's `lateness_p99_ms`. Not for: the definition of lateness (`testbed.judgement`).
"""

from collections import deque

LATE_LIMIT_COUNT = 10
"""The tolerated number of late trials among the last `WINDOW_COUNT` trials. One path had 1 or 2 of a hundred in some
runs of a machine shared with others, and 8 in another (docs/results)."""
WINDOW_COUNT = 100


class LatenessWindow:
    """The last trials run while there were several paths."""

    def __init__(self) -> None:
        self._late: deque[bool] = deque(maxlen=WINDOW_COUNT)

    def add(self, *, late: bool) -> None:
        """Add a finished trial."""
        self._late.append(late)

    @property
    def is_reached(self) -> bool:
        """Return True when fewer paths are needed."""
        return sum(self._late) > LATE_LIMIT_COUNT

    def text(self, limit_ms: float) -> str:
        """Return the lateness of the links as text."""
        late, trials = sum(self._late), len(self._late)
        return f"{late} of the last {trials} trials had links later than {limit_ms:g} ms (p99)"
