"""The number of loads longer than a limit under a treatment and under its baseline, paired by block.

For: effects on the tail, invisible in a median. Not for: shares of one condition (`proportion`).

Exact test of McNemar (1947) on the pairs with only one load beyond the limit. The interval of the paired difference by
Newcombe (1998, method 10) joins both shares' Wilson intervals and their correlation.
"""

import math
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from resolab.stats.estimate import Estimate, Method
from resolab.stats.order import LEVEL
from resolab.stats.proportion import proportion
from resolab.stats.sample import Sample


@dataclass(frozen=True, slots=True)
class TailShares:
    """The shares of loads beyond a limit."""

    limit: float
    treatment: Estimate
    """The treatment's share, with Wilson's interval."""
    baseline: Estimate
    difference: Estimate
    """The treatment's share minus the baseline's."""
    p_value: float | None


def compare_shares_beyond(treatment: Sample, baseline: Sample, limit: float, *, level: float = LEVEL) -> TailShares:
    """Compare the shares of values beyond a limit; position i of both is one pair.

    Raise `ValueError` for a value with bounds on both sides of the limit.
    """
    if len(treatment) != len(baseline):
        raise ValueError("paired shares need samples of one length")
    own, other = _exceeds(treatment, limit), _exceeds(baseline, limit)
    n, both = own.size, int(np.count_nonzero(own & other))
    own_only, other_only = int(own.sum()) - both, int(other.sum()) - both
    own_share, other_share = (proportion(int(one.sum()), n, level=level) for one in (own, other))
    p_value = _mcnemar(own_only, other_only) if n else None
    return TailShares(limit, own_share, other_share, _difference(both, own_only, other_only, n, level), p_value)


def _exceeds(sample: Sample, limit: float) -> NDArray[np.bool_]:
    if ((sample.low <= limit) & (sample.high > limit)).any():
        raise ValueError("a value's bounds lie on both sides of the limit")
    return np.asarray(sample.low > limit)


def _mcnemar(own_only: int, other_only: int) -> float:
    """Return the two-sided exact p: under the null hypothesis, a fair coin decides the side beyond the limit."""
    odd = own_only + other_only
    return min(1.0, 2 * float(scipy.stats.binom.cdf(min(own_only, other_only), odd, 0.5)))


def _difference(both: int, own_only: int, other_only: int, n: int, level: float) -> Estimate:
    if not n:
        return Estimate(None, None, None, None, 0, 0, level, Method.NONE)
    own, other = (proportion(both + one, n, level=level) for one in (own_only, other_only))
    value = (own_only - other_only) / n
    p, q = (both + own_only) / n, (both + other_only) / n
    lower, upper = (
        (p - (own.ci_low or 0.0), q - (other.ci_low or 0.0)),
        ((own.ci_high or 0) - p, (other.ci_high or 0) - q),
    )
    phi = _correlation(both, own_only, other_only, n - both - own_only - other_only, n)
    low = math.sqrt(max(0.0, lower[0] ** 2 - 2 * phi * lower[0] * upper[1] + upper[1] ** 2))
    high = math.sqrt(max(0.0, upper[0] ** 2 - 2 * phi * upper[0] * lower[1] + lower[1] ** 2))
    return Estimate(value, value, value - low, value + high, n, 0, level, Method.NEWCOMBE)


def _correlation(both: int, own_only: int, other_only: int, neither: int, n: int) -> float:
    """Return Newcombe's corrected phi: a positive product is reduced by n / 2, but not below 0."""
    margins = (both + own_only) * (other_only + neither) * (both + other_only) * (own_only + neither)
    if not margins:
        return 0.0
    product = both * neither - own_only * other_only
    return (max(product - n / 2, 0.0) if product > 0 else product) / math.sqrt(margins)
