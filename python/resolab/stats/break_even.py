"""The number of queries needed to amortise the set-up of a connection by its cheaper queries.

For: the closed form, and its interval over batches. Not for: assigning queries to batches.

Let a cold query cost C, each later query on the same connection W, and a query without connection U. The cumulated
times of k queries, C + (k - 1) W and k U, cross at k = (C - W) / (U - W). They never cross if W is not below U, unless
C is not above U from the start.

A mean over batches is a ratio of two sums. By the contribution of each batch (its residual: Cochran 1977, section 6.4)
a sum of means has Student's interval. The crossing has Fieller's interval (1954): the counts at which Student's
interval of the cumulated difference reaches 0. With up to 12 batches, percentile intervals of resampled batches held
only 71 to 93 % of their nominal coverage.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy
from numpy.typing import ArrayLike

from resolab.stats.estimate import Estimate, Method
from resolab.stats.order import LEVEL
from resolab.stats.sample import FloatArray

# A count that is met exactly must not become the next one by the last bit of a quotient.
_SLACK = 1e-9
MOST_COUNT = 10_000
"""Queries on one connection; a set-up not amortised within this number counts as never amortised."""
BATCHES_FOR_MEANS = 6
BATCHES_FOR_CROSSING = 20
"""With fewer batches, Fieller's interval holds the count in 80 to 91 % of cases when a fifth of the queries wait."""


@dataclass(frozen=True, slots=True, eq=False)
class BatchedMean:
    """A mean as sum and count of each batch; batch i is the same batch in all compared means."""

    totals: FloatArray
    counts: FloatArray

    @classmethod
    def from_arrays(cls, totals: ArrayLike, counts: ArrayLike) -> Self:
        """Make a batched mean from array-like totals and counts."""
        return cls(np.asarray(totals, dtype=np.float64), np.asarray(counts, dtype=np.float64))

    @property
    def value(self) -> float:
        """The mean over all batches; NaN without values."""
        count = float(self.counts.sum())
        return float(self.totals.sum()) / count if count else float("nan")

    def residuals(self) -> FloatArray:
        """Return the contribution of each batch to the mean; the contributions sum up to 0."""
        return np.asarray((self.totals - self.value * self.counts) / self.counts.sum())


@dataclass(frozen=True, slots=True, eq=False)
class Amortisation:
    """The crossing of two cumulated times, and their difference for each number of queries with its interval."""

    break_even_count: Estimate
    saved_ms: Estimate
    """The time saved per query on the open connection, compared with a query without connection: U - W."""
    extra_ms: FloatArray
    """Cumulated time on the connection minus without, for the requested numbers of queries."""
    extra_ci_low_ms: FloatArray
    extra_ci_high_ms: FloatArray


def break_even(cold: ArrayLike, warm: ArrayLike, unconnected: ArrayLike) -> FloatArray:
    """Return the least number of queries with a cumulated time at most the time without connection; inf: never."""
    c, w, u = (np.asarray(one, dtype=np.float64) for one in (cold, warm, unconnected))
    with np.errstate(divide="ignore", invalid="ignore"):
        crossing = np.ceil((c - w) / (u - w) - _SLACK)
    return np.where(c <= u, 1.0, np.where(w < u, np.maximum(crossing, 1.0), np.inf))


def cumulate_extra(cold: ArrayLike, warm: ArrayLike, unconnected: ArrayLike, counts: ArrayLike) -> FloatArray:
    """Return C + (k - 1) W - k U for every k; a leading axis of the costs is kept."""
    c, w, u = (np.asarray(one, dtype=np.float64)[..., np.newaxis] for one in (cold, warm, unconnected))
    k = np.asarray(counts, dtype=np.float64)
    return np.asarray(c + (k - 1) * w - k * u)


def amortisation(
    cold: BatchedMean,
    warm: BatchedMean,
    unconnected: BatchedMean,
    counts: ArrayLike,
    *,
    level: float = LEVEL,
    censored_count: int = 0,
) -> Amortisation:
    """Find the crossing of the means; its interval holds the possible crossings of the cumulated difference."""
    size = cold.totals.size
    costs = (cold, warm, unconnected)
    if any(one.totals.shape != (size,) or one.counts.shape != (size,) for one in costs):
        raise ValueError("all costs need the same batches")
    c, w, u = (one.value for one in costs)
    crossing, extra = float(break_even(c, w, u)), cumulate_extra(c, w, u, counts)
    at = crossing if crossing <= MOST_COUNT else np.inf

    def estimate(value: float, ends: tuple[float, float] | None) -> Estimate:
        method = Method.NONE if ends is None else Method.STUDENT
        low, high = ends or (None, None)
        return Estimate(value, value, low, high, int(cold.counts.sum()), censored_count, level, method)

    if size < BATCHES_FOR_MEANS:
        none = np.full_like(extra, np.nan)
        return Amortisation(estimate(at, None), estimate(u - w, None), extra, none, none)
    residuals = np.array([one.residuals() for one in costs])
    saved_half = float(_half_width(np.array([[0.0, -1.0, 1.0]]), residuals, level)[0])
    half = _half_width(_weights(counts), residuals, level)
    ends = _find_crossing_ends((c, w, u), residuals, level) if size >= BATCHES_FOR_CROSSING else None
    return Amortisation(
        estimate(at, ends), estimate(u - w, (u - w - saved_half, u - w + saved_half)), extra, extra - half, extra + half
    )


def _weights(counts: ArrayLike) -> FloatArray:
    """Return the factor of each cost in the cumulated difference after each count."""
    k = np.asarray(counts, dtype=np.float64)
    return np.stack((np.ones_like(k), k - 1, -k), axis=-1)


def _half_width(weights: FloatArray, residuals: FloatArray, level: float) -> FloatArray:
    """Return half the width of Student's interval of weighted sums of means, from the contributions of the batches."""
    size = residuals.shape[1]
    variance = size / (size - 1) * ((weights @ residuals) ** 2).sum(axis=-1)
    return np.asarray(float(scipy.stats.t.ppf((1 + level) / 2, size - 1)) * np.sqrt(variance))


def _find_crossing_ends(means: tuple[float, float, float], residuals: FloatArray, level: float) -> tuple[float, float]:
    """Return the first counts with the lower and with the upper interval end at or below 0 (Fieller 1954)."""
    counts = np.arange(1, MOST_COUNT + 1)
    extra, half = cumulate_extra(*means, counts), _half_width(_weights(counts), residuals, level)
    low, high = (counts[reached <= _SLACK] for reached in (extra - half, extra + half))
    return float(low[0]) if low.size else np.inf, float(high[0]) if high.size else np.inf
