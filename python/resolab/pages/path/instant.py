"""An instant of an estimated load, with the look-ups that led to it.

For: `estimate`, `held_back`. Not for: instants that were measured (`load`).
"""

from typing import NamedTuple


class Instant(NamedTuple):
    """An instant and the look-ups of the chain that leads to it; of two chains that end together the one with more."""

    ms: float
    lookups: int

    def later(self, ms: float) -> "Instant":
        """Return an instant by so much later, on the same chain."""
        return Instant(self.ms + ms, self.lookups)


START = Instant(0.0, 0)
