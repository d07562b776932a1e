"""Cliff's delta: the probability of a greater value in one sample minus the probability of a smaller value.

For: an effect size without a unit, from -1 to 1. Not for: the size of the difference (`shift`).

Cliff 1993. delta = 2 theta - 1 with theta = P(treatment > baseline) + P(equal) / 2.
"""

import numpy as np
import scipy

from resolab.stats.estimate import Estimate, Method
from resolab.stats.order import LEVEL
from resolab.stats.sample import FloatArray, Sample


def cliffs_delta(treatment: Sample, baseline: Sample, *, level: float = LEVEL) -> Estimate:
    """Estimate delta of two samples without pairs; for positively correlated pairs the interval is too wide."""
    m, n = len(treatment), len(baseline)
    count = treatment.censored_count + baseline.censored_count
    if not m or not n:
        return Estimate(None, None, None, None, 0, count, level, Method.NONE)
    low, high = _delta(treatment.low, baseline.high), _delta(treatment.high, baseline.low)
    if min(m, n) < 2:
        return Estimate(low, high, None, None, m + n, count, level, Method.NONE)
    z = float(scipy.stats.norm.ppf((1 + level) / 2))
    return Estimate(
        low, high, -_upper((1 - low) / 2, m, n, z), _upper((1 + high) / 2, m, n, z), m + n, count, level, Method.SCORE
    )


def _delta(treatment: FloatArray, baseline: FloatArray) -> float:
    ordered = np.sort(baseline)
    smaller = np.searchsorted(ordered, treatment, side="left").sum()
    greater = (ordered.size - np.searchsorted(ordered, treatment, side="right")).sum()
    return float((int(smaller) - int(greater)) / (treatment.size * ordered.size))


def _upper(theta: float, m: int, n: int, z: float) -> float:
    """Return the delta above `theta` at a distance of z standard errors (Newcombe 2006, method 5)."""
    if theta >= 1:
        return 1.0
    size = (m + n) / 2 - 1

    def distance(true: float) -> float:
        variance = true * (1 - true) * (1 + size * (1 - true) / (2 - true) + size * true / (1 + true)) / (m * n)
        return true - theta - z * float(np.sqrt(variance))

    root = float(scipy.optimize.brentq(distance, max(theta, 1e-12), 1.0))
    return 2 * root - 1
