"""Percentile bootstrap intervals, seeded; arrays of a pair are resampled together, by block.

For: the relative change of medians, without an interval from order statistics. Not for: choosing the estimand.
"""

from collections.abc import Callable

import numpy as np

from resolab.stats.sample import FloatArray

RESAMPLES_COUNT = 4_999
Function = Callable[..., FloatArray]
"""A function of arrays and an `axis`."""


def percentile(arrays: tuple[FloatArray, ...], statistic: Function, level: float, seed: int) -> tuple[float, float]:
    """Return the percentile interval; the arrays may contain infinities (censored values)."""
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
