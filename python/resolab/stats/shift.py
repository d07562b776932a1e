"""The Hodges-Lehmann shift: the median of all averages of two differences, or of all differences between two samples.

For: a location shift from every value, robust to outliers. Not for: the change of medians (`medians`).

Hodges and Lehmann 1963. The cost is n^2 values: suitable for blocks, not for millions of queries.
"""

import numpy as np

from resolab.stats.estimate import Estimate, Method
from resolab.stats.medians import subtract_pairs
from resolab.stats.order import LEVEL
from resolab.stats.ranks import compute_signed_rank_cdf, lower_end, rank_sum_cdf
from resolab.stats.sample import FloatArray, Sample


def hodges_lehmann(
    treatment: Sample, baseline: Sample | None = None, *, paired: bool = False, level: float = LEVEL
) -> Estimate:
    """Estimate the shift; without a baseline, `treatment` holds differences.

    With `paired`, position i of both samples is one pair.
    """
    count = treatment.censored_count + (baseline.censored_count if baseline else 0)
    if baseline is not None and not paired:
        if not len(treatment) or not len(baseline):
            return Estimate(None, None, None, None, 0, count, level, Method.NONE)
        lows = _pairwise(treatment.low, baseline.high, -np.inf)
        highs = _pairwise(treatment.high, baseline.low, np.inf)
        cdf = rank_sum_cdf(len(treatment), len(baseline))
        return _estimate_between(lows, highs, cdf, len(treatment) + len(baseline), count, level, Method.RANK_SUM)
    differences = treatment if baseline is None else subtract_pairs(treatment, baseline)
    if not len(differences):
        return Estimate(None, None, None, None, 0, 0, level, Method.NONE)
    lows, highs = _walsh(differences.low, -np.inf), _walsh(differences.high, np.inf)
    cdf = compute_signed_rank_cdf(len(differences))
    count = differences.censored_count
    return _estimate_between(lows, highs, cdf, len(differences), count, level, Method.SIGNED_RANK)


def _estimate_between(
    lows: FloatArray, highs: FloatArray, cdf: FloatArray, n: int, censored_count: int, level: float, method: Method
) -> Estimate:
    low, high = float(np.quantile(lows, 0.5, method="lower")), float(np.quantile(highs, 0.5, method="higher"))
    if np.array_equal(lows, highs) and np.isfinite([low, high]).all():
        low = high = float(np.median(lows))
    ci_low = lower_end(lows, cdf, (1 - level) / 2)
    ci_high = lower_end(-highs[::-1], cdf, (1 - level) / 2)
    if ci_low is None or ci_high is None:
        return Estimate(low, high, None, None, n, censored_count, level, Method.NONE)
    return Estimate(low, high, ci_low, -ci_high, n, censored_count, level, method)


def _walsh(values: FloatArray, unknown: float) -> FloatArray:
    first, second = np.triu_indices(values.size)
    return _sort(values[first] / 2 + values[second] / 2, unknown)


def _pairwise(left: FloatArray, right: FloatArray, unknown: float) -> FloatArray:
    with np.errstate(invalid="ignore"):
        return _sort(np.subtract.outer(left, right).ravel(), unknown)


def _sort(values: FloatArray, unknown: float) -> FloatArray:
    """Sort; undefined results of two infinities become `unknown`."""
    return np.sort(np.where(np.isnan(values), unknown, values))
