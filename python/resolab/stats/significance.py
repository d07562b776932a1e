"""Tests: the probability of a difference this large without any effect, corrected for many comparisons.

For: p-values of pairs and of two samples, Holm's correction, the number of significant A/A comparisons. Not for: the
size of an effect; every p-value is shown beside an estimate with its interval.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from resolab.stats.false_alarms import false_alarms
from resolab.stats.medians import subtract_pairs
from resolab.stats.ranks import compute_signed_rank_tail
from resolab.stats.sample import FloatArray, Sample

SIGNIFICANCE = 0.05


def compute_paired_p_value(treatment: Sample, baseline: Sample) -> float | None:
    """Test pairs by signed ranks (Wilcoxon 1945), two-sided; return `None` without pairs.

    Exact for up to 60 pairs with different values, otherwise by the normal distribution with the ties' variance.

    With censored values, the result is the greatest p of any values within the bounds.
    """
    differences = subtract_pairs(treatment, baseline)
    if not len(differences):
        return None
    greater, smaller = compute_signed_rank_tail(differences.low), compute_signed_rank_tail(-differences.high)
    return min(1.0, 2 * min(greater, smaller))


def least_paired_p_value(pairs_count: int) -> float:
    """Return the smallest p possible with `pairs_count` pairs, when all pairs differ to one side."""
    return min(1.0, 2.0 ** (1 - pairs_count))


def pairs_for_significance(comparisons_count: int, significance: float = SIGNIFICANCE) -> int:
    """Return the number of pairs able to make the clearest of the comparisons significant after Holm's correction."""
    return 1 + math.ceil(math.log2(comparisons_count / significance))


def two_sample_p_value(treatment: Sample, baseline: Sample) -> float | None:
    """Test two samples without pairs by rank sums (Mann and Whitney 1947), two-sided; `None` for an empty sample.

    Exact for up to 40 values together without ties, otherwise by the normal distribution with the ties' variance. With
    censored values, the result is at least the p of any values within the bounds.
    """
    if not len(treatment) or not len(baseline):
        return None
    greater = _rank_sum_tail(treatment.low, baseline.high)
    smaller = _rank_sum_tail(-treatment.high, -baseline.low)
    return min(1.0, 2 * min(greater, smaller))


def _rank_sum_tail(left: FloatArray, right: FloatArray) -> float:
    both = np.concatenate((left, right))
    ranks = scipy.stats.rankdata(both)  # ranks, because infinities have no place in the test's own checks
    if ranks[0] == ranks.mean() and np.ptp(ranks) == 0:
        return 1.0
    exact = both.size <= 40 and np.unique(ranks).size == ranks.size
    result = scipy.stats.mannwhitneyu(
        ranks[: left.size], ranks[left.size :], alternative="greater", method="exact" if exact else "asymptotic"
    )
    return float(result.pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values for their number (Holm 1979).

    Rejecting all values below alpha keeps the probability of any false rejection below alpha.
    """
    order = np.argsort(p_values, kind="stable")
    adjusted = [0.0] * len(p_values)
    greatest = 0.0
    for place, index in enumerate(order):
        greatest = max(greatest, min(1.0, (len(p_values) - place) * float(p_values[index])))
        adjusted[index] = greatest
    return adjusted


@dataclass(frozen=True, slots=True)
class SignificantShare:
    """The share of significant A/A comparisons; without any true difference, every significant result is noise."""

    n: int
    significant_count: int
    share: float | None
    ci_low: float
    ci_high: float
    """Upper end of the share's 95 % interval (`false_alarms`)."""
    significance: float
    median_absolute_difference: float | None
    p95_absolute_difference: float | None
    """The noise floor: half of the A/A differences are at most the median above, and 95 % at most this value."""


def significant_share(
    p_values: Sequence[float],
    differences: ArrayLike = (),
    *,
    conditions: Sequence[str] = (),
    significance: float = SIGNIFICANCE,
) -> SignificantShare:
    """Count the A/A comparisons with p <= `significance`; `differences` holds their estimates, for the noise floor.

    `conditions` names each comparison's condition, when several comparisons share a condition.
    """
    found = false_alarms([p <= significance for p in p_values], conditions)
    floor = np.abs(np.asarray(differences, dtype=np.float64))
    return SignificantShare(
        n=found.n,
        significant_count=found.count,
        share=found.share,
        ci_low=found.ci_low,
        ci_high=found.ci_high,
        significance=significance,
        median_absolute_difference=float(np.median(floor)) if floor.size else None,
        p95_absolute_difference=float(np.quantile(floor, 0.95, method="higher")) if floor.size else None,
    )
