"""An instant of an estimated load, with the look-ups of its chain.

For: `estimate`, `held_back`. Not for: measured instants (`load`).
"""

from typing import NamedTuple


class Instant(NamedTuple):
    """An instant and the look-ups of its chain; of two chains with the same end, the chain with more look-ups."""

    ms: float
    lookups: int

    def later(self, ms: float) -> "Instant":
        """Return an instant later by `ms`, on the same chain."""
        return Instant(self.ms + ms, self.lookups)


START = Instant(0.0, 0)
