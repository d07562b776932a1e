"""Differences between the quantiles of a treatment and of its baseline: the changes along the distribution.

For: effects invisible in a median, for example on a slow tail. Not for: quantiles of the differences within pairs, a
different estimand (`order`).

The shift function (Doksum 1974; for paired samples Wilcox and Erceg-Hurn 2012) at a few probabilities. Intervals are
percentile bootstraps of the pairs. Each quantile has an interval only from a minimum number of pairs on. From this
number on, simulated intervals keep their level on data like resolab's, including 5 s waits (docs/method/statistics.md).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from resolab.stats.estimate import Estimate, Method
from resolab.stats.order import LEVEL, quantile
from resolab.stats.sample import FloatArray, Sample

PROBABILITIES = (0.10, 0.25, 0.50, 0.75, 0.90, 0.95)
LEAST_PAIRS = 12
"""With fewer pairs, no quantile's difference has an interval."""
LEAST_IN_TAIL = 2
"""The expected number of values beyond a quantile needed for an interval."""
RESAMPLES_COUNT = 1_999
_Step = Literal["linear", "lower", "higher"]


@dataclass(frozen=True, slots=True)
class QuantileDifference:
    """The treatment's quantile minus the baseline's."""

    probability: float
    difference: Estimate


def pairs_for_quantile(probability: float) -> int:
    """Return the smallest number of pairs giving a quantile's difference an interval."""
    tail = min(probability, 1 - probability)
    return max(LEAST_PAIRS, math.ceil(round(LEAST_IN_TAIL / tail, 9)))


def quantile_differences(
    treatment: Sample,
    baseline: Sample,
    *,
    seed: int,
    level: float = LEVEL,
    probabilities: Sequence[float] = PROBABILITIES,
) -> list[QuantileDifference]:
    """Estimate the differences at some probabilities; position i of both is one pair."""
    if len(treatment) != len(baseline):
        raise ValueError("paired quantiles need samples of one length")
    if not len(treatment):
        nothing = Estimate(None, None, None, None, 0, 0, level, Method.NONE)
        return [QuantileDifference(one, nothing) for one in probabilities]
    offered = [one for one in probabilities if len(treatment) >= pairs_for_quantile(one)]
    ends = dict(zip(offered, _intervals(treatment, baseline, offered, level, seed), strict=True)) if offered else {}
    return [QuantileDifference(one, _estimate(one, treatment, baseline, ends.get(one), level)) for one in probabilities]


def _estimate(
    probability: float, treatment: Sample, baseline: Sample, ends: tuple[float, float] | None, level: float
) -> Estimate:
    own, other = (quantile(one, probability) for one in (treatment, baseline))
    assert own.low is not None
    assert own.high is not None
    assert other.low is not None
    assert other.high is not None
    low, high = _subtract(own.low, other.high, -math.inf), _subtract(own.high, other.low, math.inf)
    count = int(np.count_nonzero((treatment.low != treatment.high) | (baseline.low != baseline.high)))
    ci_low, ci_high = ends or (None, None)
    method = Method.PERCENTILE if ends else Method.NONE
    return Estimate(low, high, ci_low, ci_high, len(treatment), count, level, method)


def _subtract(left: float, right: float, unknown: float) -> float:
    """Subtract; the difference of two infinities is unknown and becomes `unknown`."""
    return unknown if math.isinf(left) and math.isinf(right) else left - right


def _intervals(
    treatment: Sample, baseline: Sample, probabilities: Sequence[float], level: float, seed: int
) -> list[tuple[float, float]]:
    """Resample the pairs once for all probabilities; each end uses the bounds moving it outwards."""
    chosen = np.random.default_rng(seed).integers(0, len(treatment), (RESAMPLES_COUNT, len(treatment)))
    exact = treatment.is_exact and baseline.is_exact
    least = _resample_differences(
        (treatment.low, baseline.high), chosen, probabilities, None if exact else ("lower", "higher")
    )
    most = (
        least
        if exact
        else _resample_differences((treatment.high, baseline.low), chosen, probabilities, ("higher", "lower"))
    )
    least, most = np.where(np.isnan(least), -np.inf, least), np.where(np.isnan(most), np.inf, most)
    # A value of the distribution itself: between a number and infinity there is none.
    lows = np.quantile(least, (1 - level) / 2, axis=1, method="lower")
    highs = np.quantile(most, (1 + level) / 2, axis=1, method="higher")
    return [(float(low), float(high)) for low, high in zip(lows, highs, strict=True)]


def _resample_differences(
    both: tuple[FloatArray, FloatArray],
    chosen: NDArray[np.integer],
    probabilities: Sequence[float],
    methods: tuple[_Step, _Step] | None,
) -> FloatArray:
    """Return the difference of the quantiles in each resample, a row for each probability."""
    of_own, of_other = methods or ("linear", "linear")
    own = np.quantile(both[0][chosen], np.asarray(probabilities), axis=1, method=of_own)
    other = np.quantile(both[1][chosen], np.asarray(probabilities), axis=1, method=of_other)
    with np.errstate(invalid="ignore"):
        return np.asarray(own - other)
