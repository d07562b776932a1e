"""Whether an earlier study's number is what ours says a repeat of it would give: sign, overlap, prediction.

For: printed medians of which only quartiles and a sample size are known. Not for: deciding who is right, or numbers
that are not of one quantity.

The interval of a printed median is that of McGill, Tukey and Larsen (1978), from its quartiles. The prediction interval
(Patil, Peng and Leek 2016; Spence and Stanley 2016) is where the printed number would lie in 95 % of cases if both
studies estimated the same: both half widths joined by the square-and-add rule (Zou and Donner 2008), so that an
interval of ours that is not symmetric stays so.
"""

import math
from dataclasses import dataclass

import scipy

from resolab.stats.estimate import Estimate
from resolab.stats.order import LEVEL

_NOTCH = 1.25 / 1.35
"""Standard error of a median by its interquartile range over the root of n (McGill, Tukey and Larsen 1978)."""


@dataclass(frozen=True, slots=True)
class Printed:
    """A printed change between two medians with the interval that its quartiles and size give it."""

    value: float
    ci_low: float
    ci_high: float


@dataclass(frozen=True, slots=True)
class Replication:
    """A printed number beside an estimate of ours that has an interval."""

    ours: Estimate
    theirs: Printed
    prediction_low: float
    prediction_high: float

    @property
    def same_sign(self) -> bool | None:
        """Whether both lie on one side of 0; None where our interval does not."""
        verdict = self.ours.verdict
        return None if verdict == 0 else (verdict > 0) == (self.theirs.value > 0)

    @property
    def overlaps(self) -> bool:
        """Whether the two intervals have a point in common."""
        low, high = self.ours.ci_low, self.ours.ci_high
        assert low is not None
        assert high is not None
        return self.theirs.ci_low <= high and self.theirs.ci_high >= low

    @property
    def is_predicted(self) -> bool:
        """Whether the printed number lies where a repeat of ours would."""
        return self.prediction_low <= self.theirs.value <= self.prediction_high


def printed_change(value: float, quartiles: tuple[float, float], n: int, *, level: float = LEVEL) -> Printed:
    """Give a printed change of medians its interval; the baseline's median, of as many loads, is taken as no surer."""
    half = _z(level) * _NOTCH * math.sqrt(2) * (quartiles[1] - quartiles[0]) / math.sqrt(n)
    return Printed(value, value - half, value + half)


def replication(ours: Estimate, theirs: Printed) -> Replication | None:
    """Lay both side by side; an estimate without an interval or a number says nothing."""
    if ours.value is None or ours.ci_low is None or ours.ci_high is None:
        return None
    below, above = theirs.value - theirs.ci_low, theirs.ci_high - theirs.value
    low = ours.value - math.hypot(ours.value - ours.ci_low, above)
    high = ours.value + math.hypot(ours.ci_high - ours.value, below)
    return Replication(ours, theirs, low, high)


def _z(level: float) -> float:
    return float(scipy.stats.norm.ppf((1 + level) / 2))
