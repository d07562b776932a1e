"""The rate of false alarms in A/A comparisons, with an interval accounting for loads shared by comparisons.

For: A/A copies of a condition. Not for: shares of independent counts (`proportion`), or the definition of an alarm.

Three copies of a condition make three comparisons. Any two of the comparisons share a copy, and are not independent.
Korn and Graubard (1998) use Clopper and Pearson's interval (1934) with an effective number of independent comparisons.
The effective number follows from the observed variance of the share between clusters, here conditions.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy


@dataclass(frozen=True, slots=True)
class FalseAlarms:
    """The share of alarms among A/A comparisons."""

    n: int
    count: int
    share: float | None
    ci_low: float
    ci_high: float
    effective_n: float
    """The equivalent number of independent comparisons; at most `n`."""


def false_alarms(alarms: Sequence[bool], conditions: Sequence[str] = ()) -> FalseAlarms:
    """Count alarms; `conditions` names each comparison's condition; without names, every comparison is independent."""
    count, size = sum(alarms), len(alarms)
    if not size:
        return FalseAlarms(0, 0, None, 0.0, 1.0, 0.0)
    effective = _effective_size(np.asarray(alarms, dtype=np.float64), conditions) if conditions else float(size)
    ci_low, ci_high = clopper_pearson(count / size * effective, effective)
    return FalseAlarms(size, count, count / size, ci_low, ci_high, effective)


def _effective_size(alarms: np.ndarray[tuple[int], np.dtype[np.float64]], conditions: Sequence[str]) -> float:
    """Return the number of independent comparisons with an equal variance of the share, between conditions."""
    _, place = np.unique(conditions, return_inverse=True)
    size, clusters = alarms.size, int(place.max()) + 1
    share = float(alarms.mean())
    if clusters == size:
        return float(size)
    if share in (0.0, 1.0) or clusters == 1:
        return float(clusters)  # they show no variance: each condition is one comparison
    sums = np.bincount(place, weights=alarms - share)
    variance = float(np.sum(sums**2)) * clusters / (clusters - 1) / size**2
    if variance == 0:
        return float(size)  # all conditions alarm equally often
    # The variance is itself estimated, of so many conditions.
    certainty = float(scipy.stats.t.ppf(0.975, size - 1) / scipy.stats.t.ppf(0.975, clusters - 1)) ** 2
    return min(float(size), share * (1 - share) / variance * certainty)


def clopper_pearson(count: float, size: float, level: float = 0.95) -> tuple[float, float]:
    """Return the exact interval of the share `count` / `size`; fractional counts use the same formula."""
    tail = (1 - level) / 2
    low = float(scipy.stats.beta.ppf(tail, count, size - count + 1)) if count else 0.0
    high = float(scipy.stats.beta.ppf(1 - tail, count + 1, size - count)) if count < size else 1.0
    return low, high
