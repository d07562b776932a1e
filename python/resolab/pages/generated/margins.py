"""Distributions of one number of a page, given by a standard normal score: published percentiles, and regressions.

Between percentiles the logarithm is linear in the score. Beyond the outermost two percentiles, the line continues. The
distribution is log-normal piece by piece, with log-normal tails. Not for: dependence (`copula`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist

from resolab.pages.generated.published import PERCENTILES

_SCORES = tuple(NormalDist().inv_cdf(share) for share in PERCENTILES)


@dataclass(frozen=True, slots=True)
class MarginalDistribution:
    """Logarithms at scores, both rising."""

    scores: tuple[float, ...]
    logs: tuple[float, ...]

    @classmethod
    def from_percentiles(cls, values: Sequence[float]) -> "MarginalDistribution":
        """Go through values at the published percentiles."""
        return cls(_SCORES, tuple(math.log(value) for value in values))

    @classmethod
    def log_normal(cls, median: float, log_sd: float) -> "MarginalDistribution":
        """Make a log-normal distribution from its median and log SD."""
        return cls((0.0, 1.0), (math.log(median), math.log(median) + log_sd))

    def value(self, score: float) -> float:
        """Give the value at a score."""
        return math.exp(_line(self.scores, self.logs, score))

    def score(self, value: float) -> float:
        """Give the score of a value."""
        return _line(self.logs, self.scores, math.log(value))

    @property
    def log_sd(self) -> float:
        """Return the SD of the logarithm, as for a log-normal distribution with the same outermost values."""
        return (self.logs[-1] - self.logs[0]) / (self.scores[-1] - self.scores[0])

    def regress(self, regression: tuple[float, float, float], median: float | None = None) -> "MarginalDistribution":
        """Return the distribution of a variable regressed in logarithms on this variable, with `median` when given."""
        slope, intercept, left_sd = regression
        middle = math.exp(intercept + slope * _line(self.scores, self.logs, 0.0))
        return MarginalDistribution.log_normal(median or middle, math.hypot(slope * self.log_sd, left_sd))


def _line(xs: Sequence[float], ys: Sequence[float], x: float) -> float:
    """Interpolate, and go on straight beyond both ends."""
    pieces = list(pairwise(range(len(xs))))
    left, right = next((piece for piece in pieces if x < xs[piece[1]]), pieces[-1])
    return ys[left] + (x - xs[left]) * (ys[right] - ys[left]) / (xs[right] - xs[left])
