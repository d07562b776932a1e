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
from resolab.stats.order import LEVEL
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
    saved_ms: Estimate
    """By which each query on the open connection is below one without: U - W."""
    extra_ms: FloatArray
    """Cumulated time on the connection minus without, for the asked numbers of queries."""
    extra_ci_low_ms: FloatArray
    extra_ci_high_ms: FloatArray


def break_even(cold: ArrayLike, warm: ArrayLike, unconnected: ArrayLike) -> FloatArray:
    """Return the smallest number of queries whose cumulated time is not above that without a connection; inf: never."""
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
    c, w, u = (one.value for one in costs)
    at, saved, extra = float(break_even(c, w, u)), u - w, cumulated_extra(c, w, u, counts)

    def estimate(value: float, ends: tuple[float, float] | None) -> Estimate:
        method = Method.NONE if ends is None else Method.PERCENTILE
        low, high = ends or (None, None)
        return Estimate(value, value, low, high, int(cold.counts.sum()), censored_count, level, method)

    if size < 2:
        none = np.full_like(extra, np.nan)
        return Amortisation(estimate(at, None), estimate(saved, None), extra, none, none)
    chosen = np.random.default_rng(seed).integers(0, size, (RESAMPLES_COUNT, size))
    resampled = [one.resampled(chosen) for one in costs]
    whole = np.isfinite(resampled).all(axis=0)  # a resample without any query of one kind says nothing
    c_s, w_s, u_s = (one[whole] for one in resampled)
    crossings, savings = _interval(break_even(c_s, w_s, u_s), level), _interval(u_s - w_s, level)
    return Amortisation(
        estimate(at, (float(crossings[0]), float(crossings[1]))),
        estimate(saved, (float(savings[0]), float(savings[1]))),
        extra,
        *_interval(cumulated_extra(c_s, w_s, u_s, counts), level),
    )


def _interval(found: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    # Values of the distribution itself: between a number and infinity there is none.
    low = np.quantile(found, (1 - level) / 2, axis=0, method="lower")
    high = np.quantile(found, (1 + level) / 2, axis=0, method="higher")
    return np.asarray(low), np.asarray(high)
