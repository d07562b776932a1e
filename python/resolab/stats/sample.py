"""Measured values, some of them known only within bounds.

For: keeping a timeout as 'at least the limit' through every step. Not for: estimates (`medians`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Values in [low, high]: equal bounds for exact values, the limit and infinity for a timeout."""

    low: FloatArray
    high: FloatArray

    def __post_init__(self) -> None:
        if self.low.shape != self.high.shape or self.low.ndim != 1:
            raise ValueError("low and high must be one-dimensional and of one length")
        if np.isnan(self.low).any() or np.isnan(self.high).any() or (self.low > self.high).any():
            raise ValueError("every value needs low <= high, and none may be NaN")

    @classmethod
    def exact(cls, values: ArrayLike) -> Self:
        """Make a sample of known values."""
        array = np.asarray(values, dtype=np.float64)
        return cls(array, array)

    @classmethod
    def from_censored(cls, values: Sequence[float | None], at_least: Sequence[float]) -> Self:
        """Make a sample with `None` for censored values, each at least the number in `at_least`."""
        both = list(zip(values, at_least, strict=True))
        low = [limit if value is None else value for value, limit in both]
        high = [np.inf if value is None else value for value, _ in both]
        return cls(np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64))

    def __len__(self) -> int:
        return int(self.low.size)

    @property
    def is_exact(self) -> bool:
        """True when every value is known and finite."""
        return bool(np.array_equal(self.low, self.high) and np.isfinite(self.low).all())

    @property
    def censored_count(self) -> int:
        """Number of values not known exactly."""
        return int(np.count_nonzero((self.low != self.high) | ~np.isfinite(self.low)))

    def take(self, index: Sequence[int]) -> "Sample":
        """Return the values at the given positions."""
        chosen = np.asarray(index, dtype=np.intp)
        return Sample(self.low[chosen], self.high[chosen])


def ecdf(values: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return the sorted values and the share of values at or below each."""
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    shares = np.arange(1, ordered.size + 1, dtype=np.float64) / max(ordered.size, 1)
    return ordered, shares
