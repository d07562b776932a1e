"""An instant of an estimated load, with the look-ups of its chain.

For: `estimate`, `delayed_requests`. Not for: measured instants (`load`).
"""

from typing import NamedTuple


class EstimatedInstant(NamedTuple):
    """An instant and the look-ups of its chain; of two chains with the same end, the chain with more look-ups."""

    ms: float
    lookups: int

    def later(self, ms: float) -> "EstimatedInstant":
        """Return an instant later by `ms`, on the same chain."""
        return EstimatedInstant(self.ms + ms, self.lookups)


START = EstimatedInstant(0.0, 0)
