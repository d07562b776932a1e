"""Confidence sequence of a median: intervals holding the median simultaneously, for stopping at any look.

For: stopping by the data, and the intervals of a plan stopped by its data. Not for: a number of blocks fixed in advance
(`order` gives narrower intervals); means.

The number of values at or below the median of n independent values is at least as large as a count of fair coins, for
every distribution, including ties. The probability of the count ever falling below a boundary is therefore at most the
probability for coins. The probability for coins is counted exactly. At each n, the lower end is the highest rank with
at most `spent(n)` of all coin paths below an end so far. The method needs no approximation, no greatest n and no
schedule of looks. Sources: Lan and DeMets (1983) for the spending of error; Howard and Ramdas (2022) for quantile
confidence sequences.

All intervals hold the median together, and so does their intersection. A sequence widens only after a miss.
"""

import bisect
import math
from functools import lru_cache

import numpy as np

from resolab.stats.estimate import Estimate, Method
from resolab.stats.medians import bound_change, subtract_pairs
from resolab.stats.order import LEVEL, quantile
from resolab.stats.sample import Sample

HALF_SPENT_AT = 30
"""The number of values at which half of the error is spent; the sequence is then narrowest from about ten to a few
hundred values."""


def compute_spent_error(size: int, level: float) -> float:
    """Return the error of one end spent after `size` values; the whole error is spent only in the limit."""
    return (1 - level) / 2 * size / (size + HALF_SPENT_AT)


def lower_rank(size: int, level: float = LEVEL) -> int:
    """Return the rank (from 1) of the sequence's lower end among `size` values; 0 when there is no end yet.

    The upper end is the value with the same rank from above.
    """
    return _ranks(max(256, 1 << (size - 1).bit_length()), level)[size] if size else 0


@lru_cache(maxsize=64)
def _ranks(most: int, level: float) -> tuple[int, ...]:
    """Count the coin paths staying above every end, value by value."""
    staying = np.zeros(most + 1)
    staying[0] = 1.0
    gone, ranks = 0.0, [0]
    for size in range(1, most + 1):
        staying[1 : size + 1] = (staying[1 : size + 1] + staying[:size]) / 2
        staying[0] /= 2
        low = ranks[-1]
        # What is below the last end has left already, so the search begins there.
        leaving = np.cumsum(staying[low : size + 1])
        more = int(np.searchsorted(leaving, compute_spent_error(size, level) - gone, side="right"))
        if more:
            gone += float(leaving[more - 1])
            staying[low : low + more] = 0.0
        ranks.append(low + more)
    return tuple(ranks)


class MedianSequence:
    """An interval of the median of values added in succession, valid at any moment."""

    def __init__(self, level: float = LEVEL) -> None:
        self.level = level
        self.low, self.high = -math.inf, math.inf
        self.contradicts_itself = False
        """True after two intervals without a common point: an interval missed the median, by chance or because the
        pairs change over time. From then on the interval is the union of all intervals."""
        self._lows: list[float] = []
        self._highs: list[float] = []

    def __len__(self) -> int:
        return len(self._lows)

    def add(self, low: float, high: float) -> None:
        """Add the bounds of a value; a known value has equal bounds."""
        bisect.insort(self._lows, low)
        bisect.insort(self._highs, high)
        rank = lower_rank(len(self), self.level)
        if rank == 0:
            return
        below, above = self._lows[rank - 1], self._highs[-rank]
        if not self.contradicts_itself and max(self.low, below) <= min(self.high, above):
            self.low, self.high = max(self.low, below), min(self.high, above)
        else:
            self.contradicts_itself = True
            self.low, self.high = min(self.low, below), max(self.high, above)

    @property
    def has_interval(self) -> bool:
        """True with enough values for an interval."""
        return lower_rank(len(self), self.level) > 0

    @property
    def width(self) -> float:
        """Full width of the interval; infinite before the first interval."""
        return self.high - self.low if math.isfinite(self.low) and math.isfinite(self.high) else math.inf


def median_at_any_look(sample: Sample, *, level: float = LEVEL) -> Estimate:
    """Estimate the median of values in the order of their measurement."""
    sequence = MedianSequence(level)
    for low, high in zip(sample.low, sample.high, strict=True):
        sequence.add(float(low), float(high))
    middle = quantile(sample, 0.5, level=level)
    low, high = (sequence.low, sequence.high) if sequence.has_interval else (None, None)
    method = Method.CONFIDENCE_SEQUENCE if sequence.has_interval else Method.NONE
    return Estimate(middle.low, middle.high, low, high, len(sample), sample.censored_count, level, method)


def difference_at_any_look(treatment: Sample, baseline: Sample, *, level: float = LEVEL) -> Estimate:
    """Estimate the median of the differences within pairs, given in the order of their blocks."""
    return median_at_any_look(subtract_pairs(treatment, baseline), level=level)


def change_at_any_look(treatment: Sample, baseline: Sample, *, level: float = LEVEL) -> Estimate:
    """Estimate the relative change of the medians of positive values.

    The sequence of each median gets half of the error, to hold both together. The pairing by blocks is not used.
    """
    half = (1 + level) / 2
    top, bottom = (median_at_any_look(one, level=half) for one in (treatment, baseline))
    low, high, count = bound_change(treatment, baseline)
    if top.ci_low is None or top.ci_high is None or bottom.ci_low is None or bottom.ci_high is None:
        return Estimate(low, high, None, None, len(treatment), count, level, Method.NONE)
    least = -1.0 if math.isinf(bottom.ci_high) else top.ci_low / bottom.ci_high - 1
    most = math.inf if bottom.ci_low <= 0 else top.ci_high / bottom.ci_low - 1
    return Estimate(low, high, least, most, len(treatment), count, level, Method.CONFIDENCE_SEQUENCE)
