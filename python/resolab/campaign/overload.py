"""Whether several paths at a time are too many for the machine: their links are late too often.

For: counting trials that were later than the plan's `lateness_p99_ms`. Not for: what lateness is (`testbed.judgement`).
"""

from collections import deque

LATE_LIMIT_COUNT = 10
"""More late trials than that among the last `WINDOW_COUNT` are too many.

One path had 1 or 2 of a hundred in some runs of a machine shared with others, and 8 in another (docs/results).
"""
WINDOW_COUNT = 100


class Overload:
    """The last trials that ran while there were several paths."""

    def __init__(self) -> None:
        self._late: deque[bool] = deque(maxlen=WINDOW_COUNT)

    def add(self, *, late: bool) -> None:
        """Take in a finished trial."""
        self._late.append(late)

    @property
    def is_reached(self) -> bool:
        """Whether paths must become fewer."""
        return sum(self._late) > LATE_LIMIT_COUNT

    def text(self, limit_ms: float) -> str:
        """Say how late the links were."""
        late, trials = sum(self._late), len(self._late)
        return f"{late} of the last {trials} trials had links later than {limit_ms:g} ms (p99)"
