"""The restricted mean: the mean of min(time, limit), which timeouts leave known.

For: one number in which failures count with the time they cost. Not for: what a load would have taken without limit.

With every timeout at the limit the restricted mean is known exactly (Royston and Parmar 2013); a value censored
below the limit leaves a bound.
"""

import numpy as np

from resolab.stats.estimate import Estimate, Method
from resolab.stats.order import LEVEL
from resolab.stats.sample import FloatArray, Sample

RESAMPLES_COUNT = 1_999


def restricted_mean(sample: Sample, limit: float, *, seed: int, level: float = LEVEL) -> Estimate:
    """Estimate the mean of min(value, limit) with a studentised bootstrap interval, cut to what is possible."""
    lows, highs = np.minimum(sample.low, limit), np.minimum(sample.high, limit)
    size, count = len(sample), int(np.count_nonzero(lows != highs))
    if size == 0:
        return Estimate(None, None, None, None, 0, 0, level, Method.NONE)
    low, high = float(lows.mean()), float(highs.mean())
    if size < 2:
        return Estimate(low, high, None, None, size, count, level, Method.NONE)
    ci_low = bootstrap_t(lows, level, seed)[0]
    ci_high = bootstrap_t(highs, level, seed)[1]
    return Estimate(low, high, ci_low, min(ci_high, limit), size, count, level, Method.BOOTSTRAP_T)


def bootstrap_t(values: FloatArray, level: float, seed: int) -> tuple[float, float]:
    """Return the studentised bootstrap interval of a mean (Efron 1981; Hall 1988)."""
    size = values.size
    mean, error = float(values.mean()), float(values.std(ddof=1)) / float(np.sqrt(size))
    if error == 0:
        return mean, mean
    chosen = values[np.random.default_rng(seed).integers(0, size, (RESAMPLES_COUNT, size))]
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (chosen.mean(axis=1) - mean) / (chosen.std(axis=1, ddof=1) / np.sqrt(size))
    t = np.where(np.isnan(t), 0.0, t)
    low, high = np.quantile(t, [(1 - level) / 2, (1 + level) / 2], method="closest_observation")
    return mean - float(high) * error, mean - float(low) * error
