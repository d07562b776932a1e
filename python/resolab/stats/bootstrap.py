"""Bootstrap confidence intervals, seeded: BCa where it is defined, percentile otherwise.

For: one way of resampling for every statistic; samples of a pair are resampled together (by block).
Not for: choosing what to estimate.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import stats

from resolab.stats.estimate import Method
from resolab.stats.sample import FloatArray

RESAMPLES_COUNT = 9_999
Function = Callable[..., FloatArray]
"""Takes arrays and an `axis`."""


@dataclass(frozen=True, slots=True)
class Statistic:
    """A statistic, and its smallest and largest possible value where the arrays hold only bounds."""

    exact: Function
    lowest: Function
    highest: Function


def bca(arrays: tuple[FloatArray, ...], statistic: Function, level: float, seed: int) -> tuple[float, float] | None:
    """Return the BCa interval, or None where it is undefined: constant samples, ties, or too few values."""
    with warnings.catch_warnings():
        # Degenerate resamples are an answer here, not a surprise.
        warnings.simplefilter("ignore")
        result = stats.bootstrap(
            arrays,
            statistic,
            paired=len(arrays) > 1,
            vectorized=True,
            n_resamples=RESAMPLES_COUNT,
            batch=1_000,
            confidence_level=level,
            method="BCa",
            rng=np.random.default_rng(seed),
        )
    low, high = float(result.confidence_interval.low), float(result.confidence_interval.high)
    return (low, high) if np.isfinite(low) and np.isfinite(high) else None


def percentile(arrays: tuple[FloatArray, ...], statistic: Function, level: float, seed: int) -> tuple[float, float]:
    """Return the percentile interval; infinities (censored values) may stand in the arrays."""
    rng = np.random.default_rng(seed)
    size = arrays[0].size
    parts = []
    for start in range(0, RESAMPLES_COUNT, 1_000):
        chosen = rng.integers(0, size, (min(1_000, RESAMPLES_COUNT - start), size))
        parts.append(statistic(*(array[chosen] for array in arrays), axis=-1))
    found = np.concatenate(parts)
    # A value of the distribution itself, never between two: between a number and infinity there is none.
    low = np.quantile(found, (1 - level) / 2, method="lower")
    high = np.quantile(found, (1 + level) / 2, method="higher")
    return float(low), float(high)


def interval(
    lows: tuple[FloatArray, ...], highs: tuple[FloatArray, ...], statistic: Statistic, level: float, seed: int
) -> tuple[float | None, float | None, Method]:
    """Return the interval of a statistic whose smallest and largest possible inputs are given."""
    if lows[0].size < 2:
        return None, None, Method.NONE
    exact = all(np.array_equal(low, high) and np.isfinite(low).all() for low, high in zip(lows, highs, strict=True))
    if exact and (found := bca(lows, statistic.exact, level, seed)):
        return *found, Method.BCA
    low, _ = percentile(lows, statistic.exact if exact else statistic.lowest, level, seed)
    _, high = percentile(highs, statistic.exact if exact else statistic.highest, level, seed)
    return low, high, Method.PERCENTILE
