"""Distributions for the figures of Sengupta et al.: points, counts, and the median with its interval.

For: pooling profiles in round trips, as in Figs. 3, 5 and 7. Not for: drawing.

A missing value (a failed exchange, a connect without an end) counts as infinitely long: the value counts in `n` and has
no point.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from resolab.report.plots import number_text
from resolab.stats import median_interval_ranks


@dataclass(frozen=True, slots=True)
class Distribution:
    """Values in ascending order, each with the number of values at or below it."""

    steps: Sequence[tuple[float, int]]
    n: int

    @property
    def failed_count(self) -> int:
        """The number of missing values."""
        return self.n - (self.steps[-1][1] if self.steps else 0)

    @property
    def points(self) -> list[tuple[float, float]]:
        """Each value with the share of all values at or below."""
        return [(value, count / self.n) for value, count in self.steps]

    @property
    def median(self) -> float:
        """The median, infinite when half or more of the values are missing; NaN without values."""
        if not self.n:
            return math.nan
        return (self.find_ranked((self.n + 1) // 2) + self.find_ranked(self.n // 2 + 1)) / 2

    def median_interval(self, level: float) -> tuple[float, float]:
        """Return the interval of the median by order statistics, without any assumption on the distribution."""
        low, high = median_interval_ranks(self.n, level)
        return (self.find_ranked(low) if low >= 1 else -math.inf), (
            self.find_ranked(high) if high <= self.n else math.inf
        )

    def find_ranked(self, rank: int) -> float:
        """Return the value of a rank, counted from 1."""
        return next((value for value, count in self.steps if count >= rank), math.inf)

    def scale(self, factor: float) -> "Distribution":
        """Return the distribution in another unit."""
        return Distribution([(value * factor, count) for value, count in self.steps], self.n)


def make_distribution(values: Iterable[float | None]) -> Distribution:
    """Make a distribution of single values, with `None` for missing values."""
    some = list(values)
    known = sorted(value for value in some if value is not None)
    return Distribution([(value, rank + 1) for rank, value in enumerate(known)], len(some))


def pool(parts: Sequence[Distribution]) -> Distribution:
    """Pool distributions, every value with its own weight."""
    weighted: list[tuple[float, int]] = []
    for part in parts:
        before = 0
        for value, count in part.steps:
            weighted.append((value, count - before))
            before = count
    steps, reached = [], 0
    for value, weight in sorted(weighted):
        reached += weight
        steps.append((value, reached))
    return Distribution(steps, sum(part.n for part in parts))


def median_text(one: Distribution, level: float, digits: int = 2) -> str:
    """Format the median with its interval."""
    if not one.n:
        return "no data"
    middle = "never" if math.isinf(one.median) else number_text(one.median, digits)
    low, high = one.median_interval(level)
    return f"{middle} [{number_text(low, digits)}, {number_text(high, digits)}]"
