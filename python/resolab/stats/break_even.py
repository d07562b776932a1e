"""After how many queries the set-up of a connection is paid for by queries that are cheaper on it.

For: the closed form, and its bootstrap interval over batches. Not for: which queries are whose.

With a cold query costing C, each later one on the same connection W, and a query without connection U, the cumulated
times of k queries, C + (k - 1) W and k U, cross at k = (C - W) / (U - W); never if W is not below U, unless C is not
above U to begin with.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from resolab.stats.bootstrap import RESAMPLES_COUNT
from resolab.stats.estimate import Estimate, Method
from resolab.stats.medians import LEVEL
from resolab.stats.sample import FloatArray

# A count that is met exactly must not become the next one by the last bit of a quotient.
_SLACK = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class BatchedMean:
    """A mean known as sum and count of each batch; batch i is the same in everything compared."""

    totals: FloatArray
    counts: FloatArray

    @classmethod
    def of(cls, totals: ArrayLike, counts: ArrayLike) -> Self:
        """Make one from anything numpy takes."""
        return cls(np.asarray(totals, dtype=np.float64), np.asarray(counts, dtype=np.float64))

    @property
    def value(self) -> float:
        """The mean over all batches; NaN of nothing."""
        count = float(self.counts.sum())
        return float(self.totals.sum()) / count if count else float("nan")

    def resampled(self, chosen: "np.ndarray[tuple[int, ...], np.dtype[np.intp]]") -> FloatArray:
        """Means of resamples, one a row of positions; NaN where a resample holds nothing."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.totals[chosen].sum(axis=-1) / self.counts[chosen].sum(axis=-1))


@dataclass(frozen=True, slots=True, eq=False)
class Amortisation:
    """Where two cumulated times cross, and their difference for each number of queries with its interval."""

    break_even_count: Estimate
    extra_ms: FloatArray
    """Cumulated time on the connection minus without, for the asked numbers of queries."""
    extra_ci_low_ms: FloatArray
    extra_ci_high_ms: FloatArray


def break_even(cold: ArrayLike, warm: ArrayLike, unconnected: ArrayLike) -> FloatArray:
    """Return the smallest number of queries whose cumulated time is not above theirs without a connection; inf: never."""
    c, w, u = (np.asarray(one, dtype=np.float64) for one in (cold, warm, unconnected))
    with np.errstate(divide="ignore", invalid="ignore"):
        crossing = np.ceil((c - w) / (u - w) - _SLACK)
    return np.where(c <= u, 1.0, np.where(w < u, np.maximum(crossing, 1.0), np.inf))


def cumulated_extra(cold: ArrayLike, warm: ArrayLike, unconnected: ArrayLike, counts: ArrayLike) -> FloatArray:
    """Return C + (k - 1) W - k U for every k; a leading axis of the costs stays."""
    c, w, u = (np.asarray(one, dtype=np.float64)[..., np.newaxis] for one in (cold, warm, unconnected))
    k = np.asarray(counts, dtype=np.float64)
    return np.asarray(c + (k - 1) * w - k * u)


def amortisation(
    cold: BatchedMean,
    warm: BatchedMean,
    unconnected: BatchedMean,
    counts: ArrayLike,
    *,
    seed: int,
    level: float = LEVEL,
    censored_count: int = 0,
) -> Amortisation:
    """Find the crossing of the means with percentile intervals, whole batches resampled together."""
    size = cold.totals.size
    costs = (cold, warm, unconnected)
    if any(one.totals.shape != (size,) or one.counts.shape != (size,) for one in costs):
        raise ValueError("all costs need the same batches")
    means = [one.value for one in costs]
    at = float(break_even(*means))
    extra = cumulated_extra(*means, counts)
    n = int(cold.counts.sum())
    if size < 2:
        none = np.full_like(extra, np.nan)
        return Amortisation(Estimate(at, at, None, None, n, censored_count, level, Method.NONE), extra, none, none)
    chosen = np.random.default_rng(seed).integers(0, size, (RESAMPLES_COUNT, size))
    resampled = [one.resampled(chosen) for one in costs]
    whole = np.isfinite(resampled).all(axis=0)  # a resample without any query of one kind says nothing
    resampled = [one[whole] for one in resampled]
    low, high = _interval(break_even(*resampled), level)
    extra_low, extra_high = _interval(cumulated_extra(*resampled, counts), level)
    estimate = Estimate(at, at, float(low), float(high), n, censored_count, level, Method.PERCENTILE)
    return Amortisation(estimate, extra, extra_low, extra_high)


def _interval(found: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    # Values of the distribution itself: between a number and infinity there is none.
    low = np.quantile(found, (1 - level) / 2, axis=0, method="lower")
    high = np.quantile(found, (1 + level) / 2, axis=0, method="higher")
    return np.asarray(low), np.asarray(high)
