"""Comparison of an earlier study's number with the expected results of repeating ours: sign, overlap, prediction.

For: printed medians known only with quartiles and sample size. Not for: judging the studies, or comparing numbers of
different quantities.

The interval of a printed median follows McGill, Tukey and Larsen (1978), from its quartiles. The prediction interval
(Patil, Peng and Leek 2016; Spence and Stanley 2016) holds the printed number in 95 % of cases if both studies estimate
the same quantity. Both half widths are joined by the square-and-add rule (Zou and Donner 2008), to keep the asymmetry
of our interval.
"""

import math
from dataclasses import dataclass

import scipy

from resolab.stats.estimate import Estimate
from resolab.stats.order import LEVEL

_NOTCH = 1.25 / 1.35
"""Standard error of a median by its interquartile range over the root of n (McGill, Tukey and Larsen 1978)."""


@dataclass(frozen=True, slots=True)
class PrintedChange:
    """A printed change between two medians, with an interval from its quartiles and sample size."""

    value: float
    ci_low: float
    ci_high: float


@dataclass(frozen=True, slots=True)
class Replication:
    """A printed number beside our estimate with its interval."""

    ours: Estimate
    theirs: PrintedChange
    prediction_low: float
    prediction_high: float

    @property
    def same_sign(self) -> bool | None:
        """True when both numbers lie on the same side of 0; `None` when our interval contains 0."""
        verdict = self.ours.verdict
        return None if verdict == 0 else (verdict > 0) == (self.theirs.value > 0)

    @property
    def overlaps(self) -> bool:
        """True when the two intervals have a point in common."""
        low, high = self.ours.ci_low, self.ours.ci_high
        assert low is not None
        assert high is not None
        return self.theirs.ci_low <= high and self.theirs.ci_high >= low

    @property
    def is_predicted(self) -> bool:
        """True when the printed number lies within the prediction interval."""
        return self.prediction_low <= self.theirs.value <= self.prediction_high


def make_printed_change(value: float, quartiles: tuple[float, float], n: int, *, level: float = LEVEL) -> PrintedChange:
    """Return a printed change of medians with its interval.

    The baseline's median is assumed to have the same uncertainty, from the same number of loads.
    """
    half = _z(level) * _NOTCH * math.sqrt(2) * (quartiles[1] - quartiles[0]) / math.sqrt(n)
    return PrintedChange(value, value - half, value + half)


def replication(ours: Estimate, theirs: PrintedChange) -> Replication | None:
    """Compare both numbers; return `None` for an estimate without an interval or a number."""
    if ours.value is None or ours.ci_low is None or ours.ci_high is None:
        return None
    below, above = theirs.value - theirs.ci_low, theirs.ci_high - theirs.value
    low = ours.value - math.hypot(ours.value - ours.ci_low, above)
    high = ours.value + math.hypot(ours.ci_high - ours.value, below)
    return Replication(ours, theirs, low, high)


def _z(level: float) -> float:
    return float(scipy.stats.norm.ppf((1 + level) / 2))
